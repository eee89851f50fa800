#include "replay/waiting/write_causes.h"

#include <algorithm>

namespace fairlead {

namespace {

// Whether the observed object has what the write gave it. What others add does not matter.
bool shows(const Facts& expected, const Facts& seen) {
  if (const auto* queue = std::get_if<ClusterQueueFacts>(&expected))
    return queue->groups == std::get<ClusterQueueFacts>(seen).groups;
  if (const auto* workload = std::get_if<WorkloadFacts>(&expected))
    return workload->nominated_clusters == std::get<WorkloadFacts>(seen).nominated_clusters;
  return false;
}

bool is_followed(Kind kind) { return kind == Kind::cluster_queue || kind == Kind::workload; }

}  // namespace

void WriteCauses::intended(const Event& event, const PatchIntended& intent) {
  if (!is_followed(intent.target.kind)) return;
  const Target target{intent.cluster, intent.target};
  if (const auto before = last_.find(target); before != last_.end())
    unanswered_.erase(before->second.seq);
  last_[target] = {event.seq, intent.reason.because, intent.expected, ""};
  unanswered_[event.seq] = target;
}

void WriteCauses::accepted(const PatchAccepted& accepted) {
  const auto at = unanswered_.find(accepted.intent);
  if (at == unanswered_.end()) return;
  last_[at->second].resource_version = accepted.resource_version;
  unanswered_.erase(at);
}

std::vector<Seq> WriteCauses::of(const Event& event, const ObjectObserved& seen) {
  std::vector<Seq> causes{event.seq};
  if (!is_followed(seen.key.kind)) return causes;
  const auto at = last_.find({event.source, seen.key});
  if (at == last_.end()) return causes;
  const Write& write = at->second;
  const bool same_version =
      !write.resource_version.empty() && write.resource_version == seen.resource_version;
  const bool same = write.expected && write.expected->index() == seen.facts.index() &&
                    shows(*write.expected, seen.facts);
  if (!same_version && !same) return causes;
  causes.push_back(write.seq);
  causes.insert(causes.end(), write.because.begin(), write.because.end());
  std::sort(causes.begin(), causes.end());
  causes.erase(std::unique(causes.begin(), causes.end()), causes.end());
  unanswered_.erase(write.seq);
  last_.erase(at);
  return causes;
}

}  // namespace fairlead
