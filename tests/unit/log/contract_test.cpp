// What every event log does, whatever it is made of.
#include <algorithm>
#include <thread>

#include "engine/log/hash_chain.h"
#include "engine/log/memory_log.h"
#include "engine/log/replicated/replicated_log.h"
#include "schema/codec.h"
#include "tests/support/memory_commit_store.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

struct InMemory {
  MemoryLog log_;
  EventLog& log() { return log_; }
};
struct OnRocksdb {
  ScratchDirectory directory;
  std::unique_ptr<RocksdbLog> log_ = open_log(directory.path());
  EventLog& log() { return *log_; }
};

/// On servers in memory, in virtual time: the store's thread is the test's.
struct Replicated {
  static constexpr const char* kId = "00000000000000000000000000000001";
  static constexpr std::uint32_t kSlots = 4;

  model::VirtualTime time{LogTime{}};
  MemoryRing servers{time, 1};
  ScratchDirectory directory;
  std::unique_ptr<RocksdbLog> local = open_log(directory.path());
  MemoryCommitStore store{servers};
  ReplicatedLog log_{*local,
                     {kId, kSlots, 0, 0, {}, {}},
                     store,
                     {},
                     {[this](std::function<void()> work) { time.post({}, std::move(work)); }, [] {},
                      [](const std::string& line) { FAIL(line); }, [this] { return time.now(); },
                      [this] { time.advance_to(time.next_due()); }}};

  Replicated() { servers.make(kId, kSlots); }
  EventLog& log() { return log_; }
};

TEMPLATE_TEST_CASE("An empty log says so", "", InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  CHECK(log.last_seq() == Seq{0});
  CHECK(log.last_time() == LogTime{0});
  CHECK(log.chain() == Digest{});
  CHECK(read_all(log).empty());
  CHECK(log.stat()->events == 0);
  CHECK(log.verify()->events == 0);
  CHECK_FALSE(log.verify()->broken_at);
  CHECK(*log.last_at(kForever) == Seq{0});
}

TEMPLATE_TEST_CASE(
    "Events get dense seqs, the time and epoch of their commit, and come back as they were", "",
    InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  const auto first = log.append(drafts(0, 3), LogTime{100}, Epoch{1});
  const auto second = log.append(drafts(3, 2), LogTime{200}, Epoch{2});
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  std::vector<Event> all = *first;
  all.insert(all.end(), second->begin(), second->end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].seq == Seq{i + 1});
    CHECK(all[i].log_time == LogTime{i < 3 ? 100 : 200});
    CHECK(all[i].epoch == Epoch{i < 3 ? 1u : 2u});
    CHECK(all[i].fact == drafts(static_cast<int>(i), 1)[0].fact);
  }
  CHECK(read_all(log) == all);
  CHECK(log.last_seq() == Seq{5});
  CHECK(log.last_time() == LogTime{200});
}

