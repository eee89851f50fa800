#include "engine/fleet/placement_controller.h"

#include <algorithm>

#include "engine/fleet/worker_world.h"

namespace fairlead {
namespace {

constexpr Duration kPlacementRound = seconds(1);

bool matches(const Json& predicate, const PlacementCandidate& candidate) {
  const Json wanted = predicate.value(
      "/requiredClusterSelector/labelSelector/matchLabels"_json_pointer, Json::object());
  for (const auto& [key, value] : wanted.items()) {
    const auto label = candidate.labels.find(key);
    if (label == candidate.labels.end() || value != label->second) return false;
  }
  return true;
}

// A cluster fits if it matches one predicate, or if there is none.
bool fits(const Json& placement, const PlacementCandidate& candidate) {
  const Json predicates = placement.value("/spec/predicates"_json_pointer, Json::array());
  return predicates.empty() ||
         std::any_of(predicates.begin(), predicates.end(),
                     [&](const Json& predicate) { return matches(predicate, candidate); });
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

// OCM itself taints a cluster whose agent it does not hear of.
bool is_tainted(const Json& cluster) {
  const Json taints = cluster.value("/spec/taints"_json_pointer, Json::array());
  return std::any_of(taints.begin(), taints.end(),
                     [](const Json& taint) { return taint.value("effect", "") == "NoSelect"; });
}

}  // namespace

std::int64_t placement_score(const Json& placement, const PlacementCandidate& candidate) {
  std::int64_t sum = 0;
  for (const Json& one :
       placement.value("/spec/prioritizerPolicy/configurations"_json_pointer, Json::array())) {
    const Json add_on = one.value("/scoreCoordinate/addOn"_json_pointer, Json::object());
    const auto score = candidate.scores.find(add_on.value("resourceName", "") + "/" +
                                             add_on.value("scoreName", ""));
    if (score != candidate.scores.end())
      sum += one.value("weight", std::int64_t{1}) * score->second;
  }
  return sum;
}

std::vector<std::string> select_clusters(const Json& placement,
                                         const std::vector<PlacementCandidate>& candidates) {
  std::vector<std::pair<std::int64_t, std::string>> ranked;
  for (const PlacementCandidate& candidate : candidates)
    if (fits(placement, candidate))
      // Negated, so that the best score comes first, and of equal ones the first name.
      ranked.emplace_back(-placement_score(placement, candidate), candidate.name);
  std::sort(ranked.begin(), ranked.end());
  const auto all = static_cast<std::int64_t>(ranked.size());
  const std::int64_t wanted = placement.value("/spec/numberOfClusters"_json_pointer, all);
  std::vector<std::string> out;
  for (const auto& [score, name] : ranked)
    if (static_cast<std::int64_t>(out.size()) < wanted) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<PlacementCandidate> PlacementController::candidates() const {
  std::map<std::string, PlacementCandidate> by_name;
  for (const Json& cluster : hub_.items(kManagedClusters)) {
    const std::string name = cluster["metadata"]["name"];
    if (is_tainted(cluster)) continue;
    PlacementCandidate candidate{name, {}, {}};
    const Json labels = cluster["metadata"].value("labels", Json::object());
    for (const auto& [key, value] : labels.items()) candidate.labels[key] = value;
    by_name.emplace(name, std::move(candidate));
  }
  for (const Json& object : hub_.items(kScores)) {
    const auto at = by_name.find(object["metadata"]["namespace"]);
    if (at == by_name.end()) continue;
    const std::string name = object["metadata"]["name"];
    for (const Json& score : object.value("/status/scores"_json_pointer, Json::array()))
      at->second.scores[name + "/" + score["name"].get<std::string>()] = score["value"];
  }
  std::vector<PlacementCandidate> out;
  for (auto& [name, candidate] : by_name) out.push_back(std::move(candidate));
  return out;
}

void PlacementController::look(LogTime now) {
  if (now < next_look_ || hub_.revision() == seen_) return;
  next_look_ = now + kPlacementRound;
  // Read before anything is written here: its own writes make it look once more, and change
  // nothing.
  seen_ = hub_.revision();
  const std::vector<PlacementCandidate> all = candidates();
  for (const Json& placement : hub_.items(kPlacements)) decide(placement, all);
}

void PlacementController::decide(const Json& placement,
                                 const std::vector<PlacementCandidate>& candidates) {
  const std::string name = placement["metadata"]["name"];
  const std::vector<std::string> selected = select_clusters(placement, candidates);
  const auto before = decided_.find(name);
  if (before != decided_.end() && before->second == selected) return;
  std::string text = "Placement " + name + " selects " + joined(selected);
  if (before != decided_.end()) text += " instead of " + joined(before->second);
  if (placement.contains("/spec/prioritizerPolicy"_json_pointer)) {
    std::string scores;
    for (const PlacementCandidate& candidate : candidates)
      scores += (scores.empty() ? "" : ", ") + candidate.name + " " +
                std::to_string(placement_score(placement, candidate));
    text += " (scores: " + scores + ")";
  }
  logger_("ocm", text);
  write(name, selected);
  decided_[name] = selected;
}

void PlacementController::write(const std::string& placement,
                                const std::vector<std::string>& clusters) {
  const std::string name = placement + "-decision-1";
  const Json decision = {
      {"apiVersion", "cluster.open-cluster-management.io/v1beta1"},
      {"kind", "PlacementDecision"},
      {"metadata",
       {{"name", name}, {"namespace", kKueueSystem}, {"labels", {{kPlacementLabel, placement}}}}}};
  Json decisions = Json::array();
  for (const std::string& cluster : clusters)
    decisions.push_back({{"clusterName", cluster}, {"reason", ""}});
  // It may exist already; any other refusal is tried again after the next change.
  (void)hub_.create(kDecisions, decision);
  (void)hub_.merge(kDecisions + "/" + name + "/status", {{"status", {{"decisions", decisions}}}});
  (void)hub_.merge(kPlacements + "/" + placement + "/status",
                   {{"status", {{"numberOfSelectedClusters", clusters.size()}}}});
  writes_ += 3;
}

}  // namespace fairlead
