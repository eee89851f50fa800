#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

class NoWritesWhenQuiet final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "no_writes_when_quiet"; }
  void wrote(const SeenWrite& write) override {
    if (!write.by_hub() || write.time < world().record().quiet) return;
    fail("nothing has changed, and " + write.who + " wrote " + write.method + " " + write.server +
         write.path + ": " + write.body);
  }
  void ended() override { judges(); }  // the hour has passed
};

}  // namespace

std::unique_ptr<Checker> no_writes_when_quiet(const World& world) {
  return std::make_unique<NoWritesWhenQuiet>(world);
}

}  // namespace fairlead::simulation
