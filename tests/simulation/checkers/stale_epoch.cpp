#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// No replica sends a write after another one's later term is durable. What was sent before may
// arrive later: preconditions of the write deal with that.
class StaleEpoch final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "stale_epoch"; }

  void acknowledged(const SeenEvent& seen) override {
    if (std::holds_alternative<EpochStarted>(seen.event.fact))
      began_.try_emplace(seen.event.epoch, seen.time);
  }
  // Leases, and what the ring keeps in the API server, are how a term begins: they are not of one.
  void wrote(const SeenWrite& write) override {
    if (!write.by_hub() || write.path.find("/leases") != std::string::npos ||
        write.path.find("fairlead.io/") != std::string::npos)
      return;
    judges();
    const auto later = began_.upper_bound(write.epoch);
    if (later != began_.end() && later->second < write.sent)
      fail(write.who + " sent " + write.method + " " + write.path + " in epoch " +
           std::to_string(write.epoch.value) + " at " + to_rfc3339(write.sent) + ", but epoch " +
           std::to_string(later->first.value) + " had begun at " + to_rfc3339(later->second));
  }

 private:
  std::map<Epoch, LogTime> began_;  ///< when its beginning was durable first
};

}  // namespace

std::unique_ptr<Checker> stale_epoch(const World& world) {
  return std::make_unique<StaleEpoch>(world);
}

}  // namespace fairlead::simulation
