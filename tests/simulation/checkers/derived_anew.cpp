#include "engine/plan/plan.h"
#include "tests/simulation/anew.h"
#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// Deriving everything costs as much as hundreds of turns.
constexpr std::uint64_t kTurnsBetweenDerivations = 300;

// What the fold derived step by step is what everything, derived anew, is; and at rest, planning
// everything finds no write that the dirty sets forgot.
class DerivedAnew final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "derived_anew"; }

  void turned(std::string_view replica, const State& state, const EventLog&) override {
    if (++turns_ % kTurnsBetweenDerivations == 0) compare(replica, state);
  }
  void ended() override {
    for (std::size_t at = 0; at < world().replicas(); ++at) {
      const State* state = world().state(at);
      if (state == nullptr) continue;
      const std::string replica = "hub-" + std::to_string(at);
      compare(replica, *state);
      DirtySet all;
      all.everything = true;
      for (const PatchIntended& intent : plan(*state, all))
        fail(replica + " is at rest, and the plan has a write of " + intent.target.name + " (" +
                 intent.reason.rule + ": " + intent.reason.text + ")",
             state->seq);
    }
  }

 private:
  void compare(std::string_view replica, const State& state) {
    if (state.configuration_seq == Seq{}) return;
    judges();
    if (const std::string where = differs_derived_anew(state); !where.empty())
      fail("the State of " + std::string(replica) + " is not what is derived anew:" + where,
           state.seq);
  }

  std::uint64_t turns_ = 0;
};

}  // namespace

std::unique_ptr<Checker> derived_anew(const World& world) {
  return std::make_unique<DerivedAnew>(world);
}

}  // namespace fairlead::simulation
