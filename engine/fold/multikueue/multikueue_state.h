// What the fold knows of the path from OCM Placements to MultiKueue.
//
// A Placement has one *worker list*: the names in its MultiKueueConfig. AdmissionChecks use it, and
// Workloads run on its *workers*, which are named after their MultiKueueClusters. Reading order:
// Observed (an object), Worker (one name), WorkerList (one Placement), CheckRecord, WorkloadRecord,
// MultiKueue.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/sparse.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/multikueue/finished_state.h"
#include "engine/fold/multikueue/membership.h"
#include "engine/fold/observed.h"
#include "engine/fold/seen_workload.h"
#include "schema/event.h"

namespace fairlead {

/// How Kueue reaches a cluster; both are empty where it cannot.
struct Credential {
  std::string profile;  ///< ClusterProfile in the Kueue namespace with a provider that we may use
  std::string secret;   ///< Secret in the Kueue namespace with the key `kubeconfig`

  bool any() const { return !profile.empty() || !secret.empty(); }

  friend bool operator==(const Credential&, const Credential&) = default;
};

/// The credential of one OCM cluster and the times of its changes.
struct CredentialRecord {
  Credential now;
  std::optional<LogTime> lost_since;     ///< since when there is none; empty if there never was one
  std::optional<LogTime> profile_since;  ///< since when there is a profile
  std::optional<LogTime> profile_lost_since;
  Seq seq;  ///< of the event that changed it

  friend bool operator==(const CredentialRecord&, const CredentialRecord&) = default;
};

/// Why a cluster of the decisions cannot be a worker.
enum class LeftOut : std::uint8_t { no, credentials_missing, name_taken, name_invalid };

/// A name that a list has or may get: the name of a MultiKueueCluster.
struct Worker {
  std::string cluster;       ///< OCM's name; empty: a name in the list that is not one of ours
  bool decided = false;      ///< the Placement selected the cluster
  LeftOut left_out{};        ///< the first reason
  bool usable_name = false;  ///< of the MultiKueueCluster: valid, and without another owner
  bool credential = false;   ///< there is one, or it was lost not long ago
  bool selected = false;
  bool listed = false;
  LogTime since;               ///< of `selected`, or of its absence
  std::vector<Seq> causes;     ///< events that led to it
  bool taken_out = false;      ///< another writer removed it from the list
  std::optional<Int128> rank;  ///< at the last close
  Standing standing{};         ///< at the last close

  friend bool operator==(const Worker&, const Worker&) = default;
};

/// Workloads that ran on a worker when it left the list, by uid.
struct RunningCopies {
  std::map<NamespacedName, std::string> workloads;
  std::optional<LogTime> over_since;  ///< since when all of them are Finished or gone
  Seq seq;                            ///< of the event that removed the worker

  friend bool operator==(const RunningCopies&, const RunningCopies&) = default;
};

/// Whether checks use a worker list. A `kept` one is left as it is: the parameters of its checks
/// became invalid, or kinds that the rule needs cannot be read.
enum class ListUse : std::uint8_t { none, live, kept };

/// The workers of one Placement, and what should be written.
struct WorkerList {
  std::set<std::string> decided;          ///< clusters in its PlacementDecisions
  std::map<std::string, Worker> workers;  ///< by MultiKueueCluster name: decided or in the list
  std::vector<std::string> names;         ///< spec.clusters as observed; empty: no config of ours
  std::vector<std::string> written;       ///< spec.clusters of our last write
  std::map<std::string, RunningCopies> running;  ///< of workers that left
  std::optional<LogTime> frozen_since;
  /// The names of the list in a better order. It is written when the last verdicts (membership.h)
  /// have had this order for the whole moveWindow. Empty: no order waits.
  std::vector<std::string> order;
  LogTime order_since;  ///< since when it is this order
  MembershipWindows windows;
  ListUse use{};
  std::optional<LogTime> unused_since;  ///< since when no check uses it
  std::vector<Seq> ending;              ///< events that froze it, or since which it is unused
  std::string foreign;                  ///< why the config cannot be ours; empty: it can

  std::optional<std::vector<std::string>> wish;  ///< desired spec.clusters, if a write is due
  bool dissolve = false;                         ///< the config should be deleted
  /// Under which rule the wish or the end of the list is reported; the write's rule is
  /// "multikueue/" and this. Set by multikueue/multikueue_close.cpp: "growth" (names come), "move"
  /// (names come, others have gone or are leaving), "leave" (names go), "restore" (a name comes
  /// back that another writer took out), "order", "adopt" (only the mark is missing), "dissolve"
  /// (nothing is selected), "unused" (no check uses it).
  std::string rule;
  std::vector<Seq> causes;  ///< events of the moment that made the wish

  friend bool operator==(const WorkerList&, const WorkerList&) = default;
};

/// A desired condition.
struct ConditionWish {
  ConditionStatus status = ConditionStatus::absent;  ///< yes, no; absent: there should be none
  std::string reason;
  std::string message;

  bool given() const { return status != ConditionStatus::absent; }

  friend bool operator==(const ConditionWish&, const ConditionWish&) = default;
};

/// An AdmissionCheck.
struct CheckRecord {
  Observed<AdmissionCheckFacts> seen;
  bool ours = false;                  ///< its controller is this one, and it is not being deleted
  bool good = false;                  ///< its parameters name a Placement
  std::string placement;              ///< of its last good parameters
  std::set<std::string> came_from;    ///< Placements that its parameters named before
  std::optional<LogTime> idle_since;  ///< since when there is nothing to dispatch to
  ConditionWish active;
  ConditionWish used;          ///< desired AllClustersUsed
  ConditionWish used_next;     ///< what it becomes once that has lasted for `settle`
  LogTime used_word_since;     ///< since when `used_next` has had its status and reason
  LogTime used_message_since;  ///< since when it has had its message
  ConditionWish dispatcher;    ///< desired DispatcherReady

