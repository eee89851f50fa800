#include "engine/fold/devices/device_question.h"

#include <algorithm>
#include <utility>

#include "engine/fold/capacity/capacity.h"

namespace fairlead {

bool names_a_claim(const PodDeviceFacts& pod) {
  return std::any_of(pod.claims.begin(), pod.claims.end(),
                     [](const PodClaim& entry) { return !entry.claim.empty(); });
}

FitQuestion question_at(const State& state, const std::string& cluster,
                        std::vector<PodSetToFit> pod_sets, std::set<std::string> extended) {
  const Cluster& of = state.clusters.at(cluster);
  FitQuestion question;
  question.pod_sets = std::move(pod_sets);
  question.flavor_tolerations = [&state, &of](const std::string& name) {
    const NodeRecord* node = of.reports.nodes.find(name);
    const auto flavor =
        node ? state.flavors.by_name.find(winning_flavor(node->facts.labels, state.flavors.by_name))
             : state.flavors.by_name.end();
    return flavor == state.flavors.by_name.end() ? nullptr : &flavor->second.tolerations;
  };
  question.extended = std::move(extended);
  question.steps_max = state.configuration.dra.steps_max;
  return question;
}

}  // namespace fairlead
