#include "engine/devices/fit/node_capacity.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "engine/devices/fit/pod_solver.h"

namespace fairlead::fitting {

namespace {

// A node of eight devices needs some dozen. Where it takes more, the count that is not exact does.
constexpr std::int64_t kStepsMax = 2000;

// Versions of pools say that something was taken or given back. Afterwards all is as before, and
// what was counted then holds still.
class SameVersions {
 public:
  explicit SameVersions(const std::vector<DevicePlace>& places) {
    for (const DevicePlace& place : places) versions_.emplace_back(place.pool, place.pool->version);
  }
  SameVersions(const SameVersions&) = delete;
  SameVersions& operator=(const SameVersions&) = delete;
  ~SameVersions() {
    for (const auto& [pool, version] : versions_) pool->version = version;
  }

 private:
  std::vector<std::pair<IndexedPool*, std::uint64_t>> versions_;
};

}  // namespace

std::optional<std::int64_t> node_capacity(ClusterDeviceIndex& devices, Taken& taken, Kinds& kinds,
                                          const PodPlan& plan, DeviceNode& node,
                                          std::int64_t at_most, std::int64_t& steps) {
  const SameVersions versions(devices.places(node));
  PodSolver solver(devices, taken, kinds, kStepsMax);
  std::vector<PodSearch> pods;
  // States in which no further pod was placed without success, with how many pods there were.
  std::set<std::pair<std::size_t, TakenState>> seen;
  std::size_t best = 0;
  bool known = true;
  PodOutcome outcome = solver.first(plan, node, pods.emplace_back());
  while (known && std::cmp_less(best, at_most)) {
    if (outcome == PodOutcome::budget) {
      known = false;
    } else if (outcome == PodOutcome::found && taken.picks().size() == pods.back().first_pick) {
      best = static_cast<std::size_t>(at_most);  // they take nothing
    } else if (outcome == PodOutcome::found && seen.emplace(pods.size(), taken.state()).second) {
      best = std::max(best, pods.size());
      taken.enter_pod();
      outcome = solver.first(plan, node, pods.emplace_back());
    } else if (outcome == PodOutcome::found) {
      outcome = solver.next(pods.back());
    } else {
      pods.pop_back();
      if (pods.empty()) break;
      taken.return_to_pod();
      outcome = solver.next(pods.back());
    }
  }
  // With the budget spent, or `at_most` reached, pods are still placed.
  while (!pods.empty()) {
    while (taken.picks().size() > pods.back().first_pick) taken.give_back();
    pods.pop_back();
    if (!pods.empty()) taken.return_to_pod();
  }
  steps += solver.steps();
  if (!known) return std::nullopt;
  return static_cast<std::int64_t>(best);
}

}  // namespace fairlead::fitting