  friend bool operator==(const CheckRecord&, const CheckRecord&) = default;
};

/// Where a Workload should go.
struct WorkloadDecision {
  using FieldsInPlace = void;
  bool nominates = false;               ///< we write `nomination`
  std::vector<std::string> nomination;  ///< desired status.nominatedClusterNames
  /// The list when `nomination` was last derived.
  std::optional<std::vector<std::string>> judged_list;
  std::set<std::string> judged_away;  ///< its leavers that had been absent for the move window
  Sparse<DeviceDispatch> devices;     ///< where it uses devices, `nomination` follows from this

  friend bool operator==(const WorkloadDecision&, const WorkloadDecision&) = default;
};

/// A Workload. For most of a hub's, which wait for quota, there is nothing to decide.
struct WorkloadRecord {
  SeenWorkload seen;
  Sparse<WorkloadDecision> decision;

  const DeviceDispatch& devices() const { return *decision->devices; }
  DeviceDispatch& edit_devices() { return decision.edit().devices.edit(); }

  friend bool operator==(const WorkloadRecord&, const WorkloadRecord&) = default;
};

/// The part of State for this path. Large: plain data, a table for each kind that is read and a set
/// for each that is open.
struct MultiKueue {
  std::map<NamespacedName, Observed<PlacementFacts>> placements;
  std::map<NamespacedName, Observed<PlacementDecisionFacts>> decisions;
  std::map<std::string, std::set<NamespacedName>> decisions_of;         ///< by placement name
  std::map<NamespacedName, Observed<AddOnPlacementScoreFacts>> scores;  ///< (cluster, name)
  std::map<NamespacedName, Observed<ClusterProfileFacts>> profiles;
  /// The event by which Kueue reported that its feature gate for ClusterProfiles is off; empty: it
  /// has not, or has connected by one since.
  std::optional<Seq> profiles_off;
  std::map<NamespacedName, Observed<SecretFacts>> secrets;
  std::set<Kind> unreadable;  ///< kinds that cannot be read, until a complete list
  std::map<std::string, Observed<MultiKueueConfigFacts>> configs;
  std::map<std::string, Observed<MultiKueueClusterFacts>> clusters;
  std::map<std::string, Observed<CustomResourceDefinitionFacts>> crds;
  std::map<std::string, Observed<MutatingAdmissionPolicyFacts>> admission_policies;
  std::set<std::string> clearing_policies;  ///< policies that clear nominations now
  Seq clearer_seq;  ///< of the event that changed the first of these, or whether there is one
  std::map<std::string, CheckRecord> checks;
  std::map<NamespacedName, WorkloadRecord> workloads;
  std::map<std::string, std::set<NamespacedName>> workloads_on;  ///< by status.clusterName
  std::map<std::string, std::set<NamespacedName>> workloads_of_check;
  std::map<SourceName, FinishedWorkloads> finished;  ///< of the hub and of members; none is empty
  LogTime first_finished = kForever;                 ///< none of `finished` did so before

  std::map<std::string, Credential> sources;  ///< by worker name: the source in our last write
  std::map<std::string, CredentialRecord> credentials;   ///< by OCM cluster
  std::map<std::string, WorkerList> lists;               ///< by placement name
  std::map<std::string, std::set<std::string>> claimed;  ///< worker name -> placements that use it

  std::set<std::string> followers;        ///< hub queues with the annotations of worker_quota.h
  std::set<std::string> dirty_followers;  ///< those to evaluate

  std::map<std::string, std::vector<Seq>>
      dirty_lists;                           ///< placements to evaluate, with the events why
  std::set<std::string> dirty_credentials;   ///< clusters whose credential may have changed
  std::set<NamespacedName> dirty_workloads;  ///< whose status may have to be written
  std::set<std::string> dirty_workers;       ///< whose MultiKueueCluster may be unused
  std::set<std::string> dirty_checks;        ///< whose conditions may have changed
  bool all_dirty = false;                    ///< the configuration or a CRD changed

  friend bool operator==(const MultiKueue&, const MultiKueue&) = default;
};

/// Where the objects of each kind are (held.h).
auto& table_of(KindOf<PlacementFacts>, Of<MultiKueue> auto& part) { return part.placements; }
auto& table_of(KindOf<PlacementDecisionFacts>, Of<MultiKueue> auto& part) { return part.decisions; }
auto& table_of(KindOf<AddOnPlacementScoreFacts>, Of<MultiKueue> auto& part) { return part.scores; }
auto& table_of(KindOf<ClusterProfileFacts>, Of<MultiKueue> auto& part) { return part.profiles; }
auto& table_of(KindOf<SecretFacts>, Of<MultiKueue> auto& part) { return part.secrets; }
auto& table_of(KindOf<MultiKueueConfigFacts>, Of<MultiKueue> auto& part) { return part.configs; }
auto& table_of(KindOf<MultiKueueClusterFacts>, Of<MultiKueue> auto& part) { return part.clusters; }
auto& table_of(KindOf<CustomResourceDefinitionFacts>, Of<MultiKueue> auto& part) {
  return part.crds;
}
auto& table_of(KindOf<MutatingAdmissionPolicyFacts>, Of<MultiKueue> auto& part) {
  return part.admission_policies;
}
auto& table_of(KindOf<AdmissionCheckFacts>, Of<MultiKueue> auto& part) { return part.checks; }
auto& table_of(KindOf<WorkloadFacts>, Of<MultiKueue> auto& part) { return part.workloads; }

}  // namespace fairlead
