#include "engine/fold/claims/claim_status_observation.h"

#include <catch2/catch.hpp>

#include "engine/fold/close.h"
#include "engine/fold/writes/outcomes.h"

namespace fairlead::claim_status_observation_test {
namespace {

const ObjectKey kClaim{Kind::claim, "", "k"};

Digest status(const std::string& text) { return sha256(text); }

ClaimFacts with(const Digest& digest) {
  ClaimFacts facts;
  facts.status_digest = digest;
  return facts;
}

ObjectObserved seen_as(const std::string& version, const Digest& digest) {
  return {kClaim, "v1alpha1", "u", version, 1, with(digest), {}};
}

PatchIntended intent_of(const Digest& digest, const std::string& version = "7") {
  PatchIntended intent;
  intent.cluster = kHub;
  intent.verb = Verb::apply_status;
  intent.target = kClaim;
  intent.resource_version = version;
  intent.body = "{}";
  intent.expected = with(digest);
  return intent;
}

// A claim of version 7 with a foreign status, and our write of the status `ours` on its way.
struct Hub {
  State state;
  Claim& claim = state.claims.by_name["k"];

  Hub() {
    claim.resource_version = "7";
    claim.facts = with(status("theirs"));
    note_intent(state, intent_of(status("ours")), Seq{5});
  }
  WriteState& write() { return state.writes.by_key.begin()->second; }
  void accepted(const std::string& version) {
    hand_on(state, note_accepted(state, {Seq{5}, 200, "u", version}));
  }
};

TEST_CASE("claim status: while a write is on its way no other status is foreign") {
  Hub hub;
  CHECK_FALSE(status_is_foreign(hub.state, "k"));
  CHECK_FALSE(shows_foreign_status(hub.state.writes, "k", with(status("ours"))));
  CHECK(is_known_status(hub.state, "k", with(status("ours"))));
  CHECK(is_known_status(hub.state, "k", with(status("theirs"))));  // as State has it
  CHECK_FALSE(is_known_status(hub.state, "k", with(status("another"))));
}

TEST_CASE("claim status: an accepted write counts as observed until the watch brings it") {
  Hub hub;
  hub.accepted("8");
  CHECK(hub.write().status() == StatusLeft{"{}", status("ours"), "8"});
  CHECK(hub.claim.facts.status_digest == status("ours"));
  CHECK_FALSE(status_is_foreign(hub.state, "k"));
  CHECK(shows_foreign_status(hub.state.writes, "k", with(status("theirs"))));
  CHECK_FALSE(shows_foreign_status(hub.state.writes, "k", with(Digest{})));
}

TEST_CASE("claim status: an answer from before what was seen changes nothing that was seen") {
  Hub hub;
  hub.claim.resource_version = "9";
  hub.accepted("8");
  CHECK(hub.claim.facts.status_digest == status("theirs"));
  CHECK(status_is_foreign(hub.state, "k"));
  // Further foreign statuses are known as such, and need no event; ours does.
  CHECK(is_known_status(hub.state, "k", with(status("another"))));
  CHECK_FALSE(is_known_status(hub.state, "k", with(status("ours"))));
}

TEST_CASE("claim status: a write that changed nothing left what stood there") {
  Hub hub;
  hub.accepted("7");
  CHECK(hub.write().status() == StatusLeft{"{}", status("theirs"), "7"});
  CHECK_FALSE(status_is_foreign(hub.state, "k"));
}

TEST_CASE("claim status: what the server kept of our write is what its version shows") {
  Hub hub;
  hub.accepted("8");
  note_status_seen(hub.write(), seen_as("9", status("theirs")));
  CHECK(hub.write().status().digest == status("ours"));
  note_status_seen(hub.write(), seen_as("8", status("pruned")));
  CHECK(hub.write().status().digest == status("pruned"));
  note_status_seen(hub.write(), seen_as("8", Digest{}));  // a record that does not say
  CHECK(hub.write().status().digest == status("pruned"));
}

TEST_CASE("claim status: of a log without digests the first sight after a write is ours") {
  WriteState write;
  note_status_seen(write, seen_as("8", status("seen")));
  CHECK(write.status().digest == Digest{});  // we never wrote it
  write.change_status().body = "{}";
  note_status_seen(write, seen_as("8", status("seen")));
  CHECK(write.status().digest == status("seen"));
  note_status_seen(write, seen_as("9", status("later")));
  CHECK(write.status().digest == status("seen"));
}

TEST_CASE("claim status: a write without an answer has happened if what it leaves is observed") {
  Hub hub;
  hand_on(hub.state, note_unknown(hub.state, {Seq{5}, "timeout"}));
  const auto observe = [&](const std::string& version, const Digest& digest) {
    hub.claim.resource_version = version;
    hub.claim.facts = with(digest);
    hand_on(hub.state, note_observed(hub.state, std::string(kHub), seen_as(version, digest)));
  };
  SECTION("it is") {
    observe("8", status("ours"));
    CHECK_FALSE(hub.write().outstanding);
    CHECK(hub.write().status() == StatusLeft{"{}", status("ours"), "8"});
    CHECK_FALSE(status_is_foreign(hub.state, "k"));
  }
  SECTION("another status is") {
    observe("8", status("another"));
    CHECK_FALSE(hub.write().outstanding);
    CHECK(hub.write().status() == StatusLeft{});
  }
  SECTION("the version that it was derived from shows nothing") {
    observe("7", status("theirs"));
    CHECK(hub.write().outstanding);
  }
}

TEST_CASE("claim status: grants count as part of a status that is known") {
  State state;
  state.claims.by_name["k"].facts = with(status("a"));
  ClaimFacts seen = with(status("a"));
  CHECK(is_known_status(state, "k", seen));
  seen.status_grants = {{"q", "od", "cpu", "5"}};
  CHECK_FALSE(is_known_status(state, "k", seen));
  CHECK_FALSE(status_is_foreign(state, "k"));  // no write of ours
  CHECK_FALSE(status_is_foreign(state, "none"));
}

TEST_CASE("claim status: of a write that does not say what it leaves nothing is known") {
  Hub hub;
  note_intent(hub.state, intent_of(Digest{}), Seq{6});
  hand_on(hub.state, note_accepted(hub.state, {Seq{6}, 200, "u", "8"}));
  CHECK(hub.write().status() == StatusLeft{"{}", {}, ""});
  CHECK_FALSE(status_is_foreign(hub.state, "k"));
}

}  // namespace
}  // namespace fairlead::claim_status_observation_test
