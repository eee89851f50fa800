#include <algorithm>

#include "tests/simulation/checkers/all.h"
#include "tests/simulation/checkers/reading.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// What the way from a machine to a write may take beside the windows: coalescing, answers, rounds.
constexpr Duration kOnTheWay = seconds(30);

// The hub never promises what no member can admit, on any prefix of the writes that servers took:
// where a write lets a pair grow, the sum over queues of what the hub wrote of the pair is at most
// the sum over clusters of the most that their machines offered since the longest time for which
// damping may hold a loss back: shrinkWindow and massShrinkHold, and lostAfter while faults hide
// losses. Where a member's own ClusterQueue is written, the pair is at most what members admit.
class WithinCapacity final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "within_capacity"; }

  void wrote(const SeenWrite& write) override {
    for (const SeenChange& change : write.changes)
      if (change.resource == kClaimResource && change.after != nullptr)
        claimed_.insert(change.after->at("spec").value("clusterName", ""));
    if (!write.by_hub() || write.server != kHub) return;
    for (const SeenChange& change : write.changes)
      if (change.resource == kQueueResource && change.before != nullptr && change.after != nullptr)
        judge(write, change);
  }

 private:
  void judge(const SeenWrite& write, const SeenChange& change) {
    const auto& aliases = world().configuration().resource_aliases;
    const auto before = nominals_of(*change.before, aliases);
    const auto after = nominals_of(*change.after, aliases);
    std::vector<SeenPair> grown;
    for (const auto& [pair, nano] : after) {
      const auto was = before.find(pair);
      if (was != before.end() && was->second == nano) continue;  // perhaps another writer's value
      promised_[pair][change.key] = nano;
      if (was == before.end() || was->second < nano) grown.push_back(pair);
    }
    for (const SeenPair& pair : grown) {
      Int128 promise = 0;
      for (const auto& [queue, nano] : promised_[pair]) promise += nano;
      Int128 most = 0;
      for (const std::string& cluster : claimed_)
        most +=
            offered(world().record(), cluster, pair, begin_of_hold(write.time), write.time).most;
      if (promise > most)
        fail(write.who + " wrote " + change.key + ": " + pair.first + " " + pair.second + " is " +
             whole(promise) + " over all queues, but machines offered at most " + whole(most));
      judge_members(write, change.key, pair, after.at(pair));
    }
  }

  LogTime begin_of_hold(LogTime now) const {
    const DebounceSettings& windows = world().configuration().debounce;
    Duration hold = kOnTheWay;
    hold.ns += windows.shrink_window.ns + windows.mass_shrink_hold.ns;
    const Record& record = world().record();
    if (!record.faults.empty() && now < record.healed + windows.lost_after)
      hold.ns += windows.lost_after.ns;
    return {std::max(record.began.ns, now.ns - hold.ns)};
  }

  void judge_members(const SeenWrite& write, const std::string& queue, const SeenPair& pair,
                     Int128 nano) {
    std::map<std::string, Int128> admits;
    for (const SeenAdmission& seen : world().record().admission) {
      if (seen.queue != queue || seen.time > write.time) continue;
      const auto quota = seen.quota.find(pair);
      admits[seen.cluster] =
          quota == seen.quota.end() ? Int128{0} : Int128{quota->second} * 1'000'000'000;
    }
    if (admits.empty()) return;
    Int128 sum = 0;
    for (const auto& [cluster, amount] : admits) sum += amount;
    if (nano > sum)
      fail(write.who + " let " + queue + " grow to " + whole(nano) + " of " + pair.first + " " +
           pair.second + ", but members admit " + whole(sum));
  }

  std::set<std::string> claimed_;                               ///< clusters that ever had a claim
  std::map<SeenPair, std::map<std::string, Int128>> promised_;  ///< by queue: what the hub wrote
};

}  // namespace

std::unique_ptr<Checker> within_capacity(const World& world) {
  return std::make_unique<WithinCapacity>(world);
}

}  // namespace fairlead::simulation
