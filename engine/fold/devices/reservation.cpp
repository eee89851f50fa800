#include "engine/fold/devices/reservation.h"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

bool is_entry(const PodDeviceFacts& pod, const std::string& name) {
  return std::any_of(pod.claims.begin(), pod.claims.end(),
                     [&](const PodClaim& entry) { return entry.name == name; });
}

// Takes what claims use out of the index while it lives.
class WithoutUses {
 public:
  WithoutUses(const Cluster& cluster, SearchIndex& index, const std::set<NamespacedName>& claims)
      : cluster_(cluster), index_(index), claims_(claims) {
    for (const NamespacedName& claim : claims_) index_.set_uses(claim, {});
  }
  ~WithoutUses() {
    for (const NamespacedName& claim : claims_)
      index_.set_uses(claim, known_uses(cluster_, index_, claim));
  }
  WithoutUses(const WithoutUses&) = delete;
  WithoutUses& operator=(const WithoutUses&) = delete;

 private:
  const Cluster& cluster_;
  SearchIndex& index_;
  const std::set<NamespacedName>& claims_;
};

// Whether a pod wants every device there is: then one more, or one less, is another solution.
bool asks_for_all(const FitQuestion& question) {
  const auto has_all = [](const DeviceClaimSpec& spec) {
    return std::any_of(spec.requests.begin(), spec.requests.end(), [](const DeviceRequest& each) {
      return std::any_of(each.asks.begin(), each.asks.end(),
                         [](const DeviceAsk& ask) { return ask.mode == AllocationMode::all; });
    });
  };
  return std::any_of(
      question.pod_sets.begin(), question.pod_sets.end(), [&](const PodSetToFit& pods) {
        return std::any_of(
            pods.pod->claims.begin(), pods.pod->claims.end(), [&](const PodClaim& entry) {
              const auto named = question.claim_of(entry.claim);
              const auto* made = question.template_of(entry.template_);
              return (named && has_all(named->facts->spec)) || (made && has_all(made->spec));
            });
      });
}

}  // namespace

bool is_of(const PodDeviceFacts& pod, const FitClaim& reserved, const ResourceClaimFacts& claim) {
  // No claim ever replaces what a device plugin serves.
  if (claim.extended) return !is_entry(pod, reserved.entry) && reserved.of_plugin == 0;
  return reserved.entry == claim.pod_claim && is_entry(pod, reserved.entry);
}

bool touches(const DeviceChanges& changes, const std::vector<FitPod>& pods) {
  const auto pool_changed = [&](const FitDevice& device) {
    return changes.pools.contains({device.device.driver, device.device.pool});
  };
  return std::any_of(pods.begin(), pods.end(), [&](const FitPod& pod) {
    return changes.nodes.contains(pod.node) ||
           std::any_of(pod.claims.begin(), pod.claims.end(), [&](const FitClaim& claim) {
             return std::any_of(claim.devices.begin(), claim.devices.end(), pool_changed);
           });
  });
}

// Only the first question leaves out what claims of the pods' own use: a driver gives a pod the
// devices that were reserved for it by such a claim, and that must not break its reservation. A new
// solution cannot give these devices again, so there they count as used.
std::optional<std::vector<FitPod>> solve_again(const Cluster& cluster, SearchIndex& index,
                                               const FitQuestion& question,
                                               const std::vector<FitPod>& pods,
                                               const std::set<NamespacedName>& own) {
  {
    const WithoutUses free(cluster, index, own);
    if (asks_for_all(question) ? fit(index.devices, question).pods == pods
                               : still_fits(index.devices, question, pods))
      return pods;
  }
  FitAnswer answer = fit(index.devices, question);
  index.steps += answer.steps;
  if (answer.refusal) return std::nullopt;
  return std::move(answer.pods);
}

}  // namespace fairlead
