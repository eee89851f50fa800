// Who holds the Lease: electors on one API server in memory, in virtual time.
#include "connectors/kube/lease/lease_elector.h"

#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "engine/fleet/model/model.h"
#include "engine/fleet/model/model_transport.h"

using namespace fairlead;
using namespace fairlead::model;

namespace {

constexpr const char* kLease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/hub";
constexpr LogTime kBegin{1'767'225'600'000'000'000};  // 2026-01-01T00:00:00Z

// The way of one process to the server: the process can be paused, and its requests lost or
// refused.
class ProcessTransport final : public Transport {
 public:
  ProcessTransport(VirtualTime& time, Model& api) : time_(time), inner_(time, api) {}

  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override {
    ++requests;
    const bool write = request.method != "GET";
    if (lost || (lost_answers && write)) {
      const Duration timeout = request.timeout;
      if (!lost) inner_.send(std::move(request), [](const Result<HttpResponse>&) {});
      return time_.post(timeout, [this, done = std::move(done)] {
        run([done] { done(Error{ErrorCode::unavailable, "timeout while waiting"}); });
      });
    }
    if (refusal != 0)
      return time_.post(milliseconds(1), [this, done = std::move(done)] {
        run([done, status = refusal] {
          done(HttpResponse{status, {}, R"({"kind":"Status","message":"no"})"});
        });
      });
    inner_.send(std::move(request), [this, done = std::move(done)](Result<HttpResponse> got) {
      time_.post(delay, [this, done, got = std::move(got)] { run([done, got] { done(got); }); });
    });
  }
  std::unique_ptr<Stream> stream(HttpRequest, HttpStreamHandler) override { return nullptr; }
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work) override {
    struct Handle final : Timer {
      std::shared_ptr<std::function<void()>> work;
      std::unique_ptr<Timer> timer;
    };
    auto handle = std::make_unique<Handle>();
    handle->work = std::make_shared<std::function<void()>>(std::move(work));
    handle->timer = time_.after(span, [this, weak = std::weak_ptr(handle->work)] {
      run([weak] {
        if (const auto due = weak.lock()) (*due)();
      });
    });
    return handle;
  }
  LogTime now() const override { return time_.now(); }

  void pause() { paused_ = true; }
  void resume() {
    paused_ = false;
    for (const auto& work : std::exchange(held_, {})) run(work);
  }

  bool lost = false;          // no request arrives
  bool lost_answers = false;  // writes arrive, their answers do not
  Duration delay;             // of answers
  int refusal = 0;            // the status of every answer, if not 0
  int requests = 0;

 private:
  void run(std::function<void()> work) {
    if (paused_)
      held_.push_back(std::move(work));
    else
      work();
  }

  VirtualTime& time_;
  ModelTransport inner_;
  bool paused_ = false;
  std::deque<std::function<void()>> held_;
};

struct Election {
  // A process that takes part.
  struct Process {
    Process(Election& in, const std::string& name, Duration wall_offset)
        : transport(in.time, in.api) {
      LeaseSettings settings;
      settings.namespace_ = "default";
      settings.name = "hub";
      settings.identity = name;
      settings.random = [&random = in.random] { return random(); };
      settings.wall_clock = [&time = in.time, wall_offset] {
        return LogTime{time.now().ns + wall_offset.ns};
      };
      elector.emplace(
          transport, settings,
          LeaseElector::Events{[this] { events += '+'; },
                               [this, &in] {
                                 events += '-';
                                 holder_when_lost = in.holder();
                               },
                               [this](std::string line) { said.push_back(std::move(line)); }});
    }
    bool leads() const { return elector->leads(); }

    ProcessTransport transport;
    std::optional<LeaseElector> elector;
    std::string events;  // + won, - lost
    std::string holder_when_lost;
    std::vector<std::string> said;
  };

  Process& add(const std::string& name, Duration wall_offset = {}) {
    processes.push_back(std::make_unique<Process>(*this, name, wall_offset));
    return *processes.back();
  }
  Process& add_started(const std::string& name, Duration wall_offset = {}) {
    Process& added = add(name, wall_offset);
    added.elector->start();
    return added;
  }
  void pass(Duration span) {
    const LogTime then = time.now() + span;
    while (time.next_due() <= then) {
      time.advance_to(time.next_due());
      check_one_leader();
    }
    time.advance_to(then);
  }
  // Returns how long it takes until `process` leads; more than a minute is a failure.
  Duration until_leads(const Process& process) {
    const LogTime began = time.now();
    while (!process.leads() && time.now() < began + minutes(1)) pass(milliseconds(100));
    CHECK(process.leads());
    return time.now() - began;
  }
  void check_one_leader() {
    int leaders = 0;
    for (const auto& process : processes) leaders += process->leads() ? 1 : 0;
    if (leaders > 1) FAIL("two lead");
  }
  Json lease() {
    const Outcome<Json> got = api.call("GET", kLease);
    return got ? *got : Json();
  }
  std::string holder() { return text_in(member(lease(), "spec"), "holderIdentity"); }

