#include "engine/base/base64.h"
#include "schema/codec.h"
#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// Shorter values are words that anything may contain.
constexpr std::size_t kCanaryBytesMin = 8;

// No value of a Secret is in an event or in a write of the hub, encoded or not.
class SecretsNowhere final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "secrets_nowhere"; }

  void wrote(const SeenWrite& write) override {
    for (const SeenChange& change : write.changes)
      if (change.resource == "secrets." && change.after != nullptr) note(*change.after);
    if (!write.by_hub()) return;
    if (const std::string* found = canary_in(write.body))
      fail(write.who + " wrote a value of a Secret to " + write.path + ": " + *found);
  }
  void acknowledged(const SeenEvent& seen) override {
    if (canaries_.empty()) return;
    if (const std::string* found = canary_in(encode(seen.event)))
      fail("an event has a value of a Secret: " + *found, seen.event.seq);
  }

 private:
  void note(const Json& secret) {
    const Json data = secret.value("data", Json::object());
    for (const auto& [key, value] : data.items()) {
      if (!value.is_string()) continue;
      const std::string text = value;
      if (text.size() < kCanaryBytesMin) continue;
      canaries_.insert(text);
      if (auto plain = decode_base64(text); plain && plain->size() >= kCanaryBytesMin)
        canaries_.insert(*plain);
    }
  }
  const std::string* canary_in(const std::string& text) const {
    for (const std::string& canary : canaries_)
      if (text.find(canary) != std::string::npos) return &canary;
    return nullptr;
  }

  std::set<std::string> canaries_;
};

}  // namespace

std::unique_ptr<Checker> secrets_nowhere(const World& world) {
  return std::make_unique<SecretsNowhere>(world);
}

}  // namespace fairlead::simulation
