#include "tests/simulation/checkers/all.h"
#include "tests/simulation/checkers/reading.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

constexpr std::uint64_t kTurnsBetweenSums = 20;

// The grants of a claim sum to no more than what is accepted of its cluster over all flavors, and
// none exceeds its assignment. No accepted value is more than the cluster's machines ever offered.
class SumsWithinBound final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "sums_within_bound"; }

  void turned(std::string_view, const State& state, const EventLog&) override {
    if (++turns_ % kTurnsBetweenSums != 0 || !state.claims.dirty.empty() ||
        !state.dirty_clusters.empty())
      return;  // an open moment: grants are of the one before
    for (const auto& [name, cluster] : state.clusters) judge(state, name, cluster);
  }

 private:
  void judge(const State& state, const std::string& name, const Cluster& cluster) {
    std::map<std::string, Int128> accepted;
    for (const auto& [key, value] : cluster.capacity) {
      judges();
      accepted[key.resource] += value.damped.accepted;
      const std::optional<Int128> most = most_offered(name, key);
      if (most && value.damped.accepted > *most)
        fail(name + " has accepted " + std::to_string(value.damped.accepted) + " of " + key.flavor +
                 " " + key.resource + ", which its machines never offered",
             state.seq);
    }
    const auto claims = state.claims.of_cluster.find(name);
    if (claims == state.claims.of_cluster.end() || !cluster.known || cluster.lost()) return;
    std::map<std::string, Int128> granted;
    for (const std::string& claim_name : claims->second) {
      const Claim& claim = state.claims.by_name.at(claim_name);
      if (!claim.winner || !claim.known) continue;
      for (const Grant& grant : claim.grants) {
        granted[grant.row.resource] += grant.granted;
        if (grant.granted < 0 || grant.granted > grant.row.assigned)
          fail(claim_name + " grants " + std::to_string(grant.granted) + " of " +
                   std::to_string(grant.row.assigned) + " to " + grant.row.cluster_queue,
               state.seq);
      }
    }
    const Int128 percent = state.configuration.overbook_percent;
    for (const auto& [resource, sum] : granted)
      if (sum * 100 > accepted[resource] * percent)
        fail(name + " grants more " + resource + " than is accepted of it", state.seq);
  }

  // In the units of Amount; none of a resource that the world does not record.
  std::optional<Int128> most_offered(const std::string& cluster, const CapacityKey& key) {
    const auto& seen = world().record().capacity;
    for (; read_ < seen.size(); ++read_)
      for (const auto& [pair, amount] : seen[read_].usable) {
        Int128& most = most_[{seen[read_].cluster, pair}];
        most = std::max(most, Int128{amount} * (pair.second == "cpu" ? 1000 : 1));
      }
    const auto at = most_.find({cluster, {key.flavor, key.resource}});
    return at == most_.end() ? std::nullopt : std::optional(at->second);
  }

  std::uint64_t turns_ = 0;
  std::size_t read_ = 0;
  std::map<std::pair<std::string, SeenPair>, Int128> most_;
};

}  // namespace

std::unique_ptr<Checker> sums_within_bound(const World& world) {
  return std::make_unique<SumsWithinBound>(world);
}

}  // namespace fairlead::simulation