  VirtualTime time{kBegin};
  Model api{time};
  std::mt19937_64 random{1};
  std::vector<std::unique_ptr<Process>> processes;
};

using Annotations = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("one process makes the Lease, holds it and renews it") {
  Election election;
  auto& a = election.add("a");
  CHECK_FALSE(a.leads());
  a.elector->start();
  CHECK(a.transport.requests == 0);  // not within the call
  election.pass(milliseconds(100));
  CHECK(a.events == "+");
  CHECK(a.leads());
  // Counted from the request, not from its answer.
  CHECK(a.elector->leads_until() == kBegin + milliseconds(2) + seconds(10));
  const Json spec = election.lease()["spec"];
  CHECK(spec == Json{{"holderIdentity", "a"},
                     {"leaseDurationSeconds", 15},
                     {"leaseTransitions", 0},
                     {"acquireTime", "2026-01-01T00:00:00.002000Z"},
                     {"renewTime", "2026-01-01T00:00:00.002000Z"}});
  election.pass(minutes(10));
  CHECK(a.events == "+");
  const Json later = election.lease()["spec"];
  CHECK(later["acquireTime"] == spec["acquireTime"]);
  CHECK(parse_rfc3339(text_in(later, "renewTime")).value().ns >
        (election.time.now().ns - seconds(3).ns));
  CHECK(a.said == std::vector<std::string>{"Lease default/hub: this process holds it"});
  // A GET and a PUT each 2 s to 2.4 s.
  CHECK(a.transport.requests >= 2 * 250);
  CHECK(a.transport.requests <= 2 * 301);
  CHECK(a.elector->seen()->holder == "a");
}

TEST_CASE("a paused holder loses the Lease after leaseDuration, and knows it as soon as it runs") {
  Election election;
  auto& a = election.add_started("a");
  election.pass(seconds(1));
  auto& b = election.add_started("b");
  election.pass(minutes(1));
  CHECK(b.events.empty());
  a.transport.pause();
  const Duration took = election.until_leads(b);
  CHECK(took >= seconds(12));  // 15 s after a renewal that was at most 2.4 s before
  CHECK(took <= milliseconds(15'000 + 2 * 2'400 + 100));
  CHECK_FALSE(a.leads());  // by its clock alone
  CHECK(a.events == "+");
  a.transport.resume();
  CHECK(a.events == "+-");
  election.pass(minutes(1));
  CHECK(a.events == "+-");
  CHECK(b.events == "+");
  CHECK(election.lease()["spec"]["leaseTransitions"] == 1);
  CHECK(a.said.back() == "Lease default/hub: b holds it");
}

TEST_CASE("a released Lease is taken within a period") {
  Election election;
  auto& a = election.add_started("a");
  election.pass(seconds(1));
  auto& b = election.add_started("b");
  election.pass(seconds(20));
  bool done = false;
  a.elector->release([&] { done = true; });
  CHECK(a.events == "+");  // not within the call
  CHECK_FALSE(a.leads());
  CHECK(election.until_leads(b) <= seconds(3));
  CHECK(done);
  CHECK(a.events == "+-");
  CHECK(a.holder_when_lost == "a");  // it had stopped before the Lease was free
  election.pass(minutes(1));
  CHECK(election.holder() == "b");
  // Who holds nothing releases nothing.
  auto& c = election.add_started("c");
  election.pass(seconds(5));
  done = false;
  c.elector->release([&] { done = true; });
  election.pass(seconds(1));
  CHECK(done);
  CHECK(election.holder() == "b");
}

TEST_CASE("a release does not lose against a renewal that is under way") {
  for (int step = 0; step < 8; ++step) {
    Election election;
    auto& a = election.add_started("a");
    election.pass(seconds(30));
    while (a.transport.requests % 2 != 0) election.pass(milliseconds(1));
    const int before = a.transport.requests;
    while (a.transport.requests == before) election.pass(milliseconds(1));
    election.pass(milliseconds(step));
    bool done = false;
    a.elector->release([&] { done = true; });
    election.pass(seconds(5));
    CHECK(done);
    CHECK(election.lease().is_object());
    CHECK(election.holder().empty());
    CHECK(a.events == "+-");
  }
}

