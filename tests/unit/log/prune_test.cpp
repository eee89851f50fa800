// A log whose beginning was pruned: everything that was kept is as good as before.
#include "engine/log/rocksdb/log_contents.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// Ten commits of three events; commit n at time n * 10, the last five in epoch 2.
void fill(RocksdbLog& log) {
  for (int commit = 1; commit <= 10; ++commit) {
    auto made = drafts(commit * 3, 3);
    made[0].raw = R"({"commit":)" + std::to_string(commit) + "}";
    if (commit == 1) made[1] = {"self", {}, EpochStarted{"hub-0", "0.1.0", 1, 1}};
    if (commit == 6) made[1] = {"self", {}, EpochStarted{"hub-0", "0.2.0", 1, 1}};
    REQUIRE(log.append(made, LogTime{commit * 10}, Epoch{commit < 6 ? 1u : 2u}).has_value());
  }
}

void check_kept(const RocksdbLog& log, const std::vector<Event>& all, Seq first) {
  const std::vector<Event> kept(all.begin() + static_cast<std::ptrdiff_t>(first.value - 1),
                                all.end());
  CHECK(log.first_seq() == first);
  CHECK(log.last_seq() == all.back().seq);
  CHECK(read_all(log, {0}) == kept);
  CHECK(read_all(log, first) == kept);
  CHECK_FALSE(log.verify()->broken_at);
  CHECK(log.verify()->events == kept.size());
  CHECK_FALSE(log.verify_chain()->broken_at);
  CHECK(log.stat()->first == first);
  CHECK(log.stat()->events == kept.size());
  CHECK(log.stat()->first_time == kept.front().log_time);
  CHECK(log.stat()->program_version == "0.2.0");
}

TEST_CASE("Pruning forgets whole commits before a seq and keeps everything else") {
  ScratchDirectory directory;
  std::vector<Event> all;
  Digest before_cut;
  {
    const auto log = open_log(directory.path());
    fill(*log);
    all = read_all(*log);
    before_cut = *log->chain_at({12});
    REQUIRE(log->prune_before({14}).has_value());  // in the middle of a commit
    check_kept(*log, all, {13});
  }
  for (const OpenMode mode : {OpenMode::read, OpenMode::write, OpenMode::read}) {
    const auto log = open_log(directory.path(), mode);
    check_kept(*log, all, {13});
    CHECK(*log->chain_at({12}) == before_cut);
    CHECK(log->chain_at({9}).error().code == ErrorCode::not_found);
    CHECK(log->read({12}).error().code == ErrorCode::gone);
    CHECK(log->read({1}).error().message.find("begins at seq 13") != std::string::npos);
    CHECK(*log->last_at({40}) == Seq{12});
    CHECK(*log->last_at({49}) == Seq{12});
    CHECK(*log->last_at({50}) == Seq{15});
    CHECK(log->last_at({39}).error().code == ErrorCode::gone);
    CHECK_FALSE(log->raw({10})->has_value());
    CHECK(log->raw({13})->has_value());
    CHECK(log->stat()->epochs == std::vector<Epoch>{{1}, {2}});
    for (int node = 0; node < 10; ++node)
      for (const Seq seq :
           *log->history("cluster1", {Kind::node, "", "node-" + std::to_string(node)}))
        CHECK(seq >= Seq{13});
    CHECK_FALSE(log->history("cluster1", {Kind::node, "", "node-0"})->empty());
  }
}

TEST_CASE("A pruned log goes on, and can be pruned again") {
  ScratchDirectory directory;
  {
    const auto log = open_log(directory.path());
    fill(*log);
    REQUIRE(log->prune_before({4}).has_value());
    REQUIRE(log->append(drafts(50, 2), LogTime{200}, Epoch{2}).has_value());
  }
  const auto log = open_log(directory.path());
  CHECK(log->last_seq() == Seq{32});
  REQUIRE(log->prune_before({20}).has_value());
  CHECK(log->first_seq() == Seq{19});
  CHECK(log->stat()->epochs == std::vector<Epoch>{{2}});
  REQUIRE(log->prune_before({5}).has_value());  // was already
  CHECK(log->first_seq() == Seq{19});
  REQUIRE(log->append(drafts(60, 1), LogTime{300}, Epoch{3}).has_value());
  CHECK(read_all(*log, {19}).size() == 15);
  CHECK_FALSE(log->verify()->broken_at);
}

