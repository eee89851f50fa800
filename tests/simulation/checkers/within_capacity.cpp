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
// losses. A flavor that no machine had since the hub first wrote, when it had listed all, may be
// one that it never saw there: its rows are bound by the cluster's total alone. Where members have
// the queue, the pair is at most the sum of what their queues admit, and stays so where the agent
// of a member lowers it there.
class WithinCapacity final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "within_capacity"; }

  void wrote(const SeenWrite& write) override {
    read_admission();
    if (write.by_hub()) first_write_ = std::min(first_write_, write.time);
    for (const SeenChange& change : write.changes) {
      if (change.resource == kClaimResource && change.after != nullptr)
        claimed_.insert(change.after->at("spec").value("clusterName", ""));
      if (change.resource != kQueueResource) continue;
      if (write.server != kHub) {
        if (write.who == "work-agent") judge_lowered(write, change);
        continue;
      }
      if (write.by_hub() && change.before != nullptr && change.after != nullptr)
        judge(write, change);
      stored_[change.key] = change.after == nullptr ? Nominals() : nominals_in(*change.after);
    }
  }

 private:
  using Nominals = std::map<SeenPair, Int128>;

  Nominals nominals_in(const Json& queue) const {
    return nominals_of(queue, world().configuration().resource_aliases);
  }

  void judge(const SeenWrite& write, const SeenChange& change) {
    const Nominals before = nominals_in(*change.before), after = nominals_in(*change.after);
    std::vector<SeenPair> grown;
    for (const auto& [pair, nano] : after) {
      const auto was = before.find(pair);
      if (was != before.end() && was->second == nano) continue;  // perhaps another writer's value
      promised_[pair][change.key] = nano;
      if (was == before.end() || was->second < nano) grown.push_back(pair);
    }
    for (const SeenPair& pair : grown) {
      judges();
      Int128 promise = 0;
      for (const auto& [queue, nano] : promised_[pair]) promise += nano;
      Int128 most = 0;
      for (const std::string& cluster : claimed_) most += most_of(cluster, pair, write.time);
      if (promise > most)
        fail(write.who + " wrote " + change.key + ": " + pair.first + " " + pair.second + " is " +
             whole(promise) + " over all queues, but machines offered at most " + whole(most));
      judge_members(write, change.key, pair, after.at(pair));
    }
  }

  Int128 most_of(const std::string& cluster, const SeenPair& pair, LogTime now) const {
    const Record& record = world().record();
    const LogTime from = begin_of_hold(now);
    return offered(record, cluster, pair, first_write_, now).most > 0
               ? offered(record, cluster, pair, from, now).most
               : offered_in_total(record, cluster, pair.second, from, now);
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
    const auto admits = admitted(queue, pair, write.time);
    if (admits && nano > *admits)
      fail(write.who + " let " + queue + " grow to " + whole(nano) + " of " + pair.first + " " +
           pair.second + ", but members admit " + whole(*admits));
  }

  // What another writer left on the hub is no promise of ours.
  void judge_lowered(const SeenWrite& write, const SeenChange& change) {
    if (change.before == nullptr) return;
    const Nominals after = change.after == nullptr ? Nominals() : nominals_in(*change.after);
    for (const auto& [pair, was] : nominals_in(*change.before)) {
      const auto is = after.find(pair);
      if (is != after.end() && is->second >= was) continue;
      judges();
      const Int128 promise =
          std::min(value_in(stored_[change.key], pair), promised_[pair][change.key]);
      const auto admits = admitted(change.key, pair, write.time);
      if (promise > admits.value_or(0))
        fail(write.server + " admits less of " + change.key + " " + pair.first + " " + pair.second +
             ", and members together " + whole(admits.value_or(0)) + ", while the hub promises " +
             whole(promise));
    }
  }
  static Int128 value_in(const Nominals& nominals, const SeenPair& pair) {
    const auto at = nominals.find(pair);
    return at == nominals.end() ? Int128{0} : at->second;
  }

  void read_admission() {
    const auto& seen = world().record().admission;
    for (; read_ < seen.size(); ++read_)
      admission_[seen[read_].queue][seen[read_].cluster].emplace_back(seen[read_].time,
                                                                      seen[read_].quota);
  }
  // The sum over members of what their queue admitted of the pair: now, and while faults delay what
  // is observed the most of it since begin_of_hold(). None: no member ever had the queue.
  std::optional<Int128> admitted(const std::string& queue, const SeenPair& pair,
                                 LogTime now) const {
    const auto members = admission_.find(queue);
    if (members == admission_.end()) return std::nullopt;
    const LogTime from = world().record().faults.empty() ? now : begin_of_hold(now);
    Int128 sum = 0;
    for (const auto& [cluster, values] : members->second) {
      std::int64_t most = 0;
      for (auto at = values.rbegin(); at != values.rend(); ++at) {
        const auto quota = at->second.find(pair);
        most = std::max(most, quota == at->second.end() ? 0 : quota->second);
        if (at->first <= from) break;
      }
      sum += Int128{most} * 1'000'000'000;
    }
    return sum;
  }

  LogTime first_write_ = kForever;                              ///< of the hub
  std::set<std::string> claimed_;                               ///< clusters that ever had a claim
  std::map<SeenPair, std::map<std::string, Int128>> promised_;  ///< by queue: what the hub wrote
  std::map<std::string, Nominals> stored_;                      ///< by queue: what the hub has
  std::map<std::string, std::map<std::string, std::vector<std::pair<LogTime, Amounts>>>>
      admission_;  ///< by queue and member
  std::size_t read_ = 0;
};

}  // namespace

std::unique_ptr<Checker> within_capacity(const World& world) {
  return std::make_unique<WithinCapacity>(world);
}

}  // namespace fairlead::simulation
