// Several processes that share a log: who leads, what the others know, and what becomes of writes.
#include "engine/runtime/role_loop.h"

#include <array>
#include <memory>

#include "engine/runtime/metrics.h"
#include "tests/support/memory_commit_store.h"
#include "tests/unit/log/log_fixture.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

constexpr const char* kLogId = "0123456789abcdef0123456789abcdef";
constexpr std::uint32_t kSlots = 8;

class ElectionDouble final : public Election {
 public:
  bool leads() const override { return leading; }
  std::string leader() const override { return leading ? "this" : "another"; }
  void say_listed() override { ++said_listed; }
  bool listed() const override { return false; }
  void release() override { leading = false; }
  std::vector<std::uint64_t> copies() const override { return copied; }
  void ask_others() override { ++asked; }
  OthersSaid others() const override { return said ? said() : OthersSaid{0, true}; }
  void yield() override {
    ++yields;
    leading = false;
  }
  int asked = 0, yields = 0;
  std::function<OthersSaid()> said;
  int said_listed = 0;
  std::vector<std::uint64_t> copied{1'000'000};
  bool leading = false;
};

/// Takes requests and never answers.
class SilentSink final : public PatchSink {
 public:
  void send(WriteRequest, std::function<void(WriteAnswer)>) override { ++sent; }
  int sent = 0;
};

/// Carries writes out at once, and has the stream report them.
class WorldSink final : public PatchSink {
 public:
  WorldSink(ServerDouble& server, const LogReader& log, std::vector<WatchFact>& facts)
      : server_(server), log_(log), facts_(facts) {}
  void send(WriteRequest request, std::function<void(WriteAnswer)> answered) override {
    const auto intent = (*log_.read(request.intent))->next();
    auto written = server_.write(request.intent, std::get<PatchIntended>((*intent)->fact));
    if (written.observed) facts_.push_back(*std::move(written.observed));
    answered(std::move(written.answer));
  }

 private:
  ServerDouble& server_;
  const LogReader& log_;
  std::vector<WatchFact>& facts_;
};

/// One process: its data directory, its copy of the log, and what it sent.
struct Process {
  Process(MemoryRing& servers, VirtualClock& clock, SmallWorld& world_given, std::string name,
          const CopyTerms& copy_terms)
      : terms(copy_terms),
        world(world_given),
        store(servers),
        local(open_log(directory.path())),
        log(*local, place(), store, {},
            {[&servers](std::function<void()> work) { servers.time().post({}, std::move(work)); },
             [] {}, [this](const std::string& line) { said.push_back(line); },
             [&servers] { return servers.time().now(); }, [this] { pump(); }}),
        replica(log, clock, settings(servers, std::move(name)), [](const Diagnostic&) {}) {
    REQUIRE(replica.fold({}).has_value());
    RolePorts ports;
    ports.hub.sink_of = [this](const std::string& cluster) -> PatchSink* {
      if (cluster != "hub") return nullptr;
      return silent ? &sink : served.get();
    };
    ports.hub.now = [&servers] { return servers.time().now(); };
    ports.hub.pass = [this](Duration) { pump(); };
    ports.hub.absent_kinds = [] { return std::set<Kind>(); };
    ports.hub.read_configuration = [this] { return std::optional(read); };
    ports.hub.recommend = [](const Recommendation&) {};
    ports.hub.follow = [this](const Configuration&, const Watch&) { streams = true; };
    ports.connect = [this](const Configuration&) -> Result<bool> {
      ++connects;
      return connects > slow_connects;
    };
    ports.disconnect = [this] { ++disconnects; };
    loop = std::make_unique<RoleLoop>(replica, &log, election, inbox, status, std::move(ports),
                                      world.configuration, terms, [](const Diagnostic&) {});
  }
  ~Process() { log.close(); }

