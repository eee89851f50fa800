#include "engine/fold/multikueue/rank.h"

#include <algorithm>

#include "engine/fold/multikueue/multikueue_state.h"

namespace fairlead {

namespace {

const PlacementFacts* find_placement(MultiKueueReader state, const std::string& name) {
  const auto at = state.multikueue.placements.find({state.configuration.kueue_namespace, name});
  return at == state.multikueue.placements.end() ? nullptr : &at->second.facts;
}

const AddOnPlacementScoreFacts* find_scores(const MultiKueue& multikueue,
                                            const std::string& cluster, const std::string& name) {
  const auto at = multikueue.scores.find({cluster, name});
  return at == multikueue.scores.end() ? nullptr : &at->second.facts;
}

bool in_range(std::int64_t score) { return score >= -kScoreMax && score <= kScoreMax; }

}  // namespace

std::optional<Int128> rank_of(MultiKueueReader state, const std::string& placement,
                              const std::string& cluster, LogTime& next) {
  const PlacementFacts* ranked = find_placement(state, placement);
  if (!ranked) return std::nullopt;
  Int128 sum = 0;
  bool known = true;
  for (const ScorePrioritizer& prioritizer : ranked->prioritizers) {
    const auto* scores = find_scores(state.multikueue, cluster, prioritizer.resource_name);
    const bool expired = scores && scores->valid_until && *scores->valid_until <= state.now;
    if (scores && scores->valid_until && !expired) next = std::min(next, *scores->valid_until);
    const auto score =
        scores ? scores->scores.find(prioritizer.score_name) : decltype(scores->scores.begin()){};
    if (!scores || expired || score == scores->scores.end() || !in_range(score->second))
      known = false;
    else
      sum += Int128{prioritizer.weight} * score->second;
  }
  return known ? std::optional(sum) : std::nullopt;
}

std::vector<std::string> scores_out_of_range(MultiKueueReader state, const std::string& placement,
                                             const std::string& cluster) {
  std::vector<std::string> lines;
  const PlacementFacts* ranked = find_placement(state, placement);
  if (!ranked) return lines;
  for (const ScorePrioritizer& prioritizer : ranked->prioritizers) {
    const auto* scores = find_scores(state.multikueue, cluster, prioritizer.resource_name);
    if (!scores) continue;
    const auto score = scores->scores.find(prioritizer.score_name);
    if (score == scores->scores.end() || in_range(score->second)) continue;
    lines.push_back("AddOnPlacementScore " + cluster + "/" + prioritizer.resource_name +
                    ": score " + prioritizer.score_name + " is ignored, " +
                    std::to_string(score->second) + " is not in -100..100");
  }
  return lines;
}

}  // namespace fairlead
