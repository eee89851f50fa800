// A claim's status that another writer overwrites or wipes: what is logged of it, and when it is
// written again.
#include "engine/plan/claims/claim_restore.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/projection/projection.h"
#include "engine/fold/claims/claim_status_observation.h"
#include "engine/fold/evolve.h"
#include "engine/ingest/ingest.h"
#include "engine/plan/plan.h"
#include "schema/claim_status.h"

using namespace fairlead;

namespace {

const ObjectKey kClaim{Kind::claim, "", "k"};
const LogTime kStart{1'000'000'000'000};

Digest other(int number) { return sha256("foreign " + std::to_string(number)); }

// A hub with one claim. Facts go through ingest; what is planned is appended and answered by hand.
struct Bench {
  State state;
  DirtySet dirty;
  Ingest ingest;
  LogTime now = kStart;
  std::size_t logged = 0;

  void tell(const std::string& source, Fact fact) {
    Event event;
    event.seq = next(state.seq);
    event.log_time = now;
    event.source = source;
    event.fact = std::move(fact);
    evolve(state, event, dirty);
    close_moment(state, dirty);
  }

  bool sees(const Digest& status, int version) {
    ObjectSeen seen;
    seen.key = kClaim;
    seen.version = "v1alpha1";
    seen.uid = "u";
    seen.resource_version = std::to_string(version);
    seen.generation = 1;
    ClaimFacts facts;
    facts.spec.cluster_name = "c1";
    facts.spec.nominal_resources = {{"cpu", "10"}};
    facts.finalizers = {"fairlead.io/claim"};
    facts.status_digest = status;
    seen.facts = facts;
    auto draft = ingest.draft(state, {std::string(kHub), std::move(seen)});
    if (!draft) return false;
    ++logged;
    tell(std::string(kHub), std::move(draft->fact));
    return true;
  }

  /// The write of the status that is due, appended; nullopt: none is.
  std::optional<PatchIntended> writes() {
    std::optional<PatchIntended> status;
    for (PatchIntended& intent : plan(state, dirty))
      if (intent.verb == Verb::apply_status) status = std::move(intent);
    if (status) tell(std::string(kSelf), *status);
    return status;
  }
  void accepted(int version) {
    const Seq intent = state.writes.outstanding.begin()->first;
    tell(std::string(kSelf), PatchAccepted{intent, 200, "u", std::to_string(version)});
  }

  /// The first status, written and accepted as version 2; gives what it leaves.
  Digest begin() {
    sees(digest_of_wiped_claim_status(), 1);
    const auto first = writes();
    REQUIRE(first.has_value());
    accepted(2);
    return std::get<ClaimFacts>(*first->expected).status_digest;
  }
  bool foreign() const { return status_is_foreign(state, "k"); }
};

Json status_of(const PatchIntended& intent) { return Json::parse(intent.body)["status"]; }

ClaimFacts projected(const Json& status) {
  const Json object{{"apiVersion", "galaxy.kubestellar.io/v1alpha1"},
                    {"kind", "ClusterResourceClaim"},
                    {"metadata", {{"name", "k"}}},
                    {"status", status}};
  JsonFault fault;
  const auto document = parse_json(object.dump(), fault);
  REQUIRE(document.has_value());
  const auto seen = project(document->root());
  REQUIRE((seen.has_value() && seen->has_value()));
  return std::get<ClaimFacts>((*seen)->facts);
}

}  // namespace

TEST_CASE("what is sent of a status and what is seen of it have one digest") {
  Bench bench;
  bench.sees(digest_of_wiped_claim_status(), 1);
  const auto intent = bench.writes();
  REQUIRE(intent.has_value());
  Json status = status_of(*intent);
  const Digest sent = digest_of_claim_status(status);
  CHECK(sent == std::get<ClaimFacts>(*intent->expected).status_digest);
  CHECK(sent == projected(status).status_digest);

  SECTION("a condition or a field of another manager is not in it") {
    status["conditions"].insert(status["conditions"].begin(),
                                {{"type", "Audited"}, {"status", "True"}});
    status["reviewer"] = "someone";
    CHECK(projected(status).status_digest == sent);
  }
  SECTION("an empty list is as one that is left out") {
    CHECK(status["overcommitted"].empty());
    status.erase("overcommitted");
    CHECK(projected(status).status_digest == sent);
  }
  SECTION("every field and every condition of ours is in it") {
    for (const std::string_view field : kClaimStatusFields) {
      Json changed = status;
      changed[field] = "changed";
      CHECK(projected(changed).status_digest != sent);
    }
    for (const Json& condition : status["conditions"]) {
      const std::string type = condition["type"];
      CHECK(std::count(kClaimConditionTypes.begin(), kClaimConditionTypes.end(), type) == 1);
    }
    for (const char* member : {"status", "reason", "message", "lastTransitionTime"}) {
      Json changed = status;
      changed["conditions"].back()[member] = "changed";
      CHECK(projected(changed).status_digest != sent);
    }
  }
  SECTION("a status that is gone, empty or null is wiped") {
    CHECK(projected(Json()).status_digest == digest_of_wiped_claim_status());
    CHECK(projected(Json::object()).status_digest == digest_of_wiped_claim_status());
    CHECK(projected({{"conditions", nullptr}}).status_digest == digest_of_wiped_claim_status());
  }
}