  static HubSettings settings(MemoryRing& servers, std::string name) {
    HubSettings made{std::move(name)};
    made.now = [&servers] { return servers.time().now(); };
    return made;
  }
  RingPlace place() const {
    const auto known = local->ring_place();
    REQUIRE(known.has_value());
    return known->value_or(RingPlace{kLogId, kSlots, 0, 0, {}, {}});
  }
  void pump() { time->advance_to(std::min(time->next_due(), time->now() + milliseconds(100))); }
  Result<void> turn() {
    if (std::exchange(streams, false))
      for (WatchFact& fact : world.hub.list(every_hub_kind())) facts.push_back(std::move(fact));
    Inbox::Content content;
    content.configuration = std::exchange(reread, false);
    content.facts = std::exchange(facts, {});
    return loop->turn(std::move(content));
  }

  const CopyTerms terms;
  SmallWorld& world;
  ScratchDirectory directory;
  MemoryCommitStore store;
  std::unique_ptr<RocksdbLog> local;
  std::vector<std::string> said;
  model::VirtualTime* time = nullptr;
  ReplicatedLog log;
  Replica replica;
  ElectionDouble election;
  Inbox inbox{16};
  HubStatus status;
  bool streams = false, reread = false;
  bool silent = false;  ///< writes to the hub's API server are not answered, not unserved
  SilentSink sink;
  std::unique_ptr<PatchSink> served;        ///< null: the hub's API server is not connected
  Configuration read{world.configuration};  ///< what the file says
  int connects = 0, slow_connects = 0, disconnects = 0;
  std::vector<WatchFact> facts;
  std::unique_ptr<RoleLoop> loop;
};

class Several {
 public:
  explicit Several(const CopyTerms& terms = {}) {
    servers.make(kLogId, kSlots);
    world.hub.put(SmallWorld::claim(), SmallWorld::claim_facts());
    world.at_once();
    for (const char* name : {"a", "b", "c"}) {
      all.push_back(std::make_unique<Process>(servers, clock, world, name, terms));
      all.back()->time = &time;
    }
  }
  Process& at(std::size_t which) { return *all[which]; }
  void turn(int times = 1) {
    for (int i = 0; i < times; ++i) {
      for (const auto& process : all)
        if (!process->store.paused()) REQUIRE(process->turn().has_value());
      time.advance_to(time.now() + milliseconds(50));
      clock.time = clock.time + milliseconds(50);
    }
  }
  void lead(std::size_t which) {
    for (std::size_t i = 0; i < all.size(); ++i) at(i).election.leading = i == which;
    turn(60);
    REQUIRE(at(which).loop->leads());
    REQUIRE(at(which).loop->stats().planning);
  }
  /// In the place of one: a process with an empty data directory.
  Process& begin_anew(std::size_t which) {
    all[which] = std::make_unique<Process>(servers, clock, world, "new", CopyTerms{});
    at(which).time = &time;
    return at(which);
  }
  void check_equal() {
    for (const auto& process : all) {
      CHECK(process->log.last_seq() == at(0).log.last_seq());
      CHECK(process->log.chain() == at(0).log.chain());
      CHECK_FALSE(process->local->verify()->broken_at);
    }
  }

  model::VirtualTime time{LogTime{}};
  MemoryRing servers{time, 1};
  VirtualClock clock;
  SmallWorld world;
  std::vector<std::unique_ptr<Process>> all;
};

TEST_CASE("Whoever holds the Lease leads, and the others follow its log") {
  Several hubs;
  hubs.turn(20);
  for (const auto& process : hubs.all) {
    CHECK_FALSE(process->loop->leads());
    CHECK(process->loop->stats().role.caught_up);
  }
  Epoch epoch;
  for (int round = 0; round < 4; ++round) {
    const std::size_t leader = static_cast<std::size_t>(round) % hubs.all.size();
    hubs.lead(leader);
    hubs.check_equal();
    CHECK(hubs.at(leader).replica.state().epoch > epoch);
    epoch = hubs.at(leader).replica.state().epoch;
    for (const auto& process : hubs.all) CHECK(process->replica.state().epoch == epoch);
  }
  CHECK(hubs.at(0).connects == 2);
  CHECK(hubs.at(0).disconnects == 1);
}

