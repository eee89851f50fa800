// What the store over etcd makes of the gateway's answers.
#include "connectors/ring/etcd_commit_store.h"

#include <catch2/catch.hpp>

#include "connectors/ring/ring_json.h"
#include "engine/base/base64.h"
#include "engine/base/json.h"
#include "tests/support/commit_store_contract.h"
#include "tests/unit/ring/scripted_transport.h"

using namespace fairlead;

namespace {

using Answer = Result<HttpResponse>;

Answer good(const std::string& body) { return HttpResponse{200, {}, body}; }
Answer version(const std::string& text) { return good(R"({"etcdserver":")" + text + R"("})"); }
Answer fault(int status, int code, const std::string& message) {
  return HttpResponse{status, {}, to_text({{"code", code}, {"message", message}})};
}
Json key_value(const std::string& key, const std::string& value, int revision) {
  return {{"key", encode_base64(key)},
          {"mod_revision", std::to_string(revision)},
          {"value", encode_base64(value)}};
}

// Two members, of which the store asks one.
struct ScriptedEtcd {
  StoreAnswer replace(Answer answer) {
    a.answers = {std::move(answer)};
    return replace();
  }
  StoreAnswer replace() {
    std::optional<StoreAnswer> said;
    store.replace(contract_commit(6, 1), 7, [&](StoreAnswer got) { said = std::move(got); });
    time.advance_to(time.now());
    REQUIRE(said);
    return *said;
  }
  template <class T, class Call>
  T value_of(const Call& call) {
    std::optional<T> said;
    call([&](T got) { said = std::move(got); });
    time.advance_to(time.now());
    REQUIRE(said);
    return std::move(*said);
  }

  model::VirtualTime time{LogTime{}};
  ScriptedTransport a{time}, b{time};
  EtcdCommitStore store{{{"https://a", &a}, {"https://b", &b}}, "/fairlead/log/"};
};

constexpr const char* kStored = R"({"header":{"revision":"12"},"succeeded":true})";
constexpr const char* kThere =
    R"({"header":{"revision":"12"},"responses":[{"response_range":{"count":"1"}}]})";
constexpr const char* kAbsent =
    R"({"header":{"revision":"12"},"responses":[{"response_range":{}}]})";

}  // namespace

TEST_CASE("a slot is replaced by a transaction on its revision") {
  ScriptedEtcd etcd;
  etcd.a.answers = {version("3.5.13"), good(kStored)};
  const StoreAnswer said = etcd.replace();
  CHECK(said.result == StoreResult::stored);
  CHECK(said.version == 12);
  REQUIRE(etcd.a.sent.size() == 2);
  CHECK(etcd.a.sent[0].target == "/version");
  CHECK(etcd.a.sent[1].target == "/v3/kv/txn");
  CHECK(etcd.a.sent[1].timeout == seconds(3));
  const std::string key = encode_base64("/fairlead/log/2");
  const Json put{
      {"request_put", {{"key", key}, {"value", encode_base64(ring_json(contract_commit(6, 1)))}}}};
  CHECK(read_json(etcd.a.sent[1].body) ==
        Json{{"compare",
              {{{"key", key}, {"target", "MOD"}, {"result", "EQUAL"}, {"mod_revision", "7"}}}},
             {"success", Json::array({put})},
             {"failure", {{{"request_range", {{"key", key}, {"count_only", true}}}}}}});
  // The version is asked once.
  CHECK(etcd.replace(good(kThere)).result == StoreResult::conflict);
  CHECK(etcd.replace(good(kAbsent)).result == StoreResult::missing);
  CHECK(etcd.replace(good(kAbsent)).why == "replace /fairlead/log/2: there is no such key");
  CHECK(etcd.a.sent.size() == 5);
  CHECK(etcd.b.sent.empty());
}