TEST_CASE("the echo of our own status is not logged, before its answer nor after it") {
  Bench bench;
  const Digest left = bench.begin();
  CHECK_FALSE(bench.sees(left, 2));
  CHECK_FALSE(bench.foreign());

  Bench fast;
  fast.sees(digest_of_wiped_claim_status(), 1);
  REQUIRE(fast.writes().has_value());
  CHECK_FALSE(fast.sees(left, 2));
  fast.accepted(2);
  CHECK_FALSE(fast.foreign());
  CHECK_FALSE(fast.sees(left, 3));
  CHECK_FALSE(fast.writes().has_value());
}

TEST_CASE("a foreign status is written again, a minute after its last write at the earliest") {
  Bench bench;
  const Digest left = bench.begin();
  bench.now = kStart + seconds(20);
  CHECK(bench.sees(other(1), 3));
  CHECK(bench.foreign());
  CHECK_FALSE(bench.writes().has_value());
  CHECK(bench.state.deadlines.all().at(WriteKey{std::string(kHub), kClaim, true}) <=
        kStart + minutes(1));

  bench.now = kStart + seconds(59);
  bench.tell(std::string(kSelf), TimerFired{bench.now});
  CHECK_FALSE(bench.writes().has_value());
  bench.now = kStart + minutes(1);
  bench.tell(std::string(kSelf), TimerFired{bench.now});
  const auto restored = bench.writes();
  REQUIRE(restored.has_value());
  CHECK(restored->reason.rule == "claims/restore-status");
  CHECK(restored->reason.because == std::vector<Seq>{bench.state.claims.by_name.at("k").seq});
  CHECK(restored->force);
  bench.accepted(4);
  CHECK_FALSE(bench.foreign());
  CHECK_FALSE(bench.writes().has_value());

  SECTION("one that was left alone for longer is written at once") {
    bench.now = kStart + minutes(10);
    CHECK(bench.sees(digest_of_wiped_claim_status(), 5));
    CHECK(bench.writes().has_value());
  }
  SECTION("one that comes back as it was is left alone") {
    bench.now = kStart + seconds(70);
    const Digest now_ours = bench.state.claims.by_name.at("k").facts.status_digest;
    CHECK(now_ours != left);  // its seq is another
    CHECK(bench.sees(other(2), 5));
    CHECK(bench.sees(now_ours, 6));
    CHECK_FALSE(bench.foreign());
    bench.now = kStart + minutes(10);
    bench.tell(std::string(kSelf), TimerFired{bench.now});
    CHECK_FALSE(bench.writes().has_value());
  }
}

TEST_CASE("a hundred overwrites within a minute are one event and one write") {
  Bench bench;
  bench.begin();
  bench.now = kStart + minutes(5);
  const std::size_t before = bench.logged;
  int version = 3;
  std::size_t written = 0;
  for (int i = 0; i < 100; ++i) {
    bench.now = kStart + minutes(5) + Duration{500'000'000L * i};
    bench.sees(other(i), version++);
    if (bench.writes()) {
      ++written;
      bench.accepted(version++);
    }
  }
  CHECK(written == 1);
  CHECK(bench.logged - before == 2);  // the first, and the first after the write
}

TEST_CASE("what the server keeps of our status is ours, where it is not what was sent") {
  const Digest kept = other(7);
  Bench bench;
  SECTION("seen after the answer") {
    bench.begin();
    CHECK(bench.sees(kept, 2));
  }
  SECTION("seen before the answer") {
    bench.sees(digest_of_wiped_claim_status(), 1);
    REQUIRE(bench.writes().has_value());
    CHECK(bench.sees(kept, 2));
    bench.accepted(2);
  }
  SECTION("seen only later: one write that changes nothing tells") {
    bench.begin();
    CHECK(bench.sees(kept, 3));
    CHECK(bench.foreign());
    bench.now = kStart + minutes(1);
    bench.tell(std::string(kSelf), TimerFired{bench.now});
    REQUIRE(bench.writes().has_value());
    bench.accepted(3);
  }
  CHECK_FALSE(bench.foreign());
  bench.now = kStart + minutes(10);
  bench.tell(std::string(kSelf), TimerFired{bench.now});
  CHECK_FALSE(bench.writes().has_value());
  CHECK(bench.sees(digest_of_wiped_claim_status(), 9));
  CHECK(bench.foreign());
}

TEST_CASE("a foreign status that was seen before our answer came is still foreign after it") {
  Bench bench;
  bench.sees(digest_of_wiped_claim_status(), 1);
  REQUIRE(bench.writes().has_value());
  CHECK(bench.sees(other(1), 3));
  bench.accepted(2);
  CHECK(bench.foreign());
}

TEST_CASE("in a log of before no status is foreign") {
  Bench bench;
  bench.sees(Digest{}, 1);
  auto first = bench.writes();
  REQUIRE(first.has_value());
  std::get<ClaimFacts>(
      *bench.state.writes.by_key.at({std::string(kHub), kClaim, true}).outstanding->intent.expected)
      .status_digest = {};
  bench.accepted(2);
  CHECK(bench.state.claims.by_name.at("k").facts.status_digest == Digest{});
  CHECK_FALSE(bench.foreign());
  // The first digest that is observed is taken as the one that log left out.
  CHECK(bench.sees(other(1), 2));
  CHECK_FALSE(bench.foreign());
  CHECK(bench.sees(digest_of_wiped_claim_status(), 3));
  CHECK(bench.foreign());
}
