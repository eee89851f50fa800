// The part of State about ClusterQueues and Cohorts of the hub: what was observed, what we wrote,
// and where their quota comes from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/damping.h"
#include "engine/fold/capacity/liveness.h"
#include "engine/fold/memo.h"
#include "engine/fold/name_map.h"
#include "engine/fold/observed.h"
#include "schema/event.h"

namespace fairlead {

/// A (flavor, resource) of a ClusterQueue; the resource is canonical.
using QuotaKey = CapacityKey;

/// The base quota that is added to grants (annotation fairlead.io/base-quota).
struct BaseQuota {
  std::map<QuotaKey, Amount> amounts;
  std::string
      malformed;  ///< what is wrong with the newest annotation; the amounts are the last good ones

  friend bool operator==(const BaseQuota&, const BaseQuota&) = default;
};

/// What a worker's share of a hub queue follows from.
enum class ShareFrom : std::uint8_t {
  member,  ///< the ClusterQueues of the worker, which is watched
  claims,  ///< the claims that assign quota of the hub queue to the worker's cluster
  none,    ///< the worker is not watched, and no claim does so
};

/// The share of one worker in a hub queue that follows its workers.
struct WorkerShare {
  ShareFrom from = ShareFrom::none;
  bool counted = false;  ///< it is in the list; the values of a newcomer do not count yet
  std::map<QuotaKey, DampedValue> values;  ///< sums over the ClusterQueues behind its LocalQueues
  bool known = false;                      ///< the first values were accepted
  LogTime first_valued;
  LogTime last_changed;
  Liveness liveness_at_close = Liveness::live;  ///< of the cluster, at the last close
  std::vector<Seq> causes;  ///< events that changed a value, the newest kCausesKeptMax

  friend bool operator==(const WorkerShare&, const WorkerShare&) = default;
};

/// The quota of a hub queue that follows its MultiKueue workers (annotation
/// fairlead.io/quota-from).
struct WorkerQuota {
  bool asked = false;                  ///< the annotation asks for it
  bool follows = false;                ///< asked, and one of its AdmissionChecks names a Placement
  std::int64_t percent = 100;          ///< of the workers' sum
  std::map<QuotaKey, Amount> reserve;  ///< subtracted after that
  std::string
      malformed;       ///< what is wrong with the newest annotations; the last good terms are used
  bool known = false;  ///< every worker has reported first values: nothing is written before
  std::map<std::string, WorkerShare> shares;  ///< by OCM cluster
  /// Of clusters that the Placements no longer select: the events that removed them.
  std::map<std::string, std::vector<Seq>> left;

  friend bool operator==(const WorkerQuota&, const WorkerQuota&) = default;
};

/// When something was written, and by which intent.
struct WrittenAt {
  Seq seq;
  LogTime time;

  friend bool operator==(const WrittenAt&, const WrittenAt&) = default;
};

struct Queue {
  bool present = false;
  std::string uid;
  std::string version;
  std::string resource_version;
  std::int64_t generation = 0;
  ClusterQueueFacts facts;
  Seq seq;
  BaseQuota base;
  WorkerQuota workers;
  std::map<QuotaKey, Amount> written;  ///< our pairs in our last accepted write
  std::optional<std::vector<ResourceGroup>> written_groups;  ///< the whole list of that write
  std::vector<Contribution> contributed;                     ///< of that write
  WrittenAt written_at;                                      ///< that write
  /// By cluster and pair: our accepted write that changed what the cluster contributes.
  std::map<std::pair<std::string, QuotaKey>, WrittenAt> contributed_at;
  std::map<QuotaKey, Quantity>
      lending;  ///< the administrator's lendingLimit: last list that we did not write
  std::vector<LogTime> overwrites;  ///< foreign overwrites in the last ten minutes
  Seq overwrite_seq;                ///< of the event that counted the newest
  /// Pairs that are left to another writer (OwnershipConflict): those that differed at an overwrite
  /// beyond kOverwritesAnswered. `written` keeps what we wrote of them.
  std::set<QuotaKey> contested;
  Memo<Derived<std::set<QuotaKey>>> claimed;  ///< pairs that claims name, as of terms_changes
  Memo<std::uint64_t> changed;  ///< quota_changes when what its quota follows from changed last

  friend bool operator==(const Queue&, const Queue&) = default;
};

/// A Cohort of the hub as last observed.
struct Cohort {
  CohortFacts facts;
  Seq seq;

  friend bool operator==(const Cohort&, const Cohort&) = default;
};

/// What the hub has of Kueue's queues.
struct QueueTables {
  NameMap<Queue> by_name;
  std::map<std::string, Cohort> cohorts;
  std::map<std::pair<std::string, std::string>, LocalQueueFacts> local;  ///< by (namespace, name)
  std::set<std::string> dirty;         ///< planned again with the claims that name them
  std::set<std::string> dirty_quotas;  ///< whose quota must be compared, nothing else
  Memo<std::uint64_t> quota_changes;   ///< counts changes of the inputs of queues' quotas

  friend bool operator==(const QueueTables&, const QueueTables&) = default;
};

/// Where the objects of each kind are (held.h).
auto& table_of(KindOf<ClusterQueueFacts>, Of<QueueTables> auto& part) { return part.by_name; }
auto& table_of(KindOf<CohortFacts>, Of<QueueTables> auto& part) { return part.cohorts; }
auto& table_of(KindOf<LocalQueueFacts>, Of<QueueTables> auto& part) { return part.local; }

}  // namespace fairlead
