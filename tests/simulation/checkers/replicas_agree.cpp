#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

class ReplicasAgree final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "replicas_agree"; }
  void ended() override {
    if (world().replicas() > 1) judges();
    std::size_t longest = 0;
    for (std::size_t at = 1; at < world().replicas(); ++at)
      if (world().log(at).last_seq() > world().log(longest).last_seq()) longest = at;
    for (std::size_t at = 0; at < world().replicas(); ++at) {
      if (world().log(at).chain() == world().log(longest).chain()) continue;
      const Seq last = world().log(at).last_seq();
      fail("an hour after the last fault the log of hub-" + std::to_string(at) + " ends at seq " +
               std::to_string(last.value) + " with another chain than that of hub-" +
               std::to_string(longest) + " at seq " +
               std::to_string(world().log(longest).last_seq().value),
           next(last));
    }
  }
};

}  // namespace

std::unique_ptr<Checker> replicas_agree(const World& world) {
  return std::make_unique<ReplicasAgree>(world);
}

}  // namespace fairlead::simulation
