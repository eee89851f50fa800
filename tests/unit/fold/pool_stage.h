// A pool of super clusters for the tests of engine/fold/pool. Each method folds what an API server
// reports at the present time; run() ends the moment and reports what was decided as written.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "engine/fold/evolve.h"
#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/pool_close.h"
#include "engine/fold/pool/shares.h"

namespace fairlead::pool_tests {

inline constexpr Amount kGi = Amount{1} << 30;
/// The slice of a namespace without an annotation.
inline constexpr CpuMemory kDefaultSlice{2000, 4 * kGi};

/// Every member is a super cluster, and no value is damped: a change of capacity counts in its
/// moment.
inline Configuration undamped_pool() {
  Configuration configuration;
  configuration.member_mode = MemberMode::none;
  configuration.create_claims = false;
  configuration.headroom.percent.clear();
  DebounceSettings& debounce = configuration.debounce;
  debounce.shrink_window = debounce.grow_window = debounce.first_quiet = {};
  debounce.min_grow_interval = debounce.mass_shrink_hold = {};
  debounce.grow_deadband_percent = debounce.flap_penalty = debounce.mass_shrink_percent = 0;
  configuration.pool.clusters.resize(1);
  configuration.pool.clusters.front().name = "*";
  return configuration;
}

inline PoolNamespaceKey acme(std::string name) { return {"acme", std::move(name)}; }
inline PoolNamespaceKey bolt(std::string name) { return {"bolt", std::move(name)}; }
inline PoolPodKey pod_in(const PoolNamespaceKey& home, std::string name) {
  return {home.first, home.second, std::move(name)};
}

inline PodFacts pod_asking(Amount cpu, Amount memory) {
  PodFacts facts;
  facts.requests = {{"cpu", cpu}, {"memory", memory}};
  return facts;
}
/// A pod that runs in the super cluster `id`.
inline PodFacts pod_bound_in(const std::string& id, Amount cpu, Amount memory) {
  PodFacts facts = pod_asking(cpu, memory);
  facts.super_cluster = id;
  facts.bound = true;
  return facts;
}

inline LogTime second(std::int64_t count) { return LogTime{} + seconds(count); }

struct PoolStage {
  State state;
  DirtySet dirty;  ///< of the moments since the last run()
  LogTime present;

  explicit PoolStage(const Configuration& configuration = undamped_pool()) {
    configure(configuration);
  }

  // ---- events ----

  /// Sets the time of the next events.
  void at(std::int64_t count) { present = second(count); }
  void fold(const SourceName& source, Fact fact) {
    evolve(state, {next(state.seq), present, Epoch{1}, source, {}, std::move(fact)}, dirty);
  }
  /// An intent of ours that sets the placements of a namespace. Returns what it expects to observe.
  NamespaceFacts intend_placements(const PoolNamespaceKey& key, const std::string& placements) {
    NamespaceFacts facts;
    facts.placements = placements;
    PatchIntended intent;
    intent.cluster = "tenant/" + key.first;
    intent.target = {Kind::namespace_, "", key.second};
    intent.expected = facts;
    fold(std::string(kSelf), intent);
    return facts;
  }
  /// Without `uid` the object has its namespace, a slash and its name for one.
  void observe(const SourceName& source, const ObjectKey& key, Facts facts,
               const std::string& uid = "") {
    ObjectObserved seen;
    seen.key = key;
    seen.version = "v1";
    seen.uid = uid.empty() ? key.namespace_ + "/" + key.name : uid;
    seen.resource_version = std::to_string(next(state.seq).value);
    seen.facts = std::move(facts);
    fold(source, std::move(seen));
  }
  void gone(const SourceName& source, const ObjectKey& key) {
    fold(source, ObjectGone{key, "", ""});
  }
  void configure(const Configuration& configuration) {
    fold(std::string(kSelf), ConfigChanged{configuration});
  }

  /// The only node of the member offers so many default slices, and `more`.
  void offer(const SourceName& member, std::int64_t slices,
             std::map<std::string, Amount> more = {}) {
    more["cpu"] = slices * kDefaultSlice.cpu;
    more["memory"] = slices * kDefaultSlice.memory;
    NodeFacts facts;
    facts.ready = true;
    facts.allocatable = more;
    observe(member, {Kind::node, "", "n1"}, facts);
  }
  void lose(const SourceName& member) { fold(member, SourceLost{Kind::node, ""}); }
  void hear_from(const SourceName& member) { fold(member, SourceSynced{Kind::node, "", ""}); }

