#include "tests/simulation/checkers/all.h"
#include "tests/simulation/checkers/reading.h"
#include "tests/simulation/kueue_rules.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// What the hub leaves of a ClusterQueue passes Kueue's webhook and schema, and no server calls a
// write of the hub invalid. Servers ask Kueue's webhook themselves (Server), whose refusal is a
// 403.
class ValidForKueue final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "valid_for_kueue"; }

  void wrote(const SeenWrite& write) override {
    if (!write.by_hub()) return;
    if (write.status == 400 || write.status == 403 || write.status == 422)
      fail("the server " + write.server + " refused " + write.method + " " + write.path + " (" +
           std::to_string(write.status) + "): " + write.body);
    for (const SeenChange& change : write.changes) {
      if (change.resource != kQueueResource || change.after == nullptr) continue;
      judges();
      if (const std::string fault = fault_of_queue(*change.after); !fault.empty())
        fail(write.who + " left the ClusterQueue " + change.key + " invalid: " + fault);
    }
  }
};

}  // namespace

std::unique_ptr<Checker> valid_for_kueue(const World& world) {
  return std::make_unique<ValidForKueue>(world);
}

}  // namespace fairlead::simulation
