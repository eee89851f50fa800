#include "engine/fold/fleet_claims/needs.h"

#include <algorithm>

#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "schema/fleet_driver.h"

namespace fairlead {

namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::string_view kKueueGroup = "kueue.x-k8s.io";
constexpr std::string_view kWorkloads = "workloads";

bool has_pods_with_claims(const WorkloadPodSet& pods) {
  return pod_count(pods) > 0 && pods.fleet != FleetClaimEntries{};
}

// Returns why the entry cannot be added.
std::string add_need(FleetNeed need, std::vector<FleetNeed>& all) {
  if (need.claim.second.size() > kNameMax)
    return "entry " + need.entry + ": the name of its claim has more than 253 bytes";
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const FleetNeed& other) { return other.entry == need.entry; });
  if (same == all.end())
    all.push_back(std::move(need));
  else if (same->claim != need.claim || same->template_ != need.template_)
    return "entry " + need.entry + " has another claim in an earlier pod set";
  return "";
}

bool lists(const std::optional<std::vector<std::string>>& clusters, const std::string& cluster) {
  return !clusters || std::binary_search(clusters->begin(), clusters->end(), cluster);
}

}  // namespace

FleetNeed need_of(const NamespacedName& workload, const PodClaim& entry) {
  const std::string name = entry.claim.empty() ? workload.second + "-" + entry.name : entry.claim;
  return {entry.name, {workload.first, name}, entry.template_};
}

bool has_fleet_needs(const Configuration& configuration, const WorkloadFacts& workload) {
  return configuration.dra.fleet_claims &&
         std::any_of(workload.pod_sets.begin(), workload.pod_sets.end(), has_pods_with_claims);
}

FleetNeeds fleet_needs(const Configuration& configuration, const NamespacedName& id,
                       const WorkloadFacts& workload) {
  FleetNeeds needs;
  if (!configuration.dra.fleet_claims) return needs;
  for (const WorkloadPodSet& pods : workload.pod_sets) {
    if (!has_pods_with_claims(pods)) continue;
    std::string fault = pods.fleet.fault;
    for (const PodClaim& entry : pods.fleet.entries)
      if (fault.empty()) fault = add_need(need_of(id, entry), needs.all);
    if (fault.empty()) continue;
    return {{},
            "podSet " + pods.name + ": annotation " + std::string(kFleetClaimsAnnotation) + ": " +
                fault};
  }
  return needs;
}

std::vector<NamespacedName> claims_named(const NamespacedName& id, const WorkloadFacts& workload) {
  std::vector<NamespacedName> claims;
  for (const WorkloadPodSet& pods : workload.pod_sets)
    for (const PodClaim& entry : pods.fleet.entries) claims.push_back(need_of(id, entry).claim);
  return claims;
}

const FleetClaimRecord* find_claim(const FleetClaims& fleet, const NamespacedName& id) {
  const auto at = fleet.claims.find(id);
  return at == fleet.claims.end() ? nullptr : &at->second;
}

FleetClaimRecord* find_claim(FleetClaims& fleet, const NamespacedName& id) {
  const auto at = fleet.claims.find(id);
  return at == fleet.claims.end() ? nullptr : &at->second;
}

bool is_made_for(const FleetClaimRecord& claim, std::string_view uid) {
  const auto& owners = claim.seen.facts.workload_owners;
  return std::binary_search(owners.begin(), owners.end(), uid);
}

bool is_suitable(const FleetClaims& fleet, const FleetResourceClaimFacts& claim,
                 const std::string& cluster) {
  const auto at = fleet.classes.find(claim.spec.resource_class);
  return at == fleet.classes.end() || lists(at->second.facts.suitable, cluster);
}

bool is_in_reach(const FleetResourceClaimFacts& claim, const std::string& cluster) {
  return !claim.allocation || lists(claim.allocation->clusters, cluster);
}

