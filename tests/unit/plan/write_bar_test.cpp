#include <catch2/catch.hpp>

#include "engine/fold/writes/record.h"
#include "engine/plan/emit.h"

namespace fairlead {
namespace {

const ObjectKey kQueue{Kind::cluster_queue, "", "q"};

PatchIntended intent_with(const std::string& body) {
  PatchIntended intent = hub_intent(Verb::apply, kQueue, "v1beta2", "u", "10");
  intent.body = body;
  return intent;
}

struct Written {
  Written() { state.now = LogTime{seconds(1000).ns}; }
  WriteState& write() { return state.writes.by_key[write_key(intent)]; }
  WriteBar bar(const PatchIntended& of) const { return write_bar(state, of, Pacing::by_interval); }

  State state;
  PatchIntended intent = intent_with("{}");
};

TEST_CASE("an object is not written again before the watch has shown the last write") {
  Written written;
  CHECK(written.bar(written.intent) == WriteBar::none);
  written.write().await_version("11");
  CHECK(written.bar(written.intent) == WriteBar::not_seen_yet);
  written.write().await_nothing();
  CHECK(written.bar(written.intent) == WriteBar::none);
}

TEST_CASE("a body that was refused waits, another one does not; after a conflict each waits") {
  Written written;
  const PatchIntended other = intent_with("{\"spec\":{}}");
  Refusal refusal;
  refusal.intent = wish_of(written.intent);
  refusal.retry_at = written.state.now + seconds(1);
  written.write().refusal = refusal;
  CHECK(written.bar(written.intent) == WriteBar::refused);
  CHECK(written.bar(other) == WriteBar::none);
  refusal.intent = Digest{};
  written.write().refusal = refusal;
  CHECK(written.bar(other) == WriteBar::refused);
  written.state.now = refusal.retry_at;
  CHECK(written.bar(other) == WriteBar::none);
}

}  // namespace
}  // namespace fairlead
