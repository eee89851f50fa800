#include "engine/ingest/comparison.h"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/fold/claims/claim_status_observation.h"
#include "engine/fold/held.h"

namespace fairlead {

namespace {

bool same_metrics(const Cluster& cluster, const ClusterMetricsFacts& facts) {
  if (!cluster.reports.metrics_known || cluster.reports.metrics_empty != facts.nodes.empty())
    return false;
  if (facts.nodes.empty()) return true;
  return facts.nodes.size() == cluster.reports.metrics_nodes.size() &&
         std::all_of(facts.nodes.begin(), facts.nodes.end(), [&](const auto& node) {
           const NodeRecord* known = cluster.reports.metrics_nodes.find(node.first);
           return known && known->facts == node.second;
         });
}

// Objects written by hand for a dry run have no uid: then equal names suffice.
bool same_object(std::string_view known_uid, std::string_view uid) {
  return uid.empty() || known_uid.empty() || known_uid == uid;
}

// Whether two equal lists have the same texts. A write of the list must leave other writers' texts
// as they are, so State must know them.
bool same_spelling(const std::vector<ResourceGroup>& a, const std::vector<ResourceGroup>& b) {
  const auto text = [](const std::optional<SpelledQuantity>& limit) {
    return limit ? limit->spelling() : std::string();
  };
  const auto same_quota = [&](const ResourceQuota& one, const ResourceQuota& other) {
    return one.nominal.spelling() == other.nominal.spelling() &&
           text(one.borrowing_limit) == text(other.borrowing_limit) &&
           text(one.lending_limit) == text(other.lending_limit);
  };
  const auto same_flavor = [&](const FlavorQuotas& one, const FlavorQuotas& other) {
    return std::equal(one.resources.begin(), one.resources.end(), other.resources.begin(),
                      other.resources.end(), same_quota);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const ResourceGroup& one, const ResourceGroup& other) {
                      return std::equal(one.flavors.begin(), one.flavors.end(),
                                        other.flavors.begin(), other.flavors.end(), same_flavor);
                    });
}

// Whether a record of State has the observed facts.
struct Unchanged {
  const State& state;
  const ObjectSeen& seen;

  template <class F>
  const F& facts() const {
    return std::get<F>(seen.facts);
  }
  // For objects that we write: another generation of equal facts is news too.
  template <class Record>
  bool same_generation(const Record& record) const {
    return same_object(record.uid, seen.uid) && record.generation == seen.generation;
  }

  bool operator()(const NodeRecord& node) const { return node.facts == facts<NodeFacts>(); }
  bool operator()(const HeldMetrics& metrics) const {
    return same_metrics(metrics.cluster, facts<ClusterMetricsFacts>());
  }
  template <IsFacts F>
  bool operator()(const F& held) const {
    return held == facts<F>();
  }
  bool operator()(const LocalQueueFacts& held) const {
    return held.cluster_queue == facts<LocalQueueFacts>().cluster_queue;
  }
  bool operator()(const HeldMemberLocalQueue& held) const {
    return held.facts == facts<LocalQueueFacts>();
  }
  bool operator()(const SliceRecord& slice) const {
    return *slice.facts == facts<ResourceSliceFacts>();
  }
  template <class F>
  bool operator()(const DeviceRecord<F>& record) const {
    return record.facts == facts<F>();
  }
  bool operator()(const SeenWorkload& held) const {
    return same_object(held.head().uid, seen.uid) && held->facts == facts<WorkloadFacts>();
  }
  bool operator()(const MemberPod& pod) const {
    return same_object(pod.uid, seen.uid) && pod.origin == facts<PodFacts>().origin();
  }
  bool operator()(const Queue& queue) const {
    const auto& now = facts<ClusterQueueFacts>();
    return same_object(queue.uid, seen.uid) && queue.facts == now &&
           same_spelling(queue.facts.groups, now.groups);
  }
  bool operator()(const MemberQueue& queue) const {
    const auto& now = facts<ClusterQueueFacts>();
    return queue.usage == now.usage && queue.groups == now.groups &&
           queue.effective == now.effective && queue.active == now.active.status &&
           queue.reason == now.active.reason && queue.stop_policy == now.stop_policy &&
           same_object(queue.uid, seen.uid) && queue.cohort == now.cohort &&
           queue.reserved == now.reserved && queue.borrowed == now.borrowed;
  }
  bool operator()(const Cohort& cohort) const { return cohort.facts == facts<CohortFacts>(); }
  bool operator()(const Work& work) const {
    return same_generation(work) && work.facts == facts<ManifestWorkFacts>();
  }
  bool operator()(const Policy& policy) const {
    return same_generation(policy) && policy.facts == facts<BindingPolicyFacts>();
  }
  bool operator()(const Claim& claim) const {
    if (!same_generation(claim)) return false;
    const auto& now = facts<ClaimFacts>();
    // The status has a rule of its own (is_known_status): else the observation of each of our
    // status writes would be an event.
    ClaimFacts known = claim.facts;
    known.status_digest = now.status_digest;
    known.status_grants = now.status_grants;
    return known == now && is_known_status(state, seen.key.name, now);
  }
  // The conditions of an AdmissionCheck name its generation; of the others it does not matter.
  template <class F>
  bool operator()(const Observed<F>& held) const {
    return same_object(held.uid, seen.uid) && held.facts == facts<F>() &&
           (seen.key.kind != Kind::admission_check || held.generation == seen.generation);
  }
};

/// Whether a ClusterQueue is as State has it once it has the amounts of State.
struct UnchangedButForAmounts {
  const State& state;
  const ObjectSeen& seen;

  template <class Record>
  bool operator()(const Record& record) const {
    if constexpr (std::is_same_v<Record, Queue>)
      return same_with(record, record.facts);
    else if constexpr (std::is_same_v<Record, MemberQueue>)
      return same_with(record, record);
    else
      return false;
  }
  bool same_with(const auto& record, const auto& amounts) const {
    auto facts = std::get<ClusterQueueFacts>(seen.facts);
    facts.usage = amounts.usage;
    facts.reserved = amounts.reserved;
    facts.borrowed = amounts.borrowed;
    ObjectSeen same;
    same.key = seen.key;
    same.uid = seen.uid;
    same.facts = std::move(facts);
    return Unchanged{state, same}(record);
  }
};

}  // namespace

bool is_unchanged(const State& state, const SourceName& source, const ObjectSeen& seen) {
  return with_held(state, source, seen.key, false, Unchanged{state, seen});
}

bool is_known_but_for_amounts(const State& state, const SourceName& source,
                              const ObjectSeen& seen) {
  return seen.key.kind == Kind::cluster_queue &&
         with_held(state, source, seen.key, false, UnchangedButForAmounts{state, seen});
}

void drop_unlisted_labels(const Configuration& configuration, ObjectSeen& seen) {
  auto* const workload = std::get_if<WorkloadFacts>(&seen.facts);
  if (!workload || !workload->progress) return;
  const std::vector<std::string>& listed = configuration.usage.labels;
  std::erase_if(workload->progress->labels, [&](const auto& label) {
    return std::find(listed.begin(), listed.end(), label.first) == listed.end();
  });
}

}  // namespace fairlead
