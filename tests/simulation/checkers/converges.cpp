#include "tests/simulation/checkers/all.h"
#include "tests/simulation/ending.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// Once faults have healed and all has settled, what the hub owns of every object is what it owns at
// the end of the run with the same workload in which nothing went wrong.
class Converges final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "converges"; }

  void ended() override {
    if (undisturbed(world().storm()) == world().storm()) return;  // it would be this run again
    judges();
    const Ending& calm = undisturbed_ending(world().storm(), world().incident());
    if (const std::string where = difference(calm, ending_of(world())); !where.empty())
      fail("at rest the hub leaves another state than in the undisturbed run: " + where);
  }
};

}  // namespace

std::unique_ptr<Checker> converges(const World& world) {
  return std::make_unique<Converges>(world);
}

}  // namespace fairlead::simulation