TEST_CASE("only the verdict of a transaction decides anything") {
  ScriptedEtcd etcd;
  etcd.a.answers = {version("3.6.8"), good(kStored)};
  etcd.replace();
  // No room: etcd's code for it is that of a flood.
  const StoreAnswer full = etcd.replace(fault(429, 8, "etcdserver: mvcc: database space exceeded"));
  CHECK(full.result == StoreResult::unknown);
  CHECK(full.why ==
        "replace /fairlead/log/2 at https://a: HTTP 429 etcdserver: mvcc: database "
        "space exceeded");
  CHECK(etcd.replace(fault(429, 8, "reading server preface: remote error: tls: bad certificate"))
            .why.ends_with("(the member's certificate must serve as a client's, too: clientAuth)"));
  CHECK(etcd.replace(fault(400, 3, "etcdserver: request is too large")).result ==
        StoreResult::refused);
  CHECK(etcd.replace(fault(403, 7, "etcdserver: permission denied")).result ==
        StoreResult::refused);
  CHECK(etcd.replace(fault(400, 9, "etcdserver: no such thing")).result == StoreResult::unknown);
  CHECK(etcd.replace(fault(404, 5, "Not Found")).result == StoreResult::unknown);
  CHECK(etcd.replace(good("{}")).result == StoreResult::unknown);
  CHECK(etcd.replace(good(R"({"succeeded":true})")).result == StoreResult::unknown);
  CHECK(etcd.b.sent.empty());
  CHECK(etcd.replace(good("not JSON")).result == StoreResult::unknown);
}

TEST_CASE("a member that fails is left for the next one, whose version is asked") {
  for (const Answer& failure : {Answer(Error{ErrorCode::unavailable, "timeout"}),
                                fault(503, 14, "etcdserver: no leader")}) {
    ScriptedEtcd etcd;
    etcd.a.answers = {version("3.6.8"), failure};
    CHECK(etcd.replace().result == StoreResult::unknown);
    etcd.b.answers = {version("3.6.8"), good(kStored)};
    CHECK(etcd.replace().result == StoreResult::stored);
    CHECK(etcd.b.sent.size() == 2);
    etcd.b.answers = {failure};
    CHECK(etcd.replace().result == StoreResult::unknown);
    etcd.a.answers = {version("3.6.8"), good(kStored)};
    CHECK(etcd.replace().result == StoreResult::stored);
  }
}

TEST_CASE("a member that is too old is asked for nothing but its version") {
  for (const char* old : {"3.5.12", "3.4.23", "2.3.8", "3.5", "x", ""}) {
    ScriptedEtcd etcd;
    etcd.a.answers = {version(old)};
    const StoreAnswer said = etcd.replace();
    CHECK(said.result == StoreResult::refused);
    CHECK(etcd.a.sent.size() == 1);
    if (std::string(old) == "3.5.12")
      CHECK(said.why ==
            "replace /fairlead/log/2 at https://a: its version is 3.5.12, 3.5.13 or "
            "later is needed");
    etcd.b.answers = {version("3.10.0-rc.1"), good(kStored)};
    CHECK(etcd.replace().result == StoreResult::stored);
  }
}

TEST_CASE("a slot of an etcd is read, or is not there, or is something else") {
  ScriptedEtcd etcd;
  const auto read = [&](Answer answer) {
    etcd.a.answers = {version("3.6.8"), std::move(answer)};
    if (!etcd.a.sent.empty()) etcd.a.answers.pop_front();
    using Read = Result<std::optional<RingSlot>>;
    return etcd.value_of<Read>([&](auto done) { etcd.store.read(2, done); });
  };
  const auto found = [](const Json& kv) {
    return good(to_text({{"header", {{"revision", "9"}}}, {"kvs", {kv}}}));
  };
  CHECK_FALSE(read(good(R"({"header":{"revision":"9"}})")).value());
  const RingCommit commit = contract_commit(6);
  const auto slot = read(found(key_value("/fairlead/log/2", ring_json(commit), 8)));
  CHECK(slot.value() == RingSlot{commit, 8});
  const auto other = read(found(key_value("/fairlead/log/2", "x", 8)));
  REQUIRE(other.has_error());
  CHECK(other.error() == Error{ErrorCode::corrupt, "/fairlead/log/2: the value is not JSON"});
  // A second opinion is another member's; the next first one is again of the one that answers.
  const auto again = [&](auto& member, std::deque<Answer> answers) {
    member.answers = std::move(answers);
    using Read = Result<std::optional<RingSlot>>;
    return etcd.value_of<Read>([&](auto done) { etcd.store.read_again(2, done); });
  };
  const Answer sound = found(key_value("/fairlead/log/2", ring_json(commit), 8));
  CHECK(again(etcd.b, {version("3.6.8"), sound}).value() == RingSlot{commit, 8});
  CHECK(again(etcd.a, {sound}).value() == RingSlot{commit, 8});
  CHECK(read(good("{}")).error().code == ErrorCode::unavailable);
  CHECK(read(fault(503, 14, "etcdserver: no leader")).error().code == ErrorCode::unavailable);
}

