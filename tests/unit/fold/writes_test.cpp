#include <catch2/catch.hpp>

#include "engine/fold/close.h"
#include "engine/fold/evolve.h"
#include "engine/fold/writes/interval.h"
#include "engine/fold/writes/outcomes.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/retry.h"

namespace fairlead::writes_test {
namespace {

const ObjectKey kQueue{Kind::cluster_queue, "", "q"};
const ObjectKey kClaim{Kind::claim, "", "k"};
const std::string kHubName(kHub);

WriteKey key_of(const ObjectKey& object, bool status = false) { return {kHubName, object, status}; }

PatchIntended intent_of(const ObjectKey& object, Verb verb = Verb::apply) {
  PatchIntended intent;
  intent.cluster = kHubName;
  intent.verb = verb;
  intent.target = object;
  intent.uid = "u";
  intent.resource_version = "7";
  intent.body = R"({"spec":{}})";
  return intent;
}

ClusterQueueFacts queue_with(const std::string& cpu) {
  ClusterQueueFacts facts;
  facts.groups = {{{"cpu"}, {{"od", {{"cpu", *Quantity::parse(cpu), {}, {}}}}}}};
  return facts;
}

ObjectObserved seen_as(const ObjectKey& object, const std::string& version, Facts facts) {
  ObjectObserved seen;
  seen.key = object;
  seen.uid = "u";
  seen.resource_version = version;
  seen.facts = std::move(facts);
  return seen;
}

// A State at 100 s with one unanswered write of the queue, intended by event 5.
struct Written {
  State state;
  WriteState& write;