TEST_CASE("A leader that stood still is fenced by its first append, of which nothing is folded") {
  Several hubs;
  hubs.lead(0);
  Process& paused = hubs.at(0);
  paused.store.pause();
  const Seq before = paused.replica.state().seq;
  hubs.at(1).election.leading = true;
  hubs.turn(60);
  REQUIRE(hubs.at(1).loop->leads());
  // Its own clock has not told it yet that the Lease is lost.
  paused.store.resume();
  paused.facts.push_back(hubs.world.add_node("late", "spot"));
  REQUIRE(paused.turn().has_value());
  CHECK(paused.replica.state().seq == before);
  hubs.at(0).election.leading = false;
  hubs.turn(60);
  CHECK_FALSE(paused.loop->leads());
  CHECK(paused.replica.state().epoch == hubs.at(1).replica.state().epoch);
  hubs.check_equal();
}

TEST_CASE("While the servers do not answer nothing is decided, and a later answer is waited for") {
  Several hubs;
  hubs.lead(0);
  Process& leader = hubs.at(0);
  hubs.servers.down = true;
  leader.facts.push_back(hubs.world.add_node("while-down", "spot"));
  const Seq before = leader.replica.state().seq;
  hubs.turn(200);
  CHECK(leader.replica.state().seq == before);
  CHECK_FALSE(leader.loop->stats().role.trouble.empty());
  CHECK(leader.loop->stats().role.lag >= seconds(5));
  hubs.servers.down = false;
  hubs.turn(200);
  CHECK(leader.replica.state().seq > before);
  CHECK(leader.loop->stats().role.trouble == "");
  CHECK(leader.loop->stats().role.lag == Duration{});
  hubs.check_equal();
}

TEST_CASE("A term begins with the configuration that was read last, also by the leader before") {
  Several hubs;
  hubs.lead(0);
  Process& first = hubs.at(0);
  first.read.snapshot_every = 777;
  first.reread = true;
  hubs.turn(20);
  CHECK(first.replica.state().configuration.snapshot_every == 777);
  hubs.lead(1);
  CHECK(hubs.at(1).replica.state().configuration.snapshot_every != 777);
  hubs.lead(0);
  CHECK(first.replica.state().configuration.snapshot_every == 777);
}

TEST_CASE("A process that holds the Lease waits until its last term's connections have ended") {
  Several hubs;
  hubs.at(0).slow_connects = 5;
  hubs.lead(0);
  CHECK(hubs.at(0).connects == 6);
}

TEST_CASE("A ring that lost several laps is put back whole") {
  Several hubs;
  hubs.lead(0);
  const auto kept = hubs.servers.save();
  const auto grow = [&](std::uint64_t commits) {
    const std::uint64_t end = hubs.at(0).log.state().place.next + commits;
    for (std::uint64_t i = 0; hubs.at(0).log.state().place.next < end; ++i) {
      REQUIRE(i < 100);
      hubs.at(0).facts.push_back(hubs.world.add_node("n" + std::to_string(end + i), "spot"));
      hubs.turn(10);
    }
  };
  grow(std::uint64_t{3} * kSlots);
  for (int again = 0; again < 2; ++again) {
    hubs.servers.restore(kept, 0);
    grow(1);
    const std::uint64_t next = hubs.at(0).log.state().place.next;
    for (const auto& [number, slot] : hubs.servers.slots())
      CHECK(slot.commit.commit + kSlots >= next);
  }
  CHECK(hubs.at(0).log.state().counters.went_back == 2);
  hubs.turn(700);  // a stream that is silent about it is looked behind
  hubs.check_equal();
}

