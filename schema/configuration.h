// The configuration of Fairlead as a value.
//
// The configuration in force is an event in the log (ConfigChanged), so history replays with the
// settings of its time. The YAML form and its defaults are in docs/configuration.md; the reader is
// engine/runtime/configuration.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/time.h"
#include "schema/admission.h"
#include "schema/words.h"

namespace fairlead {

/// A kind of objects that reports the capacity of a cluster.
enum class CapacitySource : std::uint8_t { nodes, cluster_metrics, managed_cluster };
template <>
inline constexpr std::array<std::pair<std::string_view, CapacitySource>, 3>
    kWordsOf<CapacitySource>{{
        {"nodes", CapacitySource::nodes},
        {"clusterMetrics", CapacitySource::cluster_metrics},
        {"managedCluster", CapacitySource::managed_cluster},
    }};

/// How quota reaches member clusters.
enum class MemberMode : std::uint8_t { automatic, manifest_work, binding_policy, none };
template <>
inline constexpr std::array<std::pair<std::string_view, MemberMode>, 4> kWordsOf<MemberMode>{{
    {"auto", MemberMode::automatic},
    {"manifestWork", MemberMode::manifest_work},
    {"bindingPolicy", MemberMode::binding_policy},
    {"none", MemberMode::none},
}};

// Defaults that are lists or maps. They are functions because gcc 12 crashes on them inside the
// structs, where snapshots/ counts fields.
inline std::map<std::string, std::int64_t> default_headroom_percent() {
  return {{"cpu", 5}, {"memory", 5}};
}
inline std::map<std::string, std::string> default_resource_aliases() {
  return {{"gpu", "nvidia.com/gpu"}};
}
inline std::vector<CapacitySource> default_capacity_sources() {
  return {CapacitySource::nodes, CapacitySource::cluster_metrics, CapacitySource::managed_cluster};
}

/// Part of a cluster's capacity that is never promised.
struct Headroom {
  std::map<std::string, std::int64_t> percent =
      default_headroom_percent();               ///< whole percents, 0..100
  std::map<std::string, std::string> reserved;  ///< resource -> Quantity text, per flavor

  friend bool operator==(const Headroom&, const Headroom&) = default;
};

/// The damping of capacity; every value can be overridden on a claim
/// (docs/decisions/0002-damping-in-five-layers.md).
struct DebounceSettings {
  Duration ingest_coalesce = seconds(1);
  Duration shrink_window = seconds(15);
  Duration grow_window = seconds(300);
  Duration first_quiet = seconds(60);
  Duration min_grow_interval = seconds(60);
  std::int64_t grow_deadband_percent = 2;
  Duration deadband_max_age = minutes(30);
  std::int64_t flap_penalty = 1000;
  std::int64_t flap_suppress = 3000;
  std::int64_t flap_reuse = 1000;
  Duration flap_half_life = minutes(15);
  Duration flap_suppress_max = minutes(60);
  std::int64_t mass_shrink_percent = 50;
  Duration mass_shrink_hold = seconds(60);
  Duration stale_after = seconds(300);
  Duration lost_after = seconds(900);
  Duration write_interval = seconds(5);

  friend bool operator==(const DebounceSettings&, const DebounceSettings&) = default;
};

/// Names a kubeconfig of one member cluster whose Nodes are watched directly. One of the three is
/// set.
struct MemberKubeconfig {
  std::string cluster;
  std::string secret_ref;       ///< namespace/name of a Secret on the hub with the key `kubeconfig`
  std::string file;             ///< path
  std::string cluster_profile;  ///< namespace/name

  friend bool operator==(const MemberKubeconfig&, const MemberKubeconfig&) = default;
};

/// How MultiKueueClusters are named (engine/fold/multikueue/names.h).
enum class NamingProfile : std::uint8_t { placement, cluster };
template <>
inline constexpr std::array<std::pair<std::string_view, NamingProfile>, 2> kWordsOf<NamingProfile>{{
    {"placement", NamingProfile::placement},
    {"cluster", NamingProfile::cluster},
}};

/// Who clears a nomination once Kueue has chosen a cluster.
enum class ClearedBy : std::uint8_t {
  unasked,      ///< in logs that are older than the setting: whether anything does was not asked
  policy,       ///< a MutatingAdmissionPolicy
  merge_patch,  ///< Kueue's gate WorkloadRequestUseMergePatch
};
template <>
inline constexpr std::array<std::pair<std::string_view, ClearedBy>, 2> kWordsOf<ClearedBy>{{
    {"policy", ClearedBy::policy},
    {"mergePatch", ClearedBy::merge_patch},
}};

/// Settings of the Placement to MultiKueue path.
struct MultiKueueSettings {
  NamingProfile profile = NamingProfile::placement;
  Duration settle = seconds(2);
  Duration move_window = seconds(120);
  Duration drain_timeout = hours(1);
  Duration empty_grace = minutes(10);
  Duration credential_grace = minutes(10);
  bool adopt_ocm_addon = false;
  std::vector<std::string> access_providers;
  bool dispatcher = false;
  ClearedBy cleared_by = ClearedBy::policy;