bool is_owned(const FleetSchedulingFacts& scheduling, std::string_view uid) {
  const auto& owners = scheduling.workload_owners;
  return owners.empty() || std::binary_search(owners.begin(), owners.end(), uid);
}

const Observed<FleetSchedulingFacts>* scheduling_of(const FleetClaims& fleet,
                                                    const NamespacedName& id,
                                                    const WorkloadRecord& record) {
  const auto at = fleet.schedulings.find(id);
  if (at == fleet.schedulings.end() || !is_owned(at->second.facts, record.seen.head().uid))
    return nullptr;
  return &at->second;
}

bool is_called_unsuitable(const FleetSchedulingFacts& scheduling, const std::string& entry,
                          const std::string& cluster) {
  const auto said = scheduling.unsuitable.find(entry);
  return said != scheduling.unsuitable.end() &&
         std::binary_search(said->second.begin(), said->second.end(), cluster);
}

bool is_workload(const ClaimConsumer& consumer) {
  return consumer.api_group == kKueueGroup && consumer.resource == kWorkloads;
}

ClaimConsumer consumer_of(const std::string& name, const std::string& uid) {
  return {std::string(kKueueGroup), std::string(kWorkloads), name, uid};
}

bool is_reserved_for(const FleetClaimRecord& claim, std::string_view workload_uid) {
  const auto& entries = claim.seen.facts.reserved_for;
  return std::any_of(entries.begin(), entries.end(), [&](const ClaimConsumer& one) {
    return is_workload(one) && one.uid == workload_uid;
  });
}

bool are_claims_reserved(FleetReader state, const NamespacedName& id,
                         const WorkloadRecord& record) {
  const FleetNeeds needs = fleet_needs(state.configuration, id, record.seen->facts);
  return std::all_of(needs.all.begin(), needs.all.end(), [&](const FleetNeed& need) {
    const FleetClaimRecord* claim = find_claim(state.fleet, need.claim);
    return claim && is_reserved_for(*claim, record.seen.head().uid);
  });
}

std::size_t other_consumers(const FleetClaimRecord& claim, const NamespacedName& id) {
  const auto& entries = claim.seen.facts.reserved_for;
  const auto foreign = std::count_if(entries.begin(), entries.end(),
                                     [](const ClaimConsumer& one) { return !is_workload(one); });
  return claim.holders.size() - claim.holders.count(id) + static_cast<std::size_t>(foreign);
}

bool awaits_claims(FleetReader state, const NamespacedName& id, const WorkloadRecord& record) {
  return record.devices().reservation && record.seen->facts.cluster_name.empty() &&
         !are_claims_reserved(state, id, record);
}

std::vector<ClaimConsumer> wished_consumers(const MultiKueue& multikueue, const NamespacedName& id,
                                            const FleetClaimRecord& claim) {
  std::map<std::string, ClaimConsumer> missing;  // by name: of the claim's namespace
  for (const NamespacedName& holder : claim.holders)
    if (const auto at = multikueue.workloads.find(holder);
        at != multikueue.workloads.end() && holder.first == id.first)
      missing.emplace(holder.second, consumer_of(holder.second, at->second.seen->uid));
  std::vector<ClaimConsumer> wished;
  for (const ClaimConsumer& entry : claim.seen.facts.reserved_for) {
    const auto held = is_workload(entry) ? missing.find(entry.name) : missing.end();
    // An entry with another uid is of an earlier Workload of that name: it goes, and the one of now
    // is added below.
    const bool stays = held != missing.end() && held->second.uid == entry.uid;
    if (is_workload(entry) && !stays) continue;
    if (stays) missing.erase(held);
    wished.push_back(entry);
  }
  for (auto& [name, entry] : missing) wished.push_back(std::move(entry));
  return wished;
}

std::int64_t pod_count(const WorkloadPodSet& pods) { return pods.admitted.value_or(pods.count); }

}  // namespace fairlead