TEST_CASE("a release that meets the change of another is sent again") {
  Election election;
  auto& a = election.add_started("a");
  election.pass(seconds(30));
  const int before = a.transport.requests;
  a.elector->release([] {});
  while (a.transport.requests < before + 2) election.pass(milliseconds(1));
  // Between its GET and its PUT.
  const Json patch{{"metadata", {{"annotations", {{"x", "1"}}}}}};
  REQUIRE(election.api.call("PATCH", kLease, patch).has_value());
  election.pass(seconds(1));
  CHECK(election.lease().is_object());
  CHECK(election.holder().empty());
}

TEST_CASE("renewTime is compared with no clock") {
  for (const Duration offset : {hours(1), Duration{-hours(1).ns}}) {
    Election election;
    auto& a = election.add_started("a", offset);
    election.pass(seconds(1));
    auto& b = election.add_started("b");
    election.pass(minutes(5));
    CHECK(b.events.empty());
    CHECK(a.events == "+");
    a.transport.pause();
    CHECK(election.until_leads(b) <= seconds(20));
  }
}

TEST_CASE("the holder stops at renewDeadline if the server does not answer") {
  Election election;
  auto& a = election.add_started("a");
  election.pass(seconds(30));
  SECTION("requests are lost") { a.transport.lost = true; }
  SECTION("answers are lost: the Lease is renewed, but the holder does not know") {
    a.transport.lost_answers = true;
  }
  SECTION("the server has no room") { a.transport.refusal = 500; }
  SECTION("it may not") { a.transport.refusal = 403; }
  election.pass(seconds(7));
  CHECK(a.leads());
  election.pass(milliseconds(3'100));
  CHECK(a.events == "+-");
  CHECK_FALSE(a.leads());
  election.pass(minutes(1));
  // Each reason once, however often it is tried.
  CHECK(a.said.size() <= 4);
  CHECK(a.said.at(a.said.size() - 1).find("lease") != std::string::npos);
  const int before = a.transport.requests;
  election.pass(minutes(1));
  CHECK(a.transport.requests - before >= 15);
  a.transport.lost = a.transport.lost_answers = false;
  a.transport.refusal = 0;
  election.pass(seconds(5));
  CHECK(a.events == "+-+");
  CHECK(election.lease()["spec"]["leaseTransitions"] == 0);
}

TEST_CASE("one request that is lost, or slow answers, cost the holder nothing") {
  Election election;
  auto& a = election.add_started("a");
  election.pass(seconds(30));
  SECTION("a lost request, as of a connection that died") {
    for (int i = 0; i < 20; ++i) {
      a.transport.lost = true;
      election.pass(seconds(3));
      a.transport.lost = false;
      election.pass(seconds(7));
    }
  }
  SECTION("a server that takes three seconds") {
    a.transport.delay = seconds(3);
    election.pass(minutes(3));
  }
  CHECK(a.events == "+");
}

TEST_CASE("who yields leaves the Lease to others, and takes it again after leaseDuration") {
  Election election;
  auto& a = election.add_started("a");
  election.pass(seconds(1));
  SECTION("another takes it and lets go") {
    auto& b = election.add_started("b");
    election.pass(seconds(10));
    a.elector->yield();
    CHECK_FALSE(a.leads());
    CHECK(election.until_leads(b) <= seconds(3));
    CHECK(a.events == "+-");
    b.elector->release([] {});
    CHECK(election.until_leads(a) >= seconds(11));
  }
  SECTION("two that yield leave it to the third") {
    auto &b = election.add_started("b"), &c = election.add_started("c");
    for (int i = 0; i < 400 && !c.leads(); ++i, election.pass(milliseconds(100)))
      for (auto* one : {&a, &b})
        if (one->leads()) one->elector->yield();
    CHECK((a.events == "+-" && b.events.size() < 3 && c.events == "+"));
  }
  SECTION("there is no other") {
    a.elector->yield();
    const Duration took = election.until_leads(a);
    CHECK(took >= seconds(15));
    CHECK(took <= seconds(18));
    CHECK(a.events == "+-+");
  }
}

TEST_CASE("annotations are added by version") {
  Election election;
  auto& a = election.add("a");
  std::vector<std::string> how;
  const auto annotate = [&](Election::Process& by, const Annotations& added) {
    by.elector->annotate(added, [&how](const Result<void>& got) {
      how.push_back(got ? "done" : std::string(text_of(got.error().code)));
    });
  };
  SECTION("where there is no Lease it is made, without a holder") {
    annotate(a, {{"fairlead.io/log", "1"}});
    CHECK(how.empty());
    election.pass(seconds(1));
    CHECK(how == std::vector<std::string>{"done"});
    CHECK(election.holder().empty());
    CHECK(a.elector->seen()->annotations == Annotations{{"fairlead.io/log", "1"}});
    a.elector->start();
    election.pass(seconds(30));
    CHECK(a.leads());
    CHECK(election.lease()["metadata"]["annotations"] == Json{{"fairlead.io/log", "1"}});
  }
  SECTION("the first of two wins") {
    auto& b = election.add("b");
    annotate(a, {{"x", "a"}});
    annotate(b, {{"x", "b"}});
    election.pass(seconds(1));
    CHECK(how == std::vector<std::string>{"done", "conflict"});
    CHECK(election.lease()["metadata"]["annotations"] == Json{{"x", "a"}});
  }
  SECTION("of a Lease that this process renews meanwhile, and that another annotated") {
    a.elector->start();
    election.pass(seconds(1));
    REQUIRE(a.leads());
    annotate(a, {{"x", "1"}});
    annotate(a, {{"y", "2"}});  // it knows of x only when its turn comes
    election.pass(seconds(1));
    CHECK(how == std::vector<std::string>{"done", "conflict"});
    annotate(a, {{"y", "2"}});
    election.pass(seconds(1));
    CHECK(how.back() == "done");
    const Json patch{{"metadata", {{"annotations", {{"z", "3"}}}}}};
    REQUIRE(election.api.call("PATCH", kLease, patch).has_value());
    annotate(a, {{"y", "4"}});
    election.pass(milliseconds(100));
    CHECK(how.back() == "conflict");
    election.pass(seconds(30));
    CHECK(a.events == "+");
    CHECK(election.lease()["metadata"]["annotations"] == Json{{"x", "1"}, {"y", "2"}, {"z", "3"}});
  }
  SECTION("that fails for another reason") {
    a.transport.refusal = 403;
    annotate(a, {{"x", "1"}});
    election.pass(seconds(1));
    CHECK(how == std::vector<std::string>{"denied"});
  }
}

TEST_CASE("the Lease can be read without taking part") {
  Election election;
  election.add_started("a");
  election.pass(seconds(1));
  auto& b = election.add("b");
  int reads = 0;
  b.elector->read([&](const Result<void>& got) { reads += got ? 1 : 0; });
  election.pass(seconds(1));
  CHECK(reads == 1);
  CHECK(b.elector->seen()->holder == "a");
  CHECK(b.events.empty());
}

TEST_CASE("the Lease is deleted by hand: its holder makes it again") {
  Election election;
  auto& a = election.add_started("a");
  election.pass(seconds(1));
  REQUIRE(election.api.call("DELETE", kLease).has_value());
  election.pass(seconds(5));
  CHECK(a.events == "+");
  CHECK(election.holder() == "a");
}

TEST_CASE("an elector may end within its own event") {
  Election election;
  ProcessTransport transport(election.time, election.api);
  std::optional<LeaseElector> elector;
  LeaseSettings settings;
  settings.namespace_ = "default";
  settings.name = "hub";
  settings.identity = "x";
  settings.random = [] { return 0; };
  settings.wall_clock = [&] { return election.time.now(); };
  int won = 0;
  elector.emplace(transport, settings,
                  LeaseElector::Events{[&] {
                                         ++won;
                                         elector.reset();
                                       },
                                       [] { FAIL(); }, [](const std::string&) {}});
  elector->start();
  election.pass(minutes(1));
  CHECK(won == 1);
  CHECK(transport.requests == 2);
}

TEST_CASE("three processes with faults: one leads at most, and one leads after them") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Election election;
    election.random.seed(seed);
    for (const char* name : {"a", "b", "c"}) election.add_started(name);
    for (int i = 0; i < 100; ++i) {
      auto& one = *election.processes[election.random() % 3];
      switch (election.random() % 8) {
        case 0: one.transport.pause(); break;
        case 1: one.transport.lost = !one.transport.lost; break;
        case 2: one.transport.lost_answers = !one.transport.lost_answers; break;
        case 3: one.transport.refusal = one.transport.refusal == 0 ? 500 : 0; break;
        case 4: one.elector->yield(); break;
        default: one.transport.resume();
      }
      election.pass(milliseconds(static_cast<std::int64_t>(election.random() % 8000)));
    }
    for (const auto& one : election.processes) {
      one->transport.lost = one->transport.lost_answers = false;
      one->transport.refusal = 0;
      one->transport.resume();
    }
    election.pass(seconds(40));
    int leaders = 0;
    for (const auto& one : election.processes) leaders += one->leads() ? 1 : 0;
    CHECK(leaders == 1);
  }
}
