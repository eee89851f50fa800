// Against a real kube-apiserver. FAIRLEAD_TEST_KUBECONFIG names a kubeconfig whose current context
// may do everything on a server that is thrown away afterwards; without it this file says so and
// tests only the clock of the loop.
#include "connectors/kube/api_server.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <mutex>

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

}  // namespace

TEST_CASE("watching and writing work against a real API server where one is given") {
  const char* path = std::getenv("FAIRLEAD_TEST_KUBECONFIG");
  if (path == nullptr) {
    WARN("FAIRLEAD_TEST_KUBECONFIG is not set: no real API server was asked");
    return;
  }
  auto credentials = load_kubeconfig(path, {});
  REQUIRE(credentials.has_value());
  IoLoop loop;
  FactLog facts;
  ApiServerSettings settings;
  settings.discovery_waiting = milliseconds(300);
  auto made = ApiServerConnection::make(loop, "hub", *credentials, settings);
  REQUIRE(made.has_value());
  ApiServerConnection& server = **made;
  const std::string name = "fairlead-trial";
  write(server.sink(), on_node(Verb::remove, name, ""));

  server.watch({Kind::node, Kind::cluster_queue, Kind::cluster_metrics},
               [&](WatchFact fact) { facts.add(std::move(fact)); });
  REQUIRE(facts.wait_for([](const WatchFact& fact) {
    auto* list = std::get_if<ListCompleted>(&fact.said);
    return fact.source == "hub" && list != nullptr && list->kind == Kind::node;
  }));

  const WriteAnswer created =
      write(server.sink(), on_node(Verb::create, name, node(name, "", "red")));
  CHECK(created.result == WriteResult::accepted);
  CHECK(created.http_code == 201);
  CHECK(created.intent == Seq{7});
  CHECK(write(server.sink(), on_node(Verb::create, name, node(name, "", "red"))).result ==
        WriteResult::conflict);
  auto seen_at = [&](const std::string& version) {
    return facts.wait_for([&](const WatchFact& fact) {
      auto* seen = std::get_if<ObjectSeen>(&fact.said);
      return seen != nullptr && seen->key.name == name && seen->resource_version == version;
    });
  };
  CHECK(seen_at(created.resource_version));

  const std::string identity =
      R"(,"uid":")" + created.uid + R"(","resourceVersion":")" + created.resource_version + "\"";
  WriteRequest apply = on_node(Verb::apply, name, node(name, identity, "blue"));
  apply.force = true;
  const WriteAnswer applied = write(server.sink(), apply);
  CHECK(applied.result == WriteResult::accepted);
  CHECK(seen_at(applied.resource_version));
  CHECK(write(server.sink(), apply).result == WriteResult::conflict);  // a stale resourceVersion

  WriteRequest other = on_node(
      Verb::apply, name, node(name, R"(,"uid":"00000000-0000-0000-0000-000000000000")", "green"));
  other.force = true;
  const WriteAnswer mismatched = write(server.sink(), other);
  INFO(mismatched.http_code << " " << mismatched.reason);
  CHECK(mismatched.result == WriteResult::gone);

  WriteRequest foreign = on_node(Verb::apply, name, node(name, "", "green"));
  foreign.field_manager = "someone";
  const WriteAnswer contested = write(server.sink(), foreign);
  CHECK(contested.result == WriteResult::conflict);
  CHECK(contested.reason.find("FieldManagerConflict") != std::string::npos);

  WriteRequest status = on_node(
      Verb::apply_status, name,
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"fairlead-trial"},"status":{"allocatable":{"cpu":"3"}}})");
  status.force = true;
  CHECK(write(server.sink(), status).result == WriteResult::accepted);
  CHECK(facts.wait_for([&](const WatchFact& fact) {
    auto* seen = std::get_if<ObjectSeen>(&fact.said);
    return seen != nullptr && std::get_if<NodeFacts>(&seen->facts) != nullptr &&
           std::get<NodeFacts>(seen->facts).allocatable == ResourceAmounts{{"cpu", 3000}};
  }));

  const WriteAnswer malformed = write(
      server.sink(),
      on_node(
          Verb::apply, name,
          R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"fairlead-trial","labels":7}})"));
  INFO(malformed.http_code << " " << malformed.reason);
  CHECK(malformed.result == WriteResult::refused);

  const WriteAnswer merged =
      write(server.sink(), on_node(Verb::patch, name, R"({"metadata":{"labels":{"color":null}}})"));
  CHECK(merged.result == WriteResult::accepted);

  WriteRequest remove = on_node(Verb::remove, name, "");
  remove.uid = "00000000-0000-0000-0000-000000000000";
  CHECK(write(server.sink(), remove).result == WriteResult::gone);
  remove.uid = created.uid;
  remove.resource_version = "1";
  CHECK(write(server.sink(), remove).result == WriteResult::conflict);
  remove.resource_version.clear();
  CHECK(write(server.sink(), remove).result == WriteResult::accepted);
  CHECK(write(server.sink(), remove).result == WriteResult::accepted);  // gone already
  CHECK(facts.wait_for([&](const WatchFact& fact) {
    auto* missing = std::get_if<ObjectMissing>(&fact.said);
    return missing != nullptr && missing->key.name == name && missing->uid == created.uid;
  }));
  CHECK(write(server.sink(), apply).result ==
        WriteResult::gone);  // uid of an object that is no more
  const ApiServerCounters counters = server.counters();
  CHECK(counters.synced.at(Kind::node));
  CHECK(counters.reflectors.at(Kind::node).lists >= 1);
  server.stop();
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
