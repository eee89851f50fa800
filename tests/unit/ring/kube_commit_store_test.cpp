// The ring as objects of the API server in memory, in virtual time.
#include "connectors/ring/kube_commit_store.h"

#include <catch2/catch.hpp>

#include "connectors/kube/transport/failure_message.h"
#include "connectors/ring/ring_times.h"
#include "engine/fleet/model/model.h"
#include "engine/fleet/model/model_transport.h"
#include "tests/unit/ring/kubernetes_ways.h"
#include "tests/unit/ring/scripted_transport.h"

using namespace fairlead;
using namespace fairlead::model;

namespace {

constexpr const char* kSlots = "/apis/fairlead.io/v1alpha1/namespaces/default/logcommits";

struct KubeRing {
  KubeRing() { api.install_fairlead_crds(); }

  StoreUnderTest under() {
    return {store, [this] { pump(); }, [this] { api.compact(); }};
  }
  void pump() {
    time.advance_to(time.next_due() == kForever ? time.now() + seconds(1) : time.next_due());
  }
  void merge(const std::string& slot, const Json& patch) {
    REQUIRE(api.call("PATCH", kSlots + ("/fairlead-" + slot), patch).has_value());
  }

  VirtualTime time{LogTime{}};
  Model api{time};
  ModelTransport transport{time, api};
  KubeCommitStore store{transport, {"default", "fairlead"}};
};

struct ScriptedRing {
  StoreAnswer replace(Result<HttpResponse> answer) {
    transport.answers = {std::move(answer)};
    std::optional<StoreAnswer> said;
    store.replace(contract_commit(6, 1), 7, [&](StoreAnswer got) { said = std::move(got); });
    time.advance_to(time.now());
    REQUIRE(said);
    return *said;
  }
  Result<std::optional<RingSlot>> read(Result<HttpResponse> answer) {
    transport.answers = {std::move(answer)};
    std::optional<Result<std::optional<RingSlot>>> said;
    store.read(2, [&](Result<std::optional<RingSlot>> got) { said = std::move(got); });
    time.advance_to(time.now());
    REQUIRE(said);
    return *said;
  }

  VirtualTime time{LogTime{}};
  ScriptedTransport transport{time};
  KubeCommitStore store{transport, {"ns", "log"}};
};

std::string status_text(const std::string& message) {
  return to_text({{"kind", "Status"}, {"apiVersion", "v1"}, {"message", message}});
}

}  // namespace

TEST_CASE("objects of an API server keep the contract of commit stores") {
  KubeRing ring;
  StoreUnderTest under = ring.under();
  check_commit_store_contract(under);
}

TEST_CASE("the API server in memory does what the ring rests on") {
  KubeRing ring;
  StoreUnderTest under = ring.under();
  KubeCommitStore elsewhere(ring.transport, {"nowhere", "fairlead"});
  StoreUnderTest other{elsewhere, [&] { ring.pump(); }};
  ring.api.compact();
  check_kubernetes_ways(under, other);
}