TEST_CASE(
    "A replica that has more of the log than the ring leads, not the one that holds the Lease") {
  Several hubs;
  hubs.lead(0);
  const auto kept = hubs.servers.save();
  const std::uint64_t early = hubs.at(0).log.state().place.next;
  REQUIRE(early <= kSlots);
  hubs.at(0).facts.push_back(hubs.world.add_node("later", "spot"));
  hubs.turn(20);
  const std::uint64_t known = hubs.at(1).log.state().place.next;
  REQUIRE(known > early);
  hubs.servers.restore(kept, 0);
  hubs.at(0).election.leading = false;
  hubs.turn(1);
  Process& late = hubs.begin_anew(2);
  late.election.said = [&] { return OthersSaid{known, true}; };

  SECTION("it gives the Lease up, and the other puts back what is missing") {
    late.election.leading = true;
    hubs.turn(40);
    CHECK(late.election.asked == 1);
    CHECK(late.election.yields == 1);
    CHECK_FALSE(late.loop->leads());
    hubs.lead(1);
    hubs.turn(700);  // a stream that is silent about it is looked behind
    CHECK(hubs.at(1).log.state().counters.went_back == 1);
    hubs.check_equal();
  }
  SECTION("it waits two seconds at most for what they say") {
    late.election.said = [&] { return OthersSaid{early, false}; };
    late.election.leading = true;
    hubs.turn(1);
    const LogTime began = hubs.time.now();
    while (!late.loop->leads() && hubs.time.now() - began < seconds(10)) {
      hubs.time.advance_to(hubs.time.now() + milliseconds(50));
      REQUIRE(late.turn().has_value());
    }
    CHECK(hubs.time.now() - began >= kOthersMax);
    CHECK(hubs.time.now() - began <= seconds(3));
    CHECK(late.election.yields == 0);
  }
  SECTION("where the other never leads, it goes on without it") {
    for (int times = 0; times < 5 && !late.loop->leads(); ++times) {
      late.election.leading = true;
      for (int i = 0; i < 40; ++i) {
        hubs.time.advance_to(hubs.time.now() + milliseconds(50));
        REQUIRE(late.turn().has_value());
      }
    }
    CHECK(late.loop->leads());
    CHECK(late.election.yields == kYieldsMax);
  }
}

TEST_CASE("A replica that cannot read the ring leaves the Lease to another") {
  Several hubs;
  hubs.lead(0);
  SECTION("because it is behind the window") {
    for (std::uint32_t i = 0; i < 2 * kSlots; ++i) {
      hubs.at(0).facts.push_back(hubs.world.add_node("node-" + std::to_string(i), "spot"));
      hubs.turn(10);
    }
    hubs.at(0).election.leading = false;
    hubs.begin_anew(2).election.leading = true;
    hubs.turn(20);
  }
  SECTION("because the servers do not answer it") {
    hubs.servers.down = true;
    hubs.at(0).election.leading = false;
    hubs.at(2).election.leading = true;
    hubs.turn(500);
    CHECK(hubs.at(2).election.yields == 0);
    hubs.turn(200);
  }
  CHECK(hubs.at(2).election.yields == 1);
  CHECK_FALSE(hubs.at(2).loop->leads());
}

TEST_CASE("A leader that cannot write the ring leaves the Lease to another") {
  Several hubs;
  hubs.lead(0);
  hubs.servers.down = true;
  hubs.at(0).facts.push_back(hubs.world.add_node("while-down", "spot"));
  hubs.turn(500);
  CHECK(hubs.at(0).loop->leads());
  hubs.turn(200);
  CHECK_FALSE(hubs.at(0).loop->leads());
  CHECK(hubs.at(0).election.yields == 1);
  hubs.servers.down = false;
  hubs.lead(1);
  hubs.check_equal();
}

TEST_CASE("What the others have and the ring has too is no reason to yield") {
  Several hubs;
  hubs.lead(0);
  hubs.at(2).store.pause();
  hubs.at(0).facts.push_back(hubs.world.add_node("later", "spot"));
  hubs.turn(20);
  hubs.at(2).store.resume();
  hubs.at(2).election.said = [&] { return OthersSaid{hubs.at(1).log.state().place.next, true}; };
  hubs.lead(2);
  CHECK(hubs.at(2).election.asked == 1);
  CHECK(hubs.at(2).election.yields == 0);
}