TEST_CASE("pages of a list are of one revision, and begin anew when it was compacted") {
  ScriptedEtcd etcd;
  const auto page = [](const Json& kvs, int revision) {
    Json body{{"header", {{"revision", std::to_string(revision)}}}, {"kvs", kvs}};
    if (!kvs.empty()) body["more"] = true;
    return good(to_text(body));
  };
  const auto slot = [](std::uint32_t number) {
    return key_value("/fairlead/log/" + std::to_string(number), ring_json(contract_unused(number)),
                     5);
  };
  etcd.a.answers = {version("3.6.8"),
                    page(Json::array({slot(0)}), 7),
                    fault(400, 11, "compacted"),
                    page(Json::array({slot(2)}), 9),
                    page(Json::array({slot(1)}), 10),
                    page(Json::array(), 11)};
  using Listed = Result<CommitStore::Listed>;
  const Listed listed = etcd.value_of<Listed>([&](auto done) { etcd.store.list(done); });
  REQUIRE(listed.has_value());
  CHECK(listed->version == 9);
  CHECK(listed->slots == std::vector<RingSlot>{{contract_unused(1), 5}, {contract_unused(2), 5}});
  const auto body = [&](std::size_t i) { return read_json(etcd.a.sent.at(i).body); };
  CHECK(body(1) == Json{{"key", encode_base64("/fairlead/log/")},
                        {"range_end", encode_base64("/fairlead/log0")},
                        {"limit", 100}});
  CHECK(text_in(body(2), "key") == encode_base64(std::string("/fairlead/log/0") + '\0'));
  CHECK(text_in(body(2), "revision") == "7");
  CHECK_FALSE(body(3).contains("revision"));
  CHECK(text_in(body(5), "revision") == "9");
}

TEST_CASE("a watch of an etcd reports slots and says what ended it") {
  ScriptedEtcd etcd;
  Followed seen;
  const auto following = etcd.store.follow(7, seen.handler());
  CHECK(etcd.a.sent.at(0).target == "/v3/watch");
  CHECK(read_json(etcd.a.sent.at(0).body) == Json{{"create_request",
                                                   {{"key", encode_base64("/fairlead/log/")},
                                                    {"range_end", encode_base64("/fairlead/log0")},
                                                    {"start_revision", "8"},
                                                    {"fragment", true}}}});
  const auto line = [&](const Json& value) { etcd.a.streamed.bytes(to_text(value) + "\n"); };
  line({{"result", {{"created", true}}}});
  Json removed = key_value("/fairlead/log/3", "", 10);
  removed.erase("value");
  line({{"result",
         {{"events",
           {{{"kv", key_value("/fairlead/log/2", ring_json(contract_commit(6)), 9)}},
            {{"kv", key_value("/fairlead/log/x", "x", 9)}},
            {{"kv", key_value("/fairlead/log/1", "broken", 9)}},
            {{"type", "DELETE"}, {"kv", removed}}}}}}});
  CHECK(seen.changed == std::vector<RingSlot>{{contract_commit(6), 9}});
  CHECK(seen.removed == std::vector<std::uint32_t>{1, 3});
  CHECK_FALSE(seen.ended);
  SECTION("compacted") {
    line({{"result", {{"canceled", true}, {"compact_revision", "20"}}}});
    REQUIRE(seen.ended);
    CHECK(seen.ended->code == ErrorCode::gone);
  }
  SECTION("canceled for another reason") {
    line({{"result", {{"canceled", true}, {"cancel_reason", "no leader"}}}});
    REQUIRE(seen.ended);
    CHECK(*seen.ended ==
          Error{ErrorCode::unavailable, "watch /fairlead/log/ at https://a: canceled: no leader"});
  }
  SECTION("an error") {
    line({{"error", {{"message", "etcdserver: no leader"}}}});
    REQUIRE(seen.ended);
    CHECK(seen.ended->code == ErrorCode::unavailable);
  }
}