TEMPLATE_TEST_CASE("Every fact and every kind can be logged", "", InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  std::vector<EventDraft> all;
  for (const auto& sample : samples::all())
    all.push_back({sample.event.source, sample.event.cause, sample.event.fact});
  REQUIRE(log.append(all, LogTime{1}, Epoch{1}).has_value());
  const std::vector<Event> events = read_all(log);
  REQUIRE(events.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(events[i].fact == all[i].fact);
  CHECK_FALSE(log.verify()->broken_at);
}

TEMPLATE_TEST_CASE("Reading can begin anywhere and sees the log as it was then", "", InMemory,
                   OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  for (int commit = 0; commit < 5; ++commit)
    REQUIRE(log.append(drafts(commit * 4, 4), LogTime{commit}, Epoch{1}).has_value());
  auto early = log.read({1});
  REQUIRE(early.has_value());
  REQUIRE(log.append(drafts(20, 1), LogTime{9}, Epoch{1}).has_value());
  std::size_t seen = 0;
  while (*(*early)->next()) ++seen;
  CHECK(seen == 20);
  for (std::uint64_t from = 1; from <= 21; ++from) {
    const auto events = read_all(log, {from});
    REQUIRE(events.size() == 22 - from);
    CHECK(events.front().seq == Seq{from});
  }
  CHECK(read_all(log, {0}).size() == 21);
  CHECK(read_all(log, {22}).empty());
  CHECK(read_all(log, {1000}).empty());
}

TEMPLATE_TEST_CASE("Time never goes back, even if the clock does", "", InMemory, OnRocksdb,
                   Replicated) {
  TestType made;
  EventLog& log = made.log();
  REQUIRE(log.append(drafts(0, 1), LogTime{500}, Epoch{1}).has_value());
  const auto later = log.append(drafts(1, 1), LogTime{400}, Epoch{1});
  REQUIRE(later.has_value());
  CHECK(later->front().log_time == LogTime{500});
  CHECK(log.last_time() == LogTime{500});
}

TEMPLATE_TEST_CASE("Appending nothing changes nothing", "", InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  REQUIRE(log.append(drafts(0, 1), LogTime{1}, Epoch{1}).has_value());
  const Digest chain = log.chain();
  const auto none = log.append({}, LogTime{99}, Epoch{7});
  REQUIRE(none.has_value());
  CHECK(none->empty());
  CHECK(log.chain() == chain);
  CHECK(log.last_time() == LogTime{1});
}

TEMPLATE_TEST_CASE(
    "The chain is SHA-256 over the previous digest and the canonical bytes of the commit", "",
    InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  Digest expected;
  for (int commit = 0; commit < 3; ++commit) {
    const auto events = log.append(drafts(commit * 2, 2), LogTime{commit}, Epoch{1});
    REQUIRE(events.has_value());
    std::string bytes(reinterpret_cast<const char*>(expected.bytes.data()), expected.bytes.size());
    for (const Event& event : *events) bytes += encode(event);
    expected = sha256(bytes);
    CHECK(log.chain() == expected);
  }
  const auto verdict = log.verify();
  REQUIRE(verdict.has_value());
  CHECK(verdict->events == 6);
  CHECK_FALSE(verdict->broken_at);
}

TEMPLATE_TEST_CASE("The chain can be asked for wherever a commit ends", "", InMemory, OnRocksdb,
                   Replicated) {
  TestType made;
  EventLog& log = made.log();
  CHECK(*log.chain_at({0}) == Digest{});
  CHECK(log.chain_at({1}).error().code == ErrorCode::not_found);
  std::vector<Digest> digests;
  for (int commit = 0; commit < 4; ++commit) {
    REQUIRE(log.append(drafts(commit, 3), LogTime{commit}, Epoch{1}).has_value());
    digests.push_back(log.chain());
  }
  CHECK(log.first_seq() == Seq{1});
  for (std::uint64_t seq = 1; seq <= 14; ++seq) {
    const auto digest = log.chain_at({seq});
    if (seq <= 12 && seq % 3 == 0) {
      CHECK(*digest == digests[seq / 3 - 1]);
    } else {
      REQUIRE(digest.has_error());
      CHECK(digest.error().code == ErrorCode::not_found);
    }
  }
}

TEMPLATE_TEST_CASE("The history of an object is its observations, its end and our intents", "",
                   InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  const ObjectKey queue{Kind::cluster_queue, "", "queue-a"};
  ObjectObserved observed;
  observed.key = queue;
  observed.facts = ClusterQueueFacts{};
  PatchIntended intended;
  intended.cluster = "hub";
  intended.target = queue;
  const std::vector<EventDraft> all{{"hub", {}, observed},
                                    {"cluster1", {}, observed},
                                    {"self", {1}, intended},
                                    {"self", {}, TimerFired{LogTime{1}}},
                                    {"hub", {}, ObjectGone{queue, "", ""}}};
  REQUIRE(log.append(all, LogTime{1}, Epoch{1}).has_value());
  REQUIRE(log.append(all, LogTime{2}, Epoch{1}).has_value());
  CHECK(*log.history("hub", queue) == std::vector<Seq>{{1}, {3}, {5}, {6}, {8}, {10}});
  CHECK(*log.history("cluster1", queue) == std::vector<Seq>{{2}, {7}});
  CHECK(log.history("hub", {Kind::cluster_queue, "", "queue"})->empty());
  CHECK(log.history("hub", {Kind::cluster_queue, "queue-a", ""})->empty());
  CHECK(log.history("hu", {Kind::cluster_queue, "", "bqueue-a"})->empty());
  CHECK(log.history("hub", {Kind::local_queue, "", "queue-a"})->empty());
}

TEMPLATE_TEST_CASE(
    "The signs of a source are when it was heard, silent or lost, and of us the starts", "",
    InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  const std::vector<EventDraft> all{{"self", {}, EpochStarted{"hub-0", "1", 1, 1}},
                                    {"hub", {}, SourceStale{Kind::cluster_queue, ""}},
                                    {"cluster1", {}, SourceLost{Kind::node, ""}},
                                    {"hub", {}, ObjectGone{{Kind::claim, "", "a"}, "", ""}},
                                    {"hub", {}, SourceSynced{Kind::cluster_queue, "", "7"}},
                                    {"self", {}, ConfigChanged{}},
                                    {"self", {}, TimerFired{LogTime{1}}}};
  REQUIRE(log.append(all, LogTime{1}, Epoch{1}).has_value());
  REQUIRE(log.append(drafts(0, 3), LogTime{2}, Epoch{1}).has_value());
  REQUIRE(log.append(all, LogTime{3}, Epoch{2}).has_value());
  CHECK(*log.signs("hub") == std::vector<Seq>{{2}, {5}, {12}, {15}});
  CHECK(*log.signs("cluster1") == std::vector<Seq>{{3}, {13}});
  CHECK(*log.signs("self") == std::vector<Seq>{{1}, {6}, {11}, {16}});
  CHECK(log.signs("cluster2")->empty());
  CHECK(log.signs("")->empty());
}

TEMPLATE_TEST_CASE("Raw objects are kept beside their events until their retention is over", "",
                   InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  auto all = drafts(0, 3);
  all[0].raw = R"({"kind":"Node","n":0})";
  all[2].raw = R"({"kind":"Node","n":2})";
  std::get<ObjectObserved>(all[2].fact).raw_digest = sha256(all[2].raw);
  REQUIRE(log.append(all, LogTime{1}, Epoch{1}).has_value());
  CHECK(**log.raw({1}) == all[0].raw);
  CHECK_FALSE(log.raw({2})->has_value());
  CHECK(**log.raw({3}) == all[2].raw);
  CHECK_FALSE(log.raw({4})->has_value());
  CHECK_FALSE(log.verify()->broken_at);
  REQUIRE(log.drop_raw_before({3}).has_value());
  CHECK_FALSE(log.raw({1})->has_value());
  CHECK(**log.raw({3}) == all[2].raw);
  CHECK(read_all(log).size() == 3);
  CHECK_FALSE(log.verify()->broken_at);
}

TEMPLATE_TEST_CASE("Pruning forgets whole commits, and what is kept is as good as before", "",
                   InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  const std::vector<EventDraft> start{{"self", {}, EpochStarted{"hub-0", "0.1.0", 1, 1}}};
  REQUIRE(log.append(start, LogTime{5}, Epoch{1}).has_value());
  for (int commit = 1; commit <= 5; ++commit) {  // seqs 2 to 16, of ten nodes
    auto three = drafts(commit * 3, 3);
    three[0].raw = "{}";
    if (commit == 4) three[2] = {"self", {}, EpochStarted{"hub-1", "0.2.0", 1, 1}};
    REQUIRE(log.append(three, LogTime{commit * 10}, commit < 4 ? Epoch{1} : Epoch{2}).has_value());
  }
  const std::vector<Event> all = read_all(log);
  const Digest chain = log.chain(), before_cut = *log.chain_at({7});
  REQUIRE(log.prune_before({10}).has_value());  // in the middle of a commit
  CHECK(log.first_seq() == Seq{8});
  CHECK(read_all(log, {0}) == std::vector<Event>(all.begin() + 7, all.end()));
  CHECK(log.read({7}).error().code == ErrorCode::gone);
  CHECK(*log.last_at({20}) == Seq{7});
  CHECK(*log.last_at({30}) == Seq{10});
  CHECK(log.last_at({19}).error().code == ErrorCode::gone);
  CHECK(log.chain() == chain);
  CHECK(*log.chain_at({7}) == before_cut);
  CHECK(log.chain_at({4}).error().code == ErrorCode::not_found);
  CHECK_FALSE(log.raw({5})->has_value());
  CHECK(log.raw({8})->has_value());
  for (const std::string node : {"node-3", "node-9"})
    for (const Seq seq : *log.history("cluster1", {Kind::node, "", node})) CHECK(seq >= Seq{8});
  for (const Seq seq : *log.signs("self")) CHECK(seq >= Seq{8});
  CHECK(log.verify()->events == 9);
  CHECK_FALSE(log.verify()->broken_at);
  CHECK(log.stat()->first == Seq{8});
  CHECK(log.stat()->events == 9);
  CHECK(log.stat()->epochs == std::vector<Epoch>{{1}, {2}});
  CHECK(log.stat()->program_version == "0.2.0");

  REQUIRE(log.prune_before({5}).has_value());  // was already
  CHECK(log.first_seq() == Seq{8});
  REQUIRE(log.append(drafts(50, 2), LogTime{60}, Epoch{2}).has_value());
  CHECK(log.last_seq() == Seq{18});
  REQUIRE(log.prune_before({1000}).has_value());
  CHECK(log.first_seq() == Seq{19});
  CHECK(read_all(log, {0}).empty());
  CHECK(log.stat()->events == 0);
  CHECK(log.stat()->last == Seq{18});
  const auto next = log.append(drafts(0, 1), LogTime{1}, Epoch{2});
  REQUIRE(next.has_value());
  CHECK(next->front().seq == Seq{19});
  CHECK(next->front().log_time == LogTime{60});
  CHECK(log.stat()->epochs == std::vector<Epoch>{{2}});
  CHECK_FALSE(log.verify()->broken_at);
}

TEMPLATE_TEST_CASE("A moment names the last event that is not later", "", InMemory, OnRocksdb,
                   Replicated) {
  TestType made;
  EventLog& log = made.log();
  for (int commit = 1; commit <= 7; ++commit)
    REQUIRE(log.append(drafts(0, commit), LogTime{commit * 10}, Epoch{1}).has_value());
  REQUIRE(log.append(drafts(0, 2), LogTime{70}, Epoch{1}).has_value());
  CHECK(*log.last_at({9}) == Seq{0});
  CHECK(*log.last_at({10}) == Seq{1});
  CHECK(*log.last_at({19}) == Seq{1});
  CHECK(*log.last_at({20}) == Seq{3});
  CHECK(*log.last_at({35}) == Seq{6});
  CHECK(*log.last_at({69}) == Seq{21});
  CHECK(*log.last_at({70}) == Seq{30});
  CHECK(*log.last_at(kForever) == Seq{30});
}

TEMPLATE_TEST_CASE("Stat tells the span, the epochs and the program of a log", "", InMemory,
                   OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  const std::vector<EventDraft> start{{"self", {}, EpochStarted{"hub-0", "0.1.0", 1, 1}}};
  const std::vector<EventDraft> restart{{"self", {}, EpochStarted{"hub-1", "0.2.0", 1, 1}}};
  REQUIRE(log.append(start, LogTime{5}, Epoch{1}).has_value());
  REQUIRE(log.append(drafts(0, 3), LogTime{6}, Epoch{1}).has_value());
  REQUIRE(log.append(restart, LogTime{7}, Epoch{4}).has_value());
  const auto stat = log.stat();
  REQUIRE(stat.has_value());
  CHECK(stat->first == Seq{1});
  CHECK(stat->last == Seq{5});
  CHECK(stat->events == 5);
  CHECK(stat->bytes > 0);
  CHECK(stat->first_time == LogTime{5});
  CHECK(stat->last_time == LogTime{7});
  CHECK(stat->epochs == std::vector<Epoch>{{1}, {4}});
  CHECK(stat->program_version == "0.2.0");
}

TEMPLATE_TEST_CASE("An event that is too large is refused and leaves no trace", "", InMemory,
                   OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  REQUIRE(log.append(drafts(0, 1), LogTime{1}, Epoch{1}).has_value());
  const std::vector<EventDraft> huge{
      {"self", {}, PatchUnknown{{1}, std::string(kRecordBytesMax, 'x')}}};
  const auto refused = log.append(huge, LogTime{2}, Epoch{1});
  REQUIRE(refused.has_error());
  CHECK(refused.error().code == ErrorCode::bad_input);
  CHECK(log.last_seq() == Seq{1});
  REQUIRE(log.append(drafts(1, 1), LogTime{3}, Epoch{1}).has_value());
  CHECK(read_all(log).size() == 2);
}

TEMPLATE_TEST_CASE("Others may read while one appends", "", InMemory, OnRocksdb, Replicated) {
  TestType made;
  EventLog& log = made.log();
  REQUIRE(log.append(drafts(0, 1), LogTime{1}, Epoch{1}).has_value());
  std::thread appending([&log] {
    for (int commit = 0; commit < 50; ++commit)
      static_cast<void>(commit % 3 == 0 ? log.append(drafts(commit, 2), LogTime{commit}, Epoch{1})
                                        : log.append(drafts(commit, 2), LogTime{commit}, Epoch{1},
                                                     Durability::pending));
    static_cast<void>(log.wait_durable());
  });
  bool dense = true;
  for (int round = 0; round < 50; ++round) {
    std::uint64_t expected = 1;
    auto reader = log.read({1});
    for (auto event = (*reader)->next(); event && *event; event = (*reader)->next())
      dense = dense && (*event)->seq == Seq{expected++};
    dense = dense && log.last_seq() >= Seq{expected - 1} &&
            log.history("cluster1", {Kind::node, "", "node-0"});
  }
  appending.join();
  CHECK(dense);
  CHECK(log.last_seq() == Seq{101});
}

TEMPLATE_TEST_CASE("What was appended ahead is there once the log is settled, as if appended", "",
                   InMemory, OnRocksdb, Replicated) {
  TestType made, plain;
  EventLog& log = made.log();
  std::vector<Event> events;
  for (int commit = 0; commit < 20; ++commit) {
    const LogTime time{100 - commit};
    // Now and then one that is waited for at once.
    const auto stored =
        commit % 7 == 6 ? log.append(drafts(commit * 3, 3), time, Epoch{1}, Durability::durable)
                        : log.append(drafts(commit * 3, 3), time, Epoch{1}, Durability::pending);
    REQUIRE(stored.has_value());
    events.insert(events.end(), stored->begin(), stored->end());
    CHECK(log.last_seq().value + 18 >= events.size());  // six commits at most are on their way
    REQUIRE(plain.log().append(drafts(commit * 3, 3), time, Epoch{1}).has_value());
  }
  REQUIRE(log.wait_durable().has_value());
  CHECK(log.last_seq() == Seq{events.size()});
  CHECK((read_all(log) == events));
  CHECK(log.chain() == plain.log().chain());
  CHECK_FALSE(log.verify()->broken_at);
}

TEMPLATE_TEST_CASE("Drafts that are too large together are given back", "", InMemory, OnRocksdb,
                   Replicated) {
  TestType made;
  std::vector<EventDraft> two = drafts(0, 2);
  two.push_back({"self", {}, PatchUnknown{{1}, std::string(kRecordBytesMax, 'x')}});
  const std::vector<EventDraft> before = two;
  const auto refused = made.log().append(std::move(two), LogTime{2}, Epoch{1}, Durability::pending);
  REQUIRE(refused.has_error());
  CHECK(refused.error().code == ErrorCode::bad_input);
  REQUIRE(two.size() == 3);  // NOLINT: that is the contract
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(two[i].source == before[i].source);
    CHECK(two[i].fact == before[i].fact);
  }
  CHECK(made.log().wait_durable().has_value());
  CHECK(made.log().append(drafts(0, 1), LogTime{3}, Epoch{1})->front().seq == Seq{1});
}

TEST_CASE("Both logs give the same events the same digests") {
  InMemory memory;
  OnRocksdb rocksdb;
  for (int commit = 0; commit < 4; ++commit) {
    const auto a = memory.log().append(drafts(commit, 3), LogTime{commit}, Epoch{1});
    const auto b = rocksdb.log().append(drafts(commit, 3), LogTime{commit}, Epoch{1});
    CHECK(*a == *b);
    CHECK(memory.log().chain() == rocksdb.log().chain());
  }
}

}  // namespace
}  // namespace fairlead