TEST_CASE("Even every event can be pruned, and the chain goes on from the last") {
  ScratchDirectory directory;
  Digest chain;
  {
    const auto log = open_log(directory.path());
    fill(*log);
    chain = log->chain();
    REQUIRE(log->prune_before({1000}).has_value());
    CHECK(log->first_seq() == Seq{31});
    CHECK(log->stat()->events == 0);
  }
  const auto log = open_log(directory.path());
  CHECK(log->chain() == chain);
  CHECK(log->last_time() == LogTime{100});
  const auto events = log->append(drafts(0, 1), LogTime{1}, Epoch{2});
  REQUIRE(events.has_value());
  CHECK(events->front().seq == Seq{31});
  CHECK(events->front().log_time == LogTime{100});
  CHECK_FALSE(log->verify()->broken_at);
}

TEST_CASE("An epoch that goes on after every event was pruned is listed again") {
  ScratchDirectory directory;
  {
    const auto log = open_log(directory.path());
    fill(*log);
    REQUIRE(log->prune_before({1000}).has_value());
    REQUIRE(log->append(drafts(0, 1), LogTime{200}, Epoch{2}).has_value());
    CHECK(log->stat()->epochs == std::vector<Epoch>{{2}});
  }
  CHECK(open_log(directory.path())->stat()->epochs == std::vector<Epoch>{{2}});
}

TEST_CASE("A log opened for reading is not pruned") {
  ScratchDirectory directory;
  {
    const auto log = open_log(directory.path());
    fill(*log);
  }
  CHECK(open_log(directory.path(), OpenMode::read)->prune_before({10}).error().code ==
        ErrorCode::read_only);
}

TEST_CASE("A log that lost its beginning, or says that it lost another, is damaged") {
  for (const bool base_lost : {true, false}) {
    ScratchDirectory directory;
    {
      const auto log = open_log(directory.path());
      fill(*log);
      REQUIRE(log->prune_before({13}).has_value());
    }
    {
      const auto store = open_store_for_writing(directory.path() / "log", nullptr);
      REQUIRE(store.has_value());
      if (base_lost) {
        REQUIRE((*store)->db->Delete({}, (*store)->meta, "base").ok());
      } else {
        std::string bytes = base_bytes(*read_base(**store));
        bytes[20] = static_cast<char>(bytes[20] ^ 1);
        REQUIRE((*store)->db->Put({}, (*store)->meta, "base", bytes).ok());
      }
    }
    const auto refused = RocksdbLog::open(directory.path(), OpenMode::write);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == ErrorCode::corrupt);
    CHECK(open_log(directory.path(), OpenMode::read)->verify()->broken_at == Seq{1});
  }
}

TEST_CASE("Damage in the middle of a long log: readers begin, and meet it where it is") {
  ScratchDirectory directory;
  std::vector<Event> all;
  {
    const auto log = open_log(directory.path());
    fill(*log);
    all = read_all(*log);
  }
  {
    const auto store = open_store_for_writing(directory.path() / "log", nullptr);
    REQUIRE(store.has_value());
    std::string pack;
    REQUIRE((*store)->db->Get({}, (*store)->events, seq_key({13}), &pack).ok());
    pack[pack.size() / 2] = static_cast<char>(pack[pack.size() / 2] ^ 8);
    REQUIRE((*store)->db->Put({}, (*store)->events, seq_key({13}), pack).ok());
  }
  const auto reading = open_log(directory.path(), OpenMode::read);
  CHECK(reading->last_seq() == Seq{30});
  std::optional<Error> error;
  CHECK(read_all(*reading, {1}, &error).size() == 12);
  REQUIRE(error);
  CHECK(error->message.find("seq 13") != std::string::npos);
  CHECK(read_all(*reading, {16}).size() == 15);
  CHECK(reading->verify()->broken_at == Seq{13});
  CHECK(reading->verify_chain()->broken_at == Seq{13});
  const auto refused = RocksdbLog::open(directory.path(), OpenMode::write);
  REQUIRE(refused.has_error());
  CHECK(refused.error().message.find("seq 13") != std::string::npos);
}

}  // namespace
}  // namespace fairlead
