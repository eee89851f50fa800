// Against a real kube-apiserver. FAIRLEAD_TEST_KUBECONFIG names a kubeconfig whose current context
// may do everything on a server that is thrown away afterwards; without it this file says so and
// tests only the clock of the loop.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <mutex>

#include "connectors/kube/api_server_connection.h"

using namespace fairlead;

namespace {

// Collects facts of the loop's thread and lets a test wait for one.
class FactLog {
 public:
  void add(WatchFact fact) {
    std::lock_guard lock(mutex_);
    facts_.push_back(std::move(fact));
    changed_.notify_all();
  }
  template <class Wanted>
  bool wait_for(const Wanted& wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] {
      for (const WatchFact& fact : facts_)
        if (wanted(fact)) return true;
      return false;
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<WatchFact> facts_;
};

WriteAnswer write(PatchSink& sink, WriteRequest request) {
  auto answer = std::make_shared<std::promise<WriteAnswer>>();
  auto future = answer->get_future();
  sink.send(std::move(request), [answer](WriteAnswer said) { answer->set_value(std::move(said)); });
  REQUIRE(future.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  return future.get();
}

WriteRequest on_node(Verb verb, const std::string& name, const std::string& body) {
  WriteRequest out;
  out.intent = {7};
  out.verb = verb;
  out.target = {Kind::node, "", name};
  out.version = "v1";
  out.field_manager = "fairlead";
  out.body = body;
  return out;
}

std::string node(const std::string& name, const std::string& more, const std::string& color) {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name + "\"" + more +
         R"(,"labels":{"color":")" + color + R"("}}})";
}

// A real API server, named by FAIRLEAD_TEST_KUBECONFIG: tests/e2e/test_connector.py gives one.
// These tests are hidden (tag [.real]), so that a plain run neither needs one nor seems to have
// asked one.
class RealServer {
 public:
  RealServer() {
    const char* path = std::getenv("FAIRLEAD_TEST_KUBECONFIG");
    REQUIRE(path != nullptr);
    auto credentials = load_kubeconfig(path, {});
    REQUIRE(credentials.has_value());
    ConnectionSettings settings;
    settings.discovery_waiting = milliseconds(300);
    auto made = ApiServerConnection::make(loop_, "hub", *credentials, settings);
    REQUIRE(made.has_value());
    server_ = std::move(*made);
    send(on_node(Verb::remove, name, ""));
    server_->watch({Kind::node, Kind::cluster_queue, Kind::cluster_metrics},
                   [this](WatchFact fact) { facts.add(std::move(fact)); });
    REQUIRE(facts.wait_for([](const WatchFact& fact) {
      auto* list = std::get_if<ListCompleted>(&fact.said);
      return fact.source == "hub" && list != nullptr && list->kind == Kind::node;
    }));
    created = send(on_node(Verb::create, name, node(name, "", "red")));
    REQUIRE(created.result == WriteResult::accepted);
  }
  ~RealServer() {
    send(on_node(Verb::remove, name, ""));
    server_->stop();
  }

  WriteAnswer send(WriteRequest request) { return write(server_->sink(), std::move(request)); }
  bool shows(const std::string& version) {
    return facts.wait_for([&](const WatchFact& fact) {
      auto* seen = std::get_if<ObjectSeen>(&fact.said);
      return seen != nullptr && seen->key.name == name && seen->resource_version == version;
    });
  }
  std::string identity() const {
    return R"(,"uid":")" + created.uid + R"(","resourceVersion":")" + created.resource_version +
           "\"";
  }
  ConnectionCounters counters() const { return server_->counters(); }

  const std::string name = "fairlead-trial";
  FactLog facts;
  WriteAnswer created;

 private:
  IoLoop loop_;
  std::unique_ptr<ApiServerConnection> server_;
};

constexpr const char* kNoSuchUid = R"(,"uid":"00000000-0000-0000-0000-000000000000")";

}  // namespace

TEST_CASE("a real server creates once and shows it", "[.real]") {
  RealServer real;
  CHECK(real.created.http_code == 201);
  CHECK(real.created.intent == Seq{7});
  CHECK(real.shows(real.created.resource_version));
  CHECK(real.send(on_node(Verb::create, real.name, node(real.name, "", "red"))).result ==
        WriteResult::conflict);
  CHECK(real.counters().synced.at(Kind::node));
  CHECK(real.counters().reflectors.at(Kind::node).lists >= 1);
}

TEST_CASE("a real server applies to what was seen, and to nothing else", "[.real]") {
  RealServer real;
  WriteRequest apply = on_node(Verb::apply, real.name, node(real.name, real.identity(), "blue"));
  apply.force = true;
  const WriteAnswer applied = real.send(apply);
  CHECK(applied.result == WriteResult::accepted);
  CHECK(real.shows(applied.resource_version));
  CHECK(real.send(apply).result == WriteResult::conflict);  // a stale resourceVersion

  WriteRequest other = on_node(Verb::apply, real.name, node(real.name, kNoSuchUid, "green"));
  other.force = true;
  CHECK(real.send(other).result == WriteResult::gone);

  WriteRequest foreign = on_node(Verb::apply, real.name, node(real.name, "", "green"));
  foreign.field_manager = "someone";
  const WriteAnswer contested = real.send(foreign);
  CHECK(contested.result == WriteResult::conflict);
  CHECK(contested.reason.find("FieldManagerConflict") != std::string::npos);

  const WriteAnswer malformed = real.send(on_node(
      Verb::apply, real.name,
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"fairlead-trial","labels":7}})"));
  CHECK(malformed.result == WriteResult::refused);
}