  friend bool operator==(const MultiKueueSettings&, const MultiKueueSettings&) = default;
};

/// Bounds on what is sent to one API server.
struct WriteSettings {
  std::int64_t inflight_max = 64;
  std::int64_t qps = 300;
  std::int64_t burst = 500;

  friend bool operator==(const WriteSettings&, const WriteSettings&) = default;
};

/// A taint that does not make a node ineligible for the pool; as in a Pod's spec.
struct PoolToleration {
  std::string key;
  std::string op;  ///< "Equal" or "Exists"
  std::string value;
  std::string effect;

  friend bool operator==(const PoolToleration&, const PoolToleration&) = default;
};

/// The part of a member's capacity that tenants get.
struct PoolCluster {
  std::string name;            ///< of a member, or "*": every member without an entry of its own
  std::int64_t percent = 100;  ///< 0..100; claims get the rest
  /// Each map replaces the default one of `capacity.headroom` whole where it is set.
  std::optional<std::map<std::string, std::int64_t>> headroom_percent;
  std::optional<std::map<std::string, std::string>> headroom_reserved;
  bool drain = false;  ///< takes nothing new, and its slices move

  friend bool operator==(const PoolCluster&, const PoolCluster&) = default;
};

/// A tenant's API server, also in place of what its VirtualCluster says. One source is set.
struct PoolTenantAccess {
  std::string name;        ///< the cluster key of VirtualCluster's syncer
  std::string secret_ref;  ///< namespace/name of a Secret on the hub with the key `kubeconfig`
  std::string file;        ///< path

  friend bool operator==(const PoolTenantAccess&, const PoolTenantAccess&) = default;
};

/// Which super clusters get new slices of a namespace: few or many (place() in
/// engine/fold/pool/division_of_slices.h).
enum class PoolPolicy : std::uint8_t { pack, spread };
template <>
inline constexpr std::array<std::pair<std::string_view, PoolPolicy>, 2> kWordsOf<PoolPolicy>{{
    {"pack", PoolPolicy::pack},
    {"spread", PoolPolicy::spread},
}};
/// Which of several ResourceQuotas counts.
enum class PoolQuotas : std::uint8_t { min, max };
template <>
inline constexpr std::array<std::pair<std::string_view, PoolQuotas>, 2> kWordsOf<PoolQuotas>{{
    {"min", PoolQuotas::min},
    {"max", PoolQuotas::max},
}};

/// Settings of the super cluster pool.
struct PoolSettings {
  std::vector<PoolCluster> clusters;  ///< empty: the pool is off
  std::vector<PoolTenantAccess> tenants;
  PoolPolicy policy = PoolPolicy::pack;
  bool partial = false;  ///< places what fits instead of all or nothing
  PoolQuotas quotas = PoolQuotas::min;
  /// The most that one tenant's slices may sum to, of cpu (milli) and memory; absent: no limit.
  std::map<std::string, std::int64_t> tenant_limit;
  std::vector<PoolToleration> tolerations;
  Duration lost_grace = minutes(10);
  Duration settle = seconds(2);
  std::int64_t slices_max = 10'000;  ///< of one namespace
  std::int64_t tenant_objects_max = 100'000;

  friend bool operator==(const PoolSettings&, const PoolSettings&) = default;
};

/// What a mapping counts of a device, instead of the device itself.
enum class DeviceSourceKind : std::uint8_t {
  counter,   ///< a counter of the counter sets that the devices consume
  capacity,  ///< a capacity of the devices
};
/// An entry of `sources` of a DeviceClassMapping.
struct DeviceSource {
  DeviceSourceKind kind = DeviceSourceKind::counter;
  std::string name;        ///< of the counter or the capacity
  std::string driver;      ///< of the devices
  std::string expression;  ///< deviceSelector.cel.expression: which of its devices

  friend bool operator==(const DeviceSource&, const DeviceSource&) = default;
};
/// The resource name under which devices of some classes count, spelled as in
/// `resources.deviceClassMappings` of Kueue's Configuration.
struct DeviceClassMapping {
  std::string name;
  std::vector<std::string> device_class_names;  ///< at least one
  std::vector<DeviceSource> sources;            ///< empty: devices are counted; all of one kind

