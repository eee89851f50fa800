#include "engine/fold/devices/device_question.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/cluster_state.h"

namespace fairlead {

bool names_a_claim(const PodDeviceFacts& pod) {
  return std::any_of(pod.claims.begin(), pod.claims.end(),
                     [](const PodClaim& entry) { return !entry.claim.empty(); });
}

namespace {

// The tolerations of a node's flavors, by the names of the flavors.
class FlavorTolerations {
 public:
  FlavorTolerations(StateView<const Configuration, const FlavorTables, const Clusters> state,
                    const std::set<std::string>& extended)
      : state_(state) {
    const ResourceAliases& aliases = state.configuration.resource_aliases;
    const CandidateTable& candidates = state.flavors.candidates;
    sets_.insert(candidates.of("cpu"));
    for (const std::string& resource : extended)
      sets_.insert(candidates.of(canonical_resource(aliases, resource)));
    for (const DeviceClassMapping& mapping : state.configuration.dra.device_class_mappings)
      sets_.insert(candidates.of(canonical_resource(aliases, mapping.name)));
  }

  // Valid until this is destroyed.
  const std::vector<Toleration>* of(const NodeFacts& node) {
    std::set<std::string> names;
    const std::vector<NodeFlavor> won = winning_flavors(node, state_.flavors);
    for (const std::uint32_t set : sets_)
      if (!won[set].name.empty()) names.insert(won[set].name);
    const auto [at, made] = by_names_.try_emplace(names);
    if (made)
      for (const std::string& name : names) {
        const auto& tolerations = state_.flavors.by_name.at(name).tolerations;
        at->second.insert(at->second.end(), tolerations.begin(), tolerations.end());
      }
    return &at->second;
  }

 private:
  StateView<const Configuration, const FlavorTables, const Clusters> state_;
  std::set<std::uint32_t> sets_;
  std::map<std::set<std::string>, std::vector<Toleration>> by_names_;
};

}  // namespace

FitQuestion question_at(StateView<const Configuration, const FlavorTables, const Clusters> state,
                        const std::string& cluster, std::vector<PodSetToFit> pod_sets,
                        std::set<std::string> extended) {
  const Cluster& of = state.clusters.at(cluster);
  FitQuestion question;
  question.pod_sets = std::move(pod_sets);
  question.flavor_tolerations = [&of, tolerations =
                                          std::make_shared<FlavorTolerations>(state, extended)](
                                    const std::string& name) -> const std::vector<Toleration>* {
    const NodeRecord* node = of.reports.nodes.find(name);
    return node ? tolerations->of(node->facts) : nullptr;
  };
  question.extended = std::move(extended);
  question.steps_max = state.configuration.dra.steps_max;
  return question;
}

}  // namespace fairlead
