// Hub ClusterQueues: their observations, other writers, and the quota that they should have.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/queues/dirty_queues.h"
#include "engine/fold/queues/pairs.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Folds an observation of a hub queue, or its disappearance.
void observe_queue(ObservedQueueRoom state, const ObjectObserved& seen, Seq seq);
void forget_queue(ObservedQueueRoom state, const std::string& name);
/// Whether the pair is left to another writer that keeps changing it.
bool is_contested(const QueueTables& queues, const std::string& queue, const QuotaKey& pair);
/// Folds the acceptance of our write of the queue: foreign values are compared with what it left.
void accept_queue_write(QueueRoom state, const PatchIntended& intent, const WrittenAt& written);
/// The queue was observed as our accepted write left it or later: where its list differs, another
/// writer has overwritten ours, although no observation had our list. Counts that unless an
/// observation since the write was sent has counted it.
void note_queue_seen_since(QueueRoom state, const std::string& name);
/// Updates which pairs are ours. A named pair that is not ours yet is taken over with its quota
/// (take_over.h). A named pair with the quota that we want becomes ours, even if nothing had to be
/// written. A pair that is no longer named is given up once it is gone or has the quota that we
/// want.
void recompute_pairs(QueueRoom state, const std::string& name);

/// The hub quota of one pair: the base quota plus what the claims contribute at this moment or,
/// where the queue follows its workers, the workers' shares.
struct HubQuota {
  bool unknown =
      false;  ///< every claim that names the pair, or some worker, waits for its first value
  Amount nominal = 0;
  Amount full = 0;                          ///< nominal once every member has confirmed its grant
  std::vector<Contribution> contributions;  ///< one per cluster, sorted
  bool assigned = false;  ///< an assignment in force names the pair and its value is known, even 0
};
/// Whether hub_quota lists the contributions or only adds them up.
enum class Parts : std::uint8_t { listed, summed };
HubQuota hub_quota(QueueReader state, const std::string& queue, const QuotaKey& pair,
                   Parts parts = Parts::listed);

/// Returns the pair's quota where claims and workers contribute `sum` to it.
Amount quota_of_sum(QueueReader state, const std::string& queue, const QuotaKey& pair, Int128 sum);

/// Returns the parts that keep the pair's quota at the lesser of `found`, which is in force, and
/// what is granted. They belong to those of `clusters` whose members have not confirmed their
/// grants.
std::vector<Contribution> parts_kept(QueueReader state, const std::string& queue,
                                     const QuotaKey& pair, Amount found,
                                     const std::set<std::string>& clusters);

/// Whether the queue has worker terms or shares, also malformed ones: its quota follows, or until
/// lately followed, from more than its claims.
bool depends_on_workers(const QueueTables& queues, const std::string& queue);
/// Returns the terms and shares by which the queue's quota follows its workers; null if it does
/// not.
const WorkerQuota* followed(const QueueTables& queues, const std::string& queue);
/// Whether grants of `cluster` count for a queue: where it follows its `workers`, only grants of
/// counted workers that are not watched (ShareFrom::claims). `workers` is null if it follows none.
bool claim_counts(const WorkerQuota* workers, const std::string& cluster);
/// Returns the pairs that claims name; where the queue follows its workers, also their pairs and
/// all pairs of its own list.
std::set<QuotaKey> named_pairs(QueueReader state, const std::string& queue);
/// Returns the named pairs, and those that are ours until the write that gives them up.
std::set<QuotaKey> owned_pairs(QueueReader state, const std::string& queue);

/// The hub quotas of one State, each derived once. Without it each cluster of a queue would derive
/// the queue's quota from all its claims. If the State changes, the caller must forget the queues
/// that changed.
class HubQuotas {
 public:
  explicit HubQuotas(QueueReader state) : state_(state) {}

  const HubQuota& of(const std::string& queue, const QuotaKey& pair);
  const std::set<QuotaKey>& owned_pairs(const std::string& queue);
  /// Whether a claim, of any cluster, assigns the resource in the queue.
  bool assigns(const std::string& queue, const std::string& resource);
  /// Returns the most that the hub may promise of `cluster` for the pair at this moment: its
  /// present contribution or, while the hub has more or a write is outstanding, what those writes
  /// carried.
  Amount promised(const std::string& queue, const std::string& cluster, const QuotaKey& pair);

  /// Drop what is known of one queue, of every queue, or of those that follow workers: the next
  /// round derives it again from the State as it is then.
  void forget(const std::string& queue) { views_.erase(queue); }
  void forget_all() { views_.clear(); }
  void forget_followers();

 private:
  struct View {
    std::optional<std::set<QuotaKey>> owned;
    std::optional<std::set<std::string>> assigned;  // resources
    std::map<QuotaKey, HubQuota> quotas;
  };

  View& view_of(const std::string& queue);

  QueueReader state_;
  std::map<std::string, View> views_;
  std::set<std::string> followers_;  // of those in views_
};

/// Kueue itself writes this queue's quota (MultiKueueConfig quotaManagement: Automated).
bool quota_automated(const MultiKueue& multikueue, const Queue& queue);

/// More foreign overwrites than this within kOverwriteWindow are not answered (overwrites.h).
inline constexpr std::size_t kOverwritesAnswered = 3;
inline constexpr Duration kOverwriteWindow = minutes(10);

}  // namespace fairlead