TEST_CASE("a real server takes a status and a merge patch", "[.real]") {
  RealServer real;
  WriteRequest status = on_node(
      Verb::apply_status, real.name,
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"fairlead-trial"},"status":{"allocatable":{"cpu":"3"}}})");
  status.force = true;
  CHECK(real.send(status).result == WriteResult::accepted);
  CHECK(real.facts.wait_for([&](const WatchFact& fact) {
    auto* seen = std::get_if<ObjectSeen>(&fact.said);
    auto* facts = seen == nullptr ? nullptr : std::get_if<NodeFacts>(&seen->facts);
    return facts != nullptr && facts->allocatable == ResourceAmounts{{"cpu", 3000}};
  }));
  CHECK(real.send(on_node(Verb::patch, real.name, R"({"metadata":{"labels":{"color":null}}})"))
            .result == WriteResult::accepted);
}

TEST_CASE("a real server deletes what was meant", "[.real]") {
  RealServer real;
  WriteRequest remove = on_node(Verb::remove, real.name, "");
  remove.uid = "00000000-0000-0000-0000-000000000000";
  CHECK(real.send(remove).result == WriteResult::gone);
  remove.uid = real.created.uid;
  remove.resource_version = "1";
  CHECK(real.send(remove).result == WriteResult::conflict);
  remove.resource_version.clear();
  CHECK(real.send(remove).result == WriteResult::accepted);
  CHECK(real.send(remove).result == WriteResult::accepted);  // gone already
  CHECK(real.facts.wait_for([&](const WatchFact& fact) {
    auto* missing = std::get_if<ObjectMissing>(&fact.said);
    return missing != nullptr && missing->key.name == real.name && missing->uid == real.created.uid;
  }));
  WriteRequest apply = on_node(Verb::apply, real.name, node(real.name, real.identity(), "blue"));
  apply.force = true;
  CHECK(real.send(apply).result == WriteResult::gone);  // the uid of an object that is no more
}

TEST_CASE("the loop runs posted work in order and timers after their time") {
  IoLoop loop;
  std::vector<int> order;
  std::promise<void> rang;
  std::unique_ptr<IoLoop::Timer> timer, called_off;
  loop.run([&] {
    timer = loop.after(milliseconds(5), [&] { rang.set_value(); });
    called_off = loop.after(milliseconds(1), [&] { order.push_back(99); });
    called_off.reset();
  });
  loop.post([&] { order.push_back(1); });
  loop.run([&] { order.push_back(2); });
  rang.get_future().wait();
  loop.stop();
  CHECK(order == std::vector<int>{1, 2});
  loop.run([&] { order.push_back(3); });  // after the end: nothing
  CHECK(order.size() == 2);
}
