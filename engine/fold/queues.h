// Hub ClusterQueues: what was seen of them, who else writes them, and what quota they should have.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

void observe_queue(State& state, const ObjectObserved& seen, Seq seq);
void forget_queue(State& state, const std::string& name);
/// The queue's desired state is looked at when the present moment closes.
void touch_queue(State& state, const std::string& name);
/// The queue's quota is compared when the present moment closes; those who name it are not
/// concerned.
void requote(State& state, const std::string& name);
/// The same where nothing changed that its quota follows from: it may only be time to write it.
void requote_unchanged(State& state, const std::string& name);
/// Something changed that the queue's quota follows from, or whether it is written: what was
/// derived of it (Queue::changed) holds no more. touch_queue and requote note it too.
void note_quota_change(State& state, const std::string& name);
/// A claim that names the queue was edited: its pairs are emitted again.
void settle_conflict(State& state, const std::string& name);
/// Our write of the queue is in force: what it left is what foreign values are measured against.
void accept_queue_write(State& state, const PatchIntended& intent, const WrittenAt& written);
/// A pair that a claim names and that stands as we want it is ours, also where nothing had to be
/// written; one that no claim names any more and that stands as we want it is ours no longer.
void settle_pairs(State& state, const std::string& name);

/// A queue covers both an alias and its canonical name: neither can be granted.
bool covers_alias_twice(const State& state, const std::string& queue, const std::string& canonical);
/// The name under which `groups` cover the canonical resource; nullopt if they do not.
std::optional<std::string> covered_name(const std::vector<ResourceGroup>& groups,
                                        const ResourceAliases& aliases,
                                        const std::string& canonical);
/// The quota entry of (flavor, covered resource name); null if the list has none.
const ResourceQuota* find_quota(const std::vector<ResourceGroup>& groups, const std::string& flavor,
                                const std::string& resource);
/// The nominal quota of a pair; nullopt if the list has none.
std::optional<Amount> amount_in(const std::vector<ResourceGroup>& groups,
                                const ResourceAliases& aliases, const QuotaKey& pair);

/// The hub quota of one pair: base plus what the claims contribute at this moment or, where the
/// queue follows its workers, what those give.
struct HubQuota {
  bool unknown =
      false;  ///< every claim that names the pair, or some worker, waits for its first value
  Amount nominal = 0;
  Amount full = 0;                          ///< nominal once every member has confirmed its grant
  std::vector<Contribution> contributions;  ///< one a cluster, sorted
  bool waits_for_member = false;  ///< some grant is larger than what its member is known to admit
  bool assigned = false;  ///< an assignment in force names the pair, and its value is known: also 0
};
/// Whether the contributions are listed, or only what they amount to is asked for.
enum class Parts : std::uint8_t { listed, summed };
HubQuota hub_quota(const State& state, const std::string& queue, const QuotaKey& pair,
                   Parts parts = Parts::listed);

/// What the pair's quota is where claims and workers contribute `sum` of it.
Amount quota_of_sum(const State& state, const std::string& queue, const QuotaKey& pair, Int128 sum);

/// What the cluster contributes to the pair; 0 if nothing. The contributions are sorted.
Amount part_of(const std::vector<Contribution>& contributions, const std::string& cluster,
               const QuotaKey& pair);

/// Its quota follows from more than its claims: from what its workers have, now or until lately.
bool depends_on_workers(const State& state, const std::string& queue);
/// The terms and shares by which the queue's quota follows its workers; null if it does not.
const WorkerQuota* followed(const State& state, const std::string& queue);
/// Whether what claims grant of `cluster` counts: where a queue follows its `workers` only for
/// those that nobody watches. Null: it does not follow any.
bool claim_counts(const WorkerQuota* workers, const std::string& cluster);
/// Pairs that a claim names; where the queue follows its workers, also theirs and all of its own.
std::set<QuotaKey> named_pairs(const State& state, const std::string& queue);
/// Named pairs, and pairs that were named until the write that gives them up.
std::set<QuotaKey> owned_pairs(const State& state, const std::string& queue);

/// The quotas of one state, each derived once: what every cluster of a queue asks of it would else
/// be derived from all claims of the queue for each cluster. The state must not change meanwhile,
/// or what changed must be forgotten.
class HubQuotas {
 public:
  explicit HubQuotas(const State& state) : state_(state) {}

  const HubQuota& of(const std::string& queue, const QuotaKey& pair);
  const std::set<QuotaKey>& owned_pairs(const std::string& queue);
  /// Some claim, of any cluster, assigns the resource in the queue.
  bool assigns(const std::string& queue, const std::string& resource);
  /// What the hub may at this moment promise of `cluster` for the pair: its present contribution
  /// or, while the hub still has more or a write is on its way, what those writes carried.
  Amount promised(const std::string& queue, const std::string& cluster, const QuotaKey& pair);

  /// For another round, on what the state has become: what is known of the queue, of every queue,
  /// or of those that follow workers, is derived again.
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

  const State& state_;
  std::map<std::string, View> views_;
  std::set<std::string> followers_;  // of those in views_
};

/// Kueue itself writes this queue's quota (MultiKueueConfig quotaManagement: Automated).
bool quota_automated(const State& state, const Queue& queue);

/// More foreign overwrites than this within kOverwriteWindow are not answered.
inline constexpr std::size_t kOverwritesAnswered = 3;
inline constexpr Duration kOverwriteWindow = minutes(10);

}  // namespace fairlead
