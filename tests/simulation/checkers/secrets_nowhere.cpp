#include <sstream>

#include "engine/base/base64.h"
#include "schema/codec.h"
#include "snapshots/state_codec.h"
#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// Shorter values are words that anything may contain.
constexpr std::size_t kCanaryBytesMin = 16;

// No value of a Secret, and no long word of one, is in an event, a write of the hub, a line that it
// prints, a KubeEvent or a snapshot, encoded or not.
class SecretsNowhere final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "secrets_nowhere"; }

  void wrote(const SeenWrite& write) override {
    for (const SeenChange& change : write.changes)
      if (change.resource == "secrets." && change.after != nullptr) note(*change.after);
    if (write.by_hub()) look_into(write.body, write.who + " wrote to " + write.path);
  }
  void acknowledged(const SeenEvent& seen) override {
    if (!canaries_.empty()) look_into(encode(seen.event), "an event", seen.event.seq);
  }
  void heard(std::string_view replica, const std::string& text) override {
    look_into(text, std::string(replica) + " printed a line");
  }
  void died(std::string_view) override { look_into_states(); }
  void ended() override { look_into_states(); }

 private:
  void note(const Json& secret) {
    const Json data = secret.value("data", Json::object());
    for (const auto& [key, value] : data.items()) {
      if (!value.is_string()) continue;
      add(value);
      const auto plain = decode_base64(value.get<std::string>());
      if (!plain) continue;
      std::istringstream words(*plain);
      for (std::string word; words >> word;) add(word);
    }
  }
  void add(const std::string& value) {
    if (value.size() >= kCanaryBytesMin) canaries_.insert(value);
  }
  // What a snapshot of each living replica would hold.
  void look_into_states() {
    if (canaries_.empty()) return;
    for (std::size_t at = 0; at < world().replicas(); ++at)
      if (const State* state = world().state(at))
        look_into(encode_state(*state), "the snapshot of hub-" + std::to_string(at), state->seq);
  }
  void look_into(const std::string& text, const std::string& what, Seq seq = {}) {
    if (canaries_.empty() || text.empty()) return;
    judges();
    for (const std::string& canary : canaries_)
      if (text.find(canary) != std::string::npos)
        fail("a value of a Secret leaks: " + what + ": " + canary, seq);
  }

  std::set<std::string> canaries_;
};

}  // namespace

std::unique_ptr<Checker> secrets_nowhere(const World& world) {
  return std::make_unique<SecretsNowhere>(world);
}

}  // namespace fairlead::simulation