  friend bool operator==(const DeviceClassMapping&, const DeviceClassMapping&) = default;
};

/// Which of several clusters where a consumer fits gets it.
enum class DraPolicy : std::uint8_t {
  order,   ///< the first of the list
  pack,    ///< the one that has the fewest free devices left
  spread,  ///< the one that has the most
};
template <>
inline constexpr std::array<std::pair<std::string_view, DraPolicy>, 3> kWordsOf<DraPolicy>{{
    {"order", DraPolicy::order},
    {"pack", DraPolicy::pack},
    {"spread", DraPolicy::spread},
}};

/// Settings of Dynamic Resource Allocation.
struct DraSettings {
  bool quota = true;  ///< devices count as capacity of their cluster
  bool dispatch = false;
  bool fleet_claims = false;
  std::vector<DeviceClassMapping> device_class_mappings;
  DraPolicy policy = DraPolicy::order;
  Duration pool_hold = minutes(5);      ///< of a pool that is being updated; 0: none
  Duration admit_timeout = minutes(5);  ///< until a nomination is judged again; 0: never
  Duration place_timeout = minutes(5);  ///< until a reservation is dropped; 0: never
  std::int64_t steps_max = 100'000;     ///< devices tried per consumer and cluster

  friend bool operator==(const DraSettings&, const DraSettings&) = default;
};

/// Whether the Workloads of members are read.
enum class MemberWorkloads : std::uint8_t {
  automatic,  ///< where an AdmissionCheck of MultiKueue or of Fairlead sends Workloads to members
  yes,
  no,
};
template <>
inline constexpr std::array<std::pair<std::string_view, MemberWorkloads>, 3>
    kWordsOf<MemberWorkloads>{{
        {"auto", MemberWorkloads::automatic},
        {"true", MemberWorkloads::yes},
        {"false", MemberWorkloads::no},
    }};

/// Which Workloads are read and kept (docs/waiting.md).
struct WorkloadSettings {
  MemberWorkloads of_members = MemberWorkloads::automatic;
  /// The largest number of one API server that is kept. Past it those that finished last are
  /// dropped first.
  std::int64_t max = 200'000;
  Duration keep_finished = hours(1);  ///< how long a finished one is kept

  friend bool operator==(const WorkloadSettings&, const WorkloadSettings&) = default;
};

/// What an hour of one unit (core, byte, device) costs.
struct UsagePrice {
  std::string flavor;
  std::string resource;
  std::string per_hour;  ///< a plain decimal, e.g. "2.50"
  std::string currency;  ///< ISO 4217, e.g. "EUR"

  friend bool operator==(const UsagePrice&, const UsagePrice&) = default;
};

/// By which hours the cost of a flavor is divided among its queues.
enum class UsageAllocation : std::uint8_t { granted_hours, used_hours };
template <>
inline constexpr std::array<std::pair<std::string_view, UsageAllocation>, 2>
    kWordsOf<UsageAllocation>{{
        {"granted-hours", UsageAllocation::granted_hours},
        {"used-hours", UsageAllocation::used_hours},
    }};

/// How use is recorded and reported (docs/usage.md).
struct UsageSettings {
  /// A ClusterQueue whose usage alone changes is recorded at once, and then at most once per
  /// interval. 0: each change.
  Duration interval = seconds(10);
  std::vector<std::string> labels;  ///< of Workloads, that are kept for reports
  std::vector<UsagePrice> prices;   ///< each (flavor, resource) at most once
  UsageAllocation allocation = UsageAllocation::granted_hours;

  friend bool operator==(const UsageSettings&, const UsageSettings&) = default;
};

/// Everything that an administrator can set. Large: plain data, a field for each setting.
struct Configuration {
  std::string kueue_namespace = "kueue-system";
  std::map<std::string, std::string> resource_aliases = default_resource_aliases();
  std::vector<CapacitySource> capacity_sources = default_capacity_sources();
  Headroom headroom;
  std::int64_t overbook_percent = 100;  ///< >= 1
  bool create_claims = true;
  /// A claim's status that differs in accepted values only is written when they have held still for
  /// so long, and at the latest six times as long after a written value was in force. 0: at once,
  /// as in logs that are older than the setting.
  Duration status_interval = minutes(10);
  MemberMode member_mode = MemberMode::automatic;
  std::vector<MemberKubeconfig> member_kubeconfigs;
  /// The largest number of Nodes of one member that are kept. 0: no bound, as in logs that are
  /// older than the setting.
  std::int64_t member_nodes_max = 20'000;
  /// The rate of Node changes that a member may send, per minute in the long run; the burst follows
  /// from member_nodes_max (connectors/kube/watch/change_budget.h has the reasons). 0: no bound, as
  /// in logs that are older than the setting.
  std::int64_t member_changes_per_minute = 3000;
  DebounceSettings debounce;
  MultiKueueSettings multikueue;
  PoolSettings pool;
  DraSettings dra;
  WorkloadSettings workloads;
  UsageSettings usage;
  WriteSettings writes;
  /// What the webhook's rules do where the file says so; the others do what kAdmissionRules says.
  std::map<AdmissionRule, RuleAction> webhook_rules;
  /// Records what is observed and writes nothing to any API server.
  bool record = false;
  /// Whether a program whose schema version is newer than the log's exports the log before it first
  /// writes to it, as the way back to the older program.
  bool export_before_upgrade = true;
  std::int64_t snapshot_every = 25000;
  Duration raw_retention = hours(168);

  friend bool operator==(const Configuration&, const Configuration&) = default;
};

}  // namespace fairlead
