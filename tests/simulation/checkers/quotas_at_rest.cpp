#include <algorithm>

#include "tests/simulation/checkers/all.h"
#include "tests/simulation/checkers/reading.h"
#include "tests/simulation/ending.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

constexpr Int128 kUnit = 1'000'000'000;

// Once faults have healed and all has settled, the hub's queues have per cluster what its claim
// assigns, as far as its machines offer it.
class QuotasAtRest final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "quotas_at_rest"; }

  void wrote(const SeenWrite& write) override {
    objects_.wrote(write);
    for (const SeenChange& change : write.changes) {
      if (change.resource == kClaimResource && change.after != nullptr)
        if (auto rows = rows_of(*change.after, aliases())) rows_[change.key] = *std::move(rows);
      if (change.resource == kClaimResource && change.after == nullptr) rows_.erase(change.key);
    }
  }

  void ended() override {
    std::map<std::string, std::map<SeenPair, Int128>> expected;
    if (!world().configuration().headroom.percent.empty()) return;  // what is left is not exact
    for (const auto& [name, claim] : objects_.of(std::string(kHub), kClaimResource))
      add_grants(*claim, rows_[name], expected);
    const std::set<std::string> left_alone = left_alone_in(world());
    const auto& queues = objects_.of(std::string(kHub), kQueueResource);
    for (const auto& [queue, pairs] : expected) {
      const auto at = queues.find(queue);
      if (at == queues.end() || left_alone.contains(queue)) continue;
      const auto nominals = nominals_of(*at->second, aliases());
      for (const auto& [pair, nano] : pairs) {
        judges();
        const auto is = nominals.find(pair);
        if (is == nominals.end() || is->second != nano)
          fail("at rest " + queue + " has " + (is == nominals.end() ? "no" : whole(is->second)) +
               " " + pair.first + " " + pair.second + ", and claims and machines give " +
               whole(nano));
      }
    }
  }

 private:
  const std::map<std::string, std::string>& aliases() const {
    return world().configuration().resource_aliases;
  }

  // Where a flavor's rows do not all fit, how they share it is not judged here: claims of the world
  // have one row of each.
  void add_grants(const Json& claim, const std::vector<SeenRow>& rows,
                  std::map<std::string, std::map<SeenPair, Int128>>& expected) const {
    const std::string cluster = claim.at("spec").value("clusterName", "");
    const LogTime now = world().now();
    for (const SeenRow& row : rows) {
      const auto same = std::count_if(rows.begin(), rows.end(),
                                      [&](const SeenRow& other) { return other.pair == row.pair; });
      if (same > 1) continue;
      const Int128 usable = offered(world().record(), cluster, row.pair, now, now).most;
      Int128 granted = std::min(row.assigned, usable);
      if (usable < row.assigned) {  // floored to the quantum
        const Int128 quantum = row.pair.second == "memory" ? kUnit << 20 : kUnit;
        granted = usable / quantum * quantum;
      }
      expected[row.queue][row.pair] += granted;
    }
  }

  SeenObjects objects_;
  std::map<std::string, std::vector<SeenRow>> rows_;  ///< of the last valid spec, by claim
};

}  // namespace

std::unique_ptr<Checker> quotas_at_rest(const World& world) {
  return std::make_unique<QuotasAtRest>(world);
}

}  // namespace fairlead::simulation