  /// A VirtualCluster tenants/<name> of that tenant.
  void tenant(const std::string& name, std::optional<std::string> limit = std::nullopt,
              const std::string& phase = "Running") {
    VirtualClusterFacts facts;
    facts.phase = phase;
    facts.cluster_namespace = name;
    facts.pool_limit = std::move(limit);
    observe(std::string(kHub), {Kind::virtual_cluster, "tenants", name}, facts);
  }
  void space(const PoolNamespaceKey& key, NamespaceFacts facts = {}) {
    observe(tenant_source(key.first), {Kind::namespace_, "", key.second}, std::move(facts));
  }
  /// A quota of so many default slices.
  void quota(const PoolNamespaceKey& key, std::int64_t slices) {
    ResourceQuotaFacts facts;
    facts.hard = {{"cpu", slices * kDefaultSlice.cpu}, {"memory", slices * kDefaultSlice.memory}};
    observe(tenant_source(key.first), {Kind::resource_quota, key.second, "q"}, std::move(facts));
  }
  void want(const PoolNamespaceKey& key, std::int64_t slices) {
    space(key);
    quota(key, slices);
  }
  /// A namespace whose annotation has these placements already, with a quota of just as much.
  void placed(const PoolNamespaceKey& key, const SliceMap& slices) {
    NamespaceFacts facts;
    facts.placements = placements_text(slices);
    space(key, std::move(facts));
    std::int64_t sum = 0;
    for (const auto& [id, count] : slices) sum += count;
    quota(key, sum);
  }
  /// Another writer changes the placements annotation.
  void edit(const PoolNamespaceKey& key, const std::string& placements) {
    NamespaceFacts facts = of(key).seen->facts;
    facts.placements = placements;
    space(key, std::move(facts));
  }
  void pod(const PoolNamespaceKey& home, const std::string& name, PodFacts facts) {
    observe(tenant_source(home.first), {Kind::pod, home.second, name}, std::move(facts));
  }
  /// A namespace of the member that the syncer made for the tenant's namespace `key`.
  void made_for(const PoolNamespaceKey& key, const SourceName& member,
                const std::string& placements, const std::string& uid = "") {
    NamespaceFacts facts;
    facts.tenant = key.first;
    facts.tenant_namespace = key.second;
    facts.tenant_uid = uid;
    facts.placements = placements;
    observe(member, {Kind::namespace_, "", key.first + "-" + key.second}, std::move(facts));
  }

  // ---- moments ----

  /// Advances to the present time and closes its moment.
  void close() { run_until(state, present, dirty); }
  /// Closes the moment. Tenants' API servers then report what was decided as written, a millisecond
  /// later, until nothing is left to write.
  void run() {
    close();
    for (int round = 0; !dirty.pool_namespaces.empty() || !dirty.pool_pods.empty(); ++round) {
      REQUIRE(round < 16);
      const DirtySet decided = std::exchange(dirty, {});
      present = present + milliseconds(1);
      for (const PoolNamespaceKey& key : decided.pool_namespaces) report(key);
      for (const PoolPodKey& key : decided.pool_pods) report(key);
      close();
    }
    dirty = {};
  }

  // ---- what State has ----

  Pool& pool() { return state.pool; }
  PoolNamespace& of(const PoolNamespaceKey& key) { return *find_namespace(state.pool, key); }
  PoolPod& pod_of(const PoolNamespaceKey& home, const std::string& name) {
    return *find_pod(state.pool, pod_in(home, name));
  }
  SliceMap placements(const PoolNamespaceKey& key) { return placements_of(of(key)); }
  std::string reason(const PoolNamespaceKey& key) { return value_of(of(key).reason).current; }

 private:
  static std::optional<std::string> written(const Boxed<PoolReason>& reason) {
    const std::string& text = value_of(reason).written;
    return text.empty() ? std::nullopt : std::optional(text);
  }
  void report(const PoolNamespaceKey& key) {
    const PoolNamespace& known = of(key);
    NamespaceFacts facts = known.seen->facts;
    if (known.taken_up) facts.placements = placements_text(placements_of(known));
    facts.reason = written(known.reason);
    space(key, std::move(facts));
  }
  void report(const PoolPodKey& key) {
    const PoolPod& known = *find_pod(state.pool, key);
    PodFacts facts = known.seen.facts;
    facts.super_cluster = super_cluster_of(known);
    facts.reason = written(known.reason);
    observe(tenant_source(key.tenant), {Kind::pod, key.namespace_, key.pod}, std::move(facts),
            known.seen.uid);
  }
};

/// acme/web holds all of r1, which is the only super cluster.
struct FullPool : PoolStage {
  explicit FullPool(std::int64_t slices) {
    offer("r1", slices);
    tenant("acme");
    tenant("bolt");
    want(acme("web"), slices);
    run();
  }
};

}  // namespace fairlead::pool_tests
