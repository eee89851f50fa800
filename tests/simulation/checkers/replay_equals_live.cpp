#include "engine/fold/evolve.h"
#include "snapshots/state_codec.h"
#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// A digest of State costs as much as hundreds of events.
constexpr std::uint64_t kTurnsBetween = 500;

class ReplayEqualsLive final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "replay_equals_live"; }
  void turned(std::string_view replica, const State& live, const EventLog& log) override {
    if (++turns_ % kTurnsBetween == 0) compare(replica, live, log);
  }
  void ended() override {
    for (std::size_t at = 0; at < world().replicas(); ++at)
      if (const State* live = world().state(at))
        compare("hub-" + std::to_string(at), *live, world().log(at));
  }

 private:
  // Goes on with a state of its own per replica, which dies with the process.
  void died(std::string_view replica) override { folded_.erase(std::string(replica)); }
  void compare(std::string_view replica, const State& live, const EventLog& log) {
    State& folded = folded_[std::string(replica)];
    if (live.seq > log.last_seq()) return;
    judges();
    if (const auto damage = fold_to(folded, live.seq, log); !damage.empty()) return fail(damage);
    // The live one may have closed the present moment, or not yet; what a close makes of it counts.
    if (closed(folded, live.now) != closed(live, live.now))
      fail("the log of " + std::string(replica) + " folds to another State than the live one",
           live.seq);
  }
  static Digest closed(State state, LogTime now) {
    DirtySet ignored;
    run_until(state, now, ignored);
    return state_digest(state);
  }
  static std::string fold_to(State& folded, Seq last, const EventLog& log) {
    if (folded.seq >= last) return {};
    auto reader = log.read(next(folded.seq));
    if (!reader) return reader.error().message;
    DirtySet ignored;
    while (folded.seq < last) {
      auto event = (*reader)->next();
      if (!event) return event.error().message;
      if (!*event) return "the log ends before State";
      evolve(folded, **event, ignored);
    }
    return {};
  }

  std::uint64_t turns_ = 0;
  std::map<std::string, State> folded_;
};

}  // namespace

std::unique_ptr<Checker> replay_equals_live(const World& world) {
  return std::make_unique<ReplayEqualsLive>(world);
}

}  // namespace fairlead::simulation