TEST_CASE("an update names the version that it replaces, and asks for no pack in the answer") {
  ScriptedRing ring;
  const StoreAnswer said =
      ring.replace(HttpResponse{200, {}, R"({"metadata":{"resourceVersion":"12"}})"});
  CHECK(said.result == StoreResult::stored);
  CHECK(said.version == 12);
  const HttpRequest& sent = ring.transport.sent.at(0);
  CHECK(sent.method == "PUT");
  CHECK(sent.target == "/apis/fairlead.io/v1alpha1/namespaces/ns/logcommits/log-2");
  CHECK(sent.accept == "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
  CHECK(sent.timeout == seconds(3));
  CHECK(
      sent.body ==
      R"({"apiVersion":"fairlead.io/v1alpha1","kind":"LogCommit","metadata":{"name":"log-2",)"
      R"("namespace":"ns","resourceVersion":"7"},"spec":{"log":"00112233445566778899aabbccddeeff",)"
      R"("slots":4,"commit":6,"first":61,"count":10,"pack":"Bg=="}})");
}

TEST_CASE("only 200, 201 and 409 decide anything about an update") {
  ScriptedRing ring;
  const auto result_of = [&](int status) {
    return ring.replace(HttpResponse{status, {}, status_text("no")}).result;
  };
  CHECK(result_of(409) == StoreResult::conflict);
  CHECK(result_of(404) == StoreResult::missing);
  for (const int status : {403, 410, 413, 422}) CHECK(result_of(status) == StoreResult::refused);
  for (const int status : {302, 400, 401, 408, 429, 500, 502, 503, 504})
    CHECK(result_of(status) == StoreResult::unknown);
  CHECK(ring.replace(Error{ErrorCode::unavailable, "timeout"}).result == StoreResult::unknown);
  // Nothing was sent.
  CHECK(ring.replace(Error{ErrorCode::denied, "no token"}).result == StoreResult::refused);
  // It is the answer that is too long: the client says so.
  const std::string too_long = too_long_status(HttpRequest{}.body_bytes_max);
  CHECK(ring.replace(HttpResponse{413, {}, too_long}).result == StoreResult::unknown);
  // An answer that says no version proves nothing.
  CHECK(ring.replace(HttpResponse{200, {}, "{}"}).result == StoreResult::unknown);

  const StoreAnswer busy = ring.replace(HttpResponse{429, seconds(7), status_text("too many")});
  CHECK(busy.retry_after == seconds(7));
  CHECK(busy.why == "PUT logcommits ns/log-2: HTTP 429 too many");
}

TEST_CASE("a slot that is not there is told from a kind that is not served") {
  ScriptedRing ring;
  const auto none = ring.read(HttpResponse{404, {}, status_text("not found")});
  REQUIRE(none.has_value());
  CHECK_FALSE(none->has_value());
  const auto unserved = ring.read(HttpResponse{404, {}, "404 page not found\n"});
  REQUIRE(unserved.has_error());
  CHECK(unserved.error().code == ErrorCode::unavailable);
  CHECK(ring.read(HttpResponse{403, {}, status_text("x")}).error().message ==
        "GET logcommits ns/log-2: HTTP 403 x");
  const auto broken = ring.read(
      HttpResponse{200, {}, R"({"metadata":{"resourceVersion":"12"},"spec":{"log":"x"}})"});
  REQUIRE(broken.has_error());
  CHECK(broken.error().code == ErrorCode::corrupt);
  CHECK(broken.error().message == "logcommits ns/log-2: spec.log: expected 32 hexadecimal digits");
  CHECK(ring.transport.sent.at(0).target ==
        "/apis/fairlead.io/v1alpha1/namespaces/ns/logcommits/log-2");
  ring.store.read_again(2, [](const auto&) {});
  CHECK_FALSE(ring.transport.sent.at(0).new_connection);
  CHECK(ring.transport.sent.back().new_connection);
  CHECK(ring.transport.sent.back().target == ring.transport.sent.at(0).target);
}

TEST_CASE("a page that is too long is asked for in smaller ones, and a list that expired anew") {
  ScriptedRing ring;
  const auto page = [](const std::string& next) {
    return HttpResponse{
        200, {}, R"({"metadata":{"resourceVersion":"9","continue":")" + next + R"("},"items":[]})"};
  };
  ring.transport.answers = {page("a"), HttpResponse{413, {}, ""}, page("b"),
                            HttpResponse{410, {}, status_text("expired")}, page("")};
  std::optional<Result<CommitStore::Listed>> listed;
  ring.store.list([&](Result<CommitStore::Listed> got) { listed = std::move(got); });
  ring.time.advance_to(ring.time.now());
  REQUIRE(listed);
  REQUIRE(listed->has_value());
  CHECK((*listed)->version == 9);
  std::vector<std::string> queries;
  for (const HttpRequest& sent : ring.transport.sent)
    queries.push_back(sent.target.substr(sent.target.find('?')));
  CHECK(queries == std::vector<std::string>{"?limit=100", "?limit=100&continue=a",
                                            "?limit=10&continue=a", "?limit=10&continue=b",
                                            "?limit=10"});
}

TEST_CASE("a list slot by slot holds one page") {
  KubeRing ring;
  StoreUnderTest under = ring.under();
  const StoreCalls calls(under);
  constexpr std::uint32_t kMany = 230;
  for (std::uint32_t slot = 0; slot < kMany; ++slot)
    REQUIRE(calls.create({kContractLog, kMany, slot, {}, 0, {}}).result == StoreResult::stored);
  const CommitStore::Listed listed = calls.list();
  REQUIRE(listed.slots.size() == kMany);
  for (std::uint32_t slot = 0; slot < kMany; ++slot)
    CHECK(listed.slots[slot].commit.commit == slot);
  std::size_t seen = 0, pages = 0;
  LogTime before = ring.time.now();
  std::optional<StoreVersion> version;
  ring.store.list_each(
      [&](const RingSlot&) {
        ++seen;
        pages += std::exchange(before, ring.time.now()) < ring.time.now() ? 1 : 0;
      },
      [&](Result<StoreVersion> got) { version = got.value(); });
  calls.wait_until([&] { return version.has_value(); });
  CHECK(version == listed.version);
  CHECK(seen == kMany);
  CHECK(pages == 3);
}

TEST_CASE("a stream says what ended it") {
  ScriptedRing ring;
  Followed seen;
  auto following = ring.store.follow(5, seen.handler());
  CHECK(ring.transport.sent.at(0).target ==
        "/apis/fairlead.io/v1alpha1/namespaces/ns/logcommits?watch=true&allowWatchBookmarks=true"
        "&resourceVersion=5&timeoutSeconds=300");
  SECTION("an ERROR event that the version is too old") {
    ring.transport.streamed.bytes(
        R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})"
        "\n");
    REQUIRE(seen.ended);
    CHECK(*seen.ended == Error{ErrorCode::gone, "watch logcommits ns/log-*: too old"});
  }
  SECTION("a refusal that the version is too old") {
    ring.transport.streamed.ended(HttpResponse{410, {}, status_text("too old")});
    REQUIRE(seen.ended);
    CHECK(seen.ended->code == ErrorCode::gone);
  }
  SECTION("a version of the future") {
    ring.transport.streamed.ended(HttpResponse{504, {}, status_text("Too large resource version")});
    REQUIRE(seen.ended);
    CHECK(seen.ended->code == ErrorCode::unavailable);
  }
  SECTION("silence, which bookmarks and objects of others end") {
    ring.transport.streamed.opened();
    for (int i = 0; i < 10; ++i) {
      ring.time.advance_to(ring.time.now() + seconds(20));
      // In two chunks, and of another ring.
      ring.transport.streamed.bytes(R"({"type":"BOOKMARK","object":{"metadata":)");
      ring.transport.streamed.bytes(
          R"({"resourceVersion":"9"}}})"
          "\n"
          R"({"type":"ADDED","object":{"metadata":{"name":"log-b-1","resourceVersion":"9"}}})"
          "\n");
    }
    CHECK_FALSE(seen.ended);
    ring.time.advance_to(ring.time.now() + kRingSilence);
    REQUIRE(seen.ended);
    CHECK(seen.ended->code == ErrorCode::unavailable);
    CHECK(seen.ended->message == "watch logcommits ns/log-*: silent for 30s, given up");
  }
  SECTION("a line that is not JSON") {
    ring.transport.streamed.bytes("{\n");
    REQUIRE(seen.ended);
    CHECK(seen.ended->code == ErrorCode::unavailable);
  }
  CHECK(seen.changed.empty());
  CHECK(seen.removed.empty());
}