TEST_CASE("A commit that nobody else has is replaced only where the leader may go on alone") {
  for (const std::int64_t required : {1, 2}) {
    CAPTURE(required);
    Several hubs({required, seconds(10)});
    hubs.lead(0);
    Process& leader = hubs.at(0);
    leader.election.copied = {};
    for (int i = 0; i < 12; ++i) {
      leader.facts.push_back(hubs.world.add_node("node-" + std::to_string(i), "spot"));
      hubs.turn(10);
    }
    CHECK(leader.loop->stats().role.copies == 1);
    CHECK(hubs.servers.slots().at(0).commit.commit == 0);
    hubs.turn(200);
    CHECK((hubs.servers.slots().at(0).commit.commit == 0) == (required == 2));
    if (required == 1) continue;
    const Seq held = leader.replica.state().seq;
    leader.election.copied = {kSlots};
    hubs.turn(20);
    CHECK(leader.loop->stats().role.copies == 2);
    CHECK(leader.replica.state().seq > held);
  }
}

TEST_CASE("A process that waits for a Lease does not say that it leads") {
  const std::string leads = R"(leader_election_master_status{name="fairlead"} )";
  const auto page = [](const HubStatus& status) { return metrics_text(status.stats(), {}, {}); };
  CHECK(page(HubStatus()).find(leads + "1") != std::string::npos);
  CHECK(page(HubStatus(HubRole::follower)).find(leads + "0") != std::string::npos);
  CHECK_FALSE(HubStatus(HubRole::follower).ready());
}

TEST_CASE("A leader that is asked to stop waits for its writes in virtual time, too") {
  Several hubs;
  hubs.at(0).silent = true;
  hubs.lead(0);
  REQUIRE(hubs.at(0).sink.sent > 0);
  const LogTime asked = hubs.time.now();
  Inbox::Content content;
  content.stops = 1;
  REQUIRE(hubs.at(0).loop->finish(std::move(content)).has_value());
  CHECK(hubs.time.now() - asked >= kStopGrace);
  CHECK_FALSE(hubs.at(0).election.leading);
}

TEST_CASE("A log that is busier than its pace goes on deciding") {
  Several hubs;
  Process& leader = hubs.at(0);
  leader.served = std::make_unique<WorldSink>(hubs.world.hub, *leader.local, leader.facts);
  hubs.lead(0);
  leader.facts = hubs.world.member.list({Kind::node});
  hubs.turn(20);
  int nodes = 0;
  const auto busy = [&](int turns) {  // 20 facts a second, and five commits
    for (int i = 0; i < turns; ++i) {
      leader.facts.push_back(hubs.world.add_node("n" + std::to_string(++nodes), "spot"));
      hubs.turn();
    }
  };
  busy(200);  // the burst of the pace is over then
  const std::uint64_t intents = leader.loop->stats().intents;
  const std::uint64_t commits = leader.log.state().place.next;
  for (int i = 0; i < 5; ++i)
    leader.facts.push_back(
        hubs.world.member.remove(SmallWorld::node("on-demand-" + std::to_string(i))));
  busy(200);
  CHECK(leader.loop->stats().intents > intents);
  CHECK(leader.log.state().place.next - commits <= 60);
  CHECK(leader.loop->stats().role.paced >= seconds(5));
  hubs.turn(400);
  hubs.check_equal();
}

TEST_CASE("A process whose log has stopped ends") {
  Several hubs;
  hubs.lead(0);
  RingCommit foreign = hubs.servers.slots().at(0).commit;
  foreign.log = std::string(32, 'f');
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    foreign.commit = slot + kSlots;
    hubs.servers.edit(foreign);
  }
  Result<void> ended;
  for (int i = 0; i < 100 && ended; ++i) {
    ended = hubs.at(1).turn();
    hubs.time.advance_to(hubs.time.now() + milliseconds(50));
  }
  REQUIRE_FALSE(ended.has_value());
  CHECK(ended.error().code == ErrorCode::corrupt);
}

}  // namespace
}  // namespace fairlead