  explicit Written(PatchIntended intent = expecting())
      : write((state.now = LogTime{} + seconds(100), note_intent(state, intent, Seq{5}),
               state.writes.by_key.begin()->second)) {}
  static PatchIntended expecting() {
    PatchIntended intent = intent_of(kQueue);
    intent.expected = queue_with("5");
    return intent;
  }
  LogTime deadline() const {
    const auto at = state.deadlines.all().find(key_of(kQueue));
    return at == state.deadlines.all().end() ? kForever : at->second;
  }
};

TEST_CASE(
    "writes: an intent is outstanding until its answer, and the answer's version until seen") {
  Written w;
  CHECK(w.state.writes.outstanding == std::map<Seq, WriteKey>{{Seq{5}, key_of(kQueue)}});
  CHECK(write_pending(w.state.writes, view_of(key_of(kQueue))));
  CHECK_FALSE(write_pending(w.state.writes, view_of(key_of(kQueue, true))));
  CHECK(w.write.last_write == w.state.now);
  hand_on(w.state, note_accepted(w.state, {Seq{5}, 200, "u", "8"}));
  CHECK(w.state.writes.outstanding.empty());
  CHECK(w.write.awaited_version == "8");
  CHECK(write_pending(w.state.writes, view_of(key_of(kQueue))));
  CHECK(awaits_observation(w.state.writes, kHubName, kQueue));
  hand_on(w.state, note_observed(w.state, kHubName, seen_as(kQueue, "7", queue_with("9"))));
  CHECK(write_pending(w.state.writes, view_of(key_of(kQueue))));  // from before the write
  hand_on(w.state, note_observed(w.state, kHubName, seen_as(kQueue, "8", queue_with("5"))));
  CHECK_FALSE(write_pending(w.state.writes, view_of(key_of(kQueue))));
  CHECK_FALSE(awaits_observation(w.state.writes, kHubName, kQueue));
}

TEST_CASE("writes: an answer to no outstanding intent changes nothing") {
  Written w;
  const State before = w.state;
  hand_on(w.state, note_accepted(w.state, {Seq{4}, 200, "u", "8"}));
  hand_on(w.state, note_rejected(w.state, {Seq{6}, 422, "no"}, Seq{9}));
  hand_on(w.state, note_unknown(w.state, {Seq{6}, "gone"}));
  CHECK(w.state == before);
  // A second intent of the same object takes the place of the first.
  note_intent(w.state, intent_of(kQueue), Seq{6});
  CHECK(w.state.writes.outstanding == std::map<Seq, WriteKey>{{Seq{6}, key_of(kQueue)}});
  hand_on(w.state, note_accepted(w.state, {Seq{5}, 200, "u", "8"}));
  CHECK(w.write.outstanding.has_value());
}

TEST_CASE("writes: a refusal is tried again after a time that doubles up to its bound") {
  Written w;
  Duration expected = kRefusalRetry;
  for (std::uint64_t attempt = 1; attempt <= 10; ++attempt) {
    hand_on(w.state, note_rejected(w.state, {Seq{4 + attempt}, 422, "no"}, Seq{100 + attempt}));
    REQUIRE(w.write.refusal);
    CHECK_FALSE(is_conflict(*w.write.refusal));
    CHECK(w.write.refusal->attempts == static_cast<std::int64_t>(attempt));
    CHECK(w.write.refusal->retry_at == w.state.now + expected);
    CHECK(refusal_of(w.state.writes, kQueue) == &*w.write.refusal);
    expected = std::min(Duration{expected.ns * 2}, kRefusalRetryMax);
    note_intent(w.state, Written::expecting(), Seq{5 + attempt});
  }
  CHECK(w.write.refusal->retry_at == w.state.now + kRefusalRetryMax);
  hand_on(w.state, note_accepted(w.state, {Seq{15}, 200, "u", "8"}));
  CHECK_FALSE(w.write.refusal);
}

TEST_CASE("writes: after an outage a write is tried again in the write interval, up to 30 s") {
  Written w;
  w.state.configuration.debounce.write_interval = seconds(5);
  std::vector<Duration> waits;
  for (std::uint64_t attempt = 1; attempt <= 5; ++attempt) {
    hand_on(w.state,
            note_rejected(w.state, {Seq{4 + attempt}, 500, "webhook", RejectionCause::outage},
                          Seq{100 + attempt}));
    REQUIRE(w.write.refusal);
    waits.push_back(w.write.refusal->retry_at - w.state.now);
    note_intent(w.state, Written::expecting(), Seq{5 + attempt});
  }
  CHECK(waits ==
        std::vector<Duration>{seconds(5), seconds(10), seconds(20), seconds(30), seconds(30)});
  SECTION("another cause begins anew") {
    hand_on(w.state,
            note_rejected(w.state, {Seq{10}, 403, "no right", RejectionCause::rights}, Seq{200}));
    CHECK(w.write.refusal->retry_at == w.state.now + kRefusalRetry);
    CHECK(w.write.refusal->attempts == 1);
  }
}

TEST_CASE("writes: without a right a write is tried again more and more seldom, up to a minute") {
  Written w;
  for (std::uint64_t attempt = 1; attempt <= 6; ++attempt) {
    hand_on(w.state,
            note_rejected(w.state, {Seq{4 + attempt}, 403, "no right", RejectionCause::rights},
                          Seq{100 + attempt}));
    REQUIRE(w.write.refusal);
    note_intent(w.state, Written::expecting(), Seq{5 + attempt});
  }
  CHECK(w.write.refusal->retry_at == w.state.now + kRightsRetryMax);
}

TEST_CASE("writes: what an outage kept back is sent once a write of its kind is accepted") {
  Written w;
  const ObjectKey other{Kind::cluster_queue, "", "other"};
  hand_on(w.state,
          note_rejected(w.state, {Seq{5}, 500, "webhook", RejectionCause::outage}, Seq{6}));
  REQUIRE(w.write.refusal->retry_at > w.state.now);
  SECTION("another queue") {
    note_intent(w.state, intent_of(other), Seq{7});
    hand_on(w.state, note_accepted(w.state, {Seq{7}, 200, "u", "8"}));
    CHECK(w.write.refusal->retry_at == w.state.now);
    CHECK(w.state.queues.dirty.contains(kQueue.name));
  }
  SECTION("another kind says nothing of it") {
    note_intent(w.state, intent_of({Kind::multikueue_config, "", "m"}), Seq{7});
    hand_on(w.state, note_accepted(w.state, {Seq{7}, 200, "u", "8"}));
    CHECK(w.write.refusal->retry_at > w.state.now);
  }
  SECTION("a list of the kind: the server answers again") {
    hand_on(w.state, note_listed(w.state, kHubName, Kind::cluster_queue));
    CHECK_FALSE(w.write.refusal);
  }
  SECTION("an object that is gone is forgotten") {
    note_gone(w.state, kHubName, kQueue);
    CHECK(w.state.writes.held_up.empty());
  }
}

TEST_CASE("writes: a refusal for its content waits although others are accepted") {
  Written w;
  hand_on(w.state, note_rejected(w.state, {Seq{5}, 422, "no"}, Seq{6}));
  note_intent(w.state, intent_of({Kind::cluster_queue, "", "other"}), Seq{7});
  hand_on(w.state, note_accepted(w.state, {Seq{7}, 200, "u", "8"}));
  CHECK(w.write.refusal->retry_at == w.state.now + kRefusalRetry);
}

TEST_CASE("writes: a conflict has a shorter wait, ends when the object is seen, is no refusal") {
  Written w;
  SECTION("409") { hand_on(w.state, note_rejected(w.state, {Seq{5}, 409, "Conflict"}, Seq{6})); }
  SECTION("404: it was there") {
    hand_on(w.state, note_rejected(w.state, {Seq{5}, 404, "NotFound"}, Seq{6}));
  }
  REQUIRE(w.write.refusal);
  CHECK(is_conflict(*w.write.refusal));
  CHECK(refusal_of(w.state.writes, kQueue) == nullptr);
  CHECK(w.write.refusal->retry_at == w.state.now + kConflictRetry);
  CHECK(w.deadline() == w.state.now + kConflictRetry);
  CHECK(awaits_observation(w.state.writes, kHubName, kQueue));
  hand_on(w.state, note_observed(w.state, kHubName, seen_as(kQueue, "7", queue_with("9"))));
  CHECK_FALSE(w.write.refusal);
}

TEST_CASE("writes: a 404 of a MultiKueue object never observed is a refusal: no CRD") {
  PatchIntended intent = intent_of({Kind::multikueue_config, "", "m"}, Verb::create);
  intent.uid.clear();
  Written w(intent);
  hand_on(w.state, note_rejected(w.state, {Seq{5}, 404, "NotFound"}, Seq{6}));
  REQUIRE(w.write.refusal);
  CHECK_FALSE(is_conflict(*w.write.refusal));
}

TEST_CASE("writes: a doubted write is decided by what the watch shows, or by time") {
  Written w;
  hand_on(w.state, note_unknown(w.state, {Seq{5}, "timeout"}));
  REQUIRE(w.write.outstanding);
  CHECK(w.write.outstanding->doubted_until == w.state.now + kDoubt);
  CHECK(awaits_observation(w.state.writes, kHubName, kQueue));
  SECTION("the result is seen: it happened") {
    hand_on(w.state, note_observed(w.state, kHubName, seen_as(kQueue, "8", queue_with("5"))));
    CHECK_FALSE(w.write.outstanding);
    CHECK(w.state.writes.outstanding.empty());
  }
  SECTION("something else is seen: it did not") {
    hand_on(w.state, note_observed(w.state, kHubName, seen_as(kQueue, "8", queue_with("9"))));
    CHECK_FALSE(w.write.outstanding);
  }
  SECTION("nothing is seen until the doubt ends") {
    w.state.now = w.state.now + kDoubt;
    w.state.now.ns -= 1;
    hand_on(w.state, reach_write_deadline(w.state, key_of(kQueue)));
    CHECK(w.write.outstanding);
    w.state.now.ns += 1;
    hand_on(w.state, reach_write_deadline(w.state, key_of(kQueue)));
    CHECK_FALSE(w.write.outstanding);
  }
}

TEST_CASE("writes: without doubt an outstanding write stays, whatever else is seen") {
  Written w;
  hand_on(w.state, note_observed(w.state, kHubName, seen_as(kQueue, "8", queue_with("9"))));
  CHECK(w.write.outstanding);
  hand_on(w.state, doubt_outstanding(w.state));
  REQUIRE(w.write.outstanding);
  CHECK(w.write.outstanding->doubted_until == w.state.now + kDoubt);
}

TEST_CASE("writes: an object that is gone takes its writes along") {
  Written w;
  note_intent(w.state, intent_of(kQueue, Verb::apply_status), Seq{6});
  note_gone(w.state, "c1", kQueue);  // of another API server
  CHECK(w.state.writes.by_key.size() == 2);
  note_gone(w.state, kHubName, kQueue);
  CHECK(w.state.writes.by_key.empty());
  CHECK(w.state.writes.outstanding.empty());
  CHECK(w.state.deadlines.all().empty());
}

TEST_CASE("writes: a complete list ends every wait of its kind for a version, and no other") {
  Written w;
  hand_on(w.state, note_accepted(w.state, {Seq{5}, 200, "u", "8"}));
  hand_on(w.state, note_listed(w.state, kHubName, Kind::claim));
  hand_on(w.state, note_listed(w.state, "c1", Kind::cluster_queue));
  CHECK(write_pending(w.state.writes, view_of(key_of(kQueue))));
  hand_on(w.state, note_listed(w.state, kHubName, Kind::cluster_queue));
  CHECK_FALSE(write_pending(w.state.writes, view_of(key_of(kQueue))));
}

TEST_CASE("writes: that a stream is alive again ends no wait, a list does") {
  Written w;
  hand_on(w.state, note_accepted(w.state, {Seq{5}, 200, "u", "8"}));
  Event event;
  event.source = kHubName;
  event.log_time = w.state.now;
  for (const std::string version : {"", "9"}) {
    DirtySet dirty;
    event.seq = next(w.state.seq);
    event.fact = SourceSynced{Kind::cluster_queue, "", version};
    evolve(w.state, event, dirty);
    CHECK(write_pending(w.state.writes, view_of(key_of(kQueue))) == version.empty());
  }
}

TEST_CASE(
    "writes: what removes an object waits until it is gone, whatever version the answer has") {
  Written w(intent_of(kQueue, Verb::remove));
  hand_on(w.state, note_accepted(w.state, {Seq{5}, 200, "u", "8"}));
  CHECK(w.write.awaits_end);
  hand_on(w.state, note_observed(w.state, kHubName, seen_as(kQueue, "9", queue_with("5"))));
  CHECK(w.write.awaits_end);
}

TEST_CASE("writes: a claim's nominal list is ours from its creation to another writer's change") {
  PatchIntended create = intent_of(kClaim, Verb::create);
  ClaimFacts facts;
  facts.spec.nominal_resources = {{"cpu", "5"}};
  create.expected = facts;
  Written w(create);
  REQUIRE(nominal_of_ours(w.state, "k"));
  CHECK(*nominal_of_ours(w.state, "k") == facts.spec.nominal_resources);
  hand_on(w.state, note_accepted(w.state, {Seq{5}, 201, "u", "8"}));
  // From before the write that is awaited: no change.
  hand_on(w.state, note_observed(w.state, kHubName, seen_as(kClaim, "7", ClaimFacts{})));
  CHECK(nominal_of_ours(w.state, "k"));
  hand_on(w.state, note_observed(w.state, kHubName, seen_as(kClaim, "8", facts)));
  CHECK(nominal_of_ours(w.state, "k"));
  facts.spec.nominal_resources["memory"] = "1Gi";
  hand_on(w.state, note_observed(w.state, kHubName, seen_as(kClaim, "9", facts)));
  CHECK(nominal_of_ours(w.state, "k") == nullptr);
  CHECK(nominal_of_ours(w.state, "other") == nullptr);
}

TEST_CASE("writes: a claim that we did not create has no list of ours") {
  PatchIntended apply = intent_of(kClaim);
  apply.expected = ClaimFacts{};
  Written w(apply);
  CHECK(nominal_of_ours(w.state, "k") == nullptr);
  hand_on(w.state, note_accepted(w.state, {Seq{5}, 200, "u", "8"}));
  CHECK(nominal_of_ours(w.state, "k") == nullptr);
}

TEST_CASE(
    "writes: a wish is the same for other versions, another for other words or another verb") {
  const PatchIntended intent = intent_of(kQueue);
  PatchIntended other = intent;
  other.body = R"({"metadata":{"resourceVersion":"9","uid":"x"},"spec":{}})";
  PatchIntended plain = intent;
  plain.body = R"({"metadata":{},"spec":{}})";
  CHECK(wish_of(other) == wish_of(plain));
  CHECK_FALSE(wish_of(other) == wish_of(intent));
  plain.verb = Verb::patch;
  CHECK_FALSE(wish_of(other) == wish_of(plain));
}

TEST_CASE("writes: the interval is the longest of the clusters that feed the object") {
  State state;
  state.configuration.debounce.write_interval = seconds(5);
  CHECK(write_interval(state, view_of(key_of(kQueue))) == seconds(5));
  CHECK(write_interval(state, view_of(key_of({Kind::multikueue_config, "", "m"}))) == Duration{});
  for (const auto& [name, cluster, interval] :
       {std::tuple{"a", "c1", "9s"}, std::tuple{"b", "c2", "2s"}}) {
    Claim& claim = state.claims.by_name[name];
    claim.terms = ClaimTerms{};
    claim.terms->cluster = cluster;
    claim.facts.debounce = {{"writeInterval", interval}};
    claim.winner = true;
    state.claims.of_queue["q"].insert(name);
    state.claims.of_cluster[cluster].insert(name);
  }
  CHECK(write_interval(state, view_of(key_of(kQueue))) == seconds(9));
  CHECK(write_interval(state, view_of(key_of({Kind::manifest_work, "c2", "w"}))) == seconds(2));
  CHECK(write_interval(state, view_of(key_of({Kind::claim, "", "b"}))) == seconds(2));
  state.claims.by_name["a"].winner = false;
  CHECK(write_interval(state, view_of(key_of(kQueue))) == seconds(2));
}

}  // namespace
}  // namespace fairlead::writes_test