TEST_CASE("a callback may end its stream") {
  KubeRing ring;
  const StoreUnderTest under = ring.under();
  StoreUnderTest mine = under;
  const StoreCalls calls(mine);
  REQUIRE(calls.create(contract_unused(0)).result == StoreResult::stored);
  const StoreVersion from = calls.list().version;
  int heard = 0;
  std::unique_ptr<CommitStore::Following> following;
  following = ring.store.follow(from, {[&](RingSlot) {
                                         ++heard;
                                         following.reset();
                                       },
                                       [](std::uint32_t) {}, [](Error) { FAIL(); }});
  const RingSlot slot = *calls.read(0);
  const StoreAnswer first = calls.replace(contract_commit(0), slot.version);
  REQUIRE(calls.replace(contract_commit(4), first.version).result == StoreResult::stored);
  ring.time.advance_to(ring.time.now() + seconds(5));
  CHECK(heard == 1);
}

TEST_CASE("an object that another hand broke is left out of lists and reported as removed") {
  KubeRing ring;
  StoreUnderTest under = ring.under();
  const StoreCalls calls(under);
  REQUIRE(calls.create(contract_unused(0)).result == StoreResult::stored);
  REQUIRE(calls.create(contract_unused(1)).result == StoreResult::stored);
  // Another ring in this namespace, and an object of another kind of name.
  for (const char* name : {"fairlead-b-1", "fairlead-01"}) {
    Json object{{"apiVersion", "fairlead.io/v1alpha1"},
                {"kind", "LogCommit"},
                {"metadata", {{"name", name}}}};
    object["spec"] = {
        {"log", kContractLog}, {"slots", 4}, {"commit", 1}, {"first", 0}, {"count", 0}};
    REQUIRE(ring.api.call("POST", kSlots, object).has_value());
  }
  CHECK(calls.list().slots.size() == 2);
  Followed seen;
  const auto following = ring.store.follow(calls.list().version, seen.handler());
  calls.read(0);
  ring.merge("1", {{"spec", {{"commit", 2}}}});
  calls.wait_until([&] { return !seen.removed.empty(); });
  CHECK(seen.removed.front() == 1);
  CHECK(calls.list().slots.size() == 1);
  std::optional<Error> why;
  ring.store.read(1, [&](auto got) { why = got.error(); });
  calls.wait_until([&] { return why.has_value(); });
  CHECK(why->code == ErrorCode::corrupt);
}
