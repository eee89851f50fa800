// Which events are about an object: what the index says, and what the log has.
#include "engine/log/rocksdb/object_index.h"

#include <map>

#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

EventDraft about(const std::string& name) {
  ObjectObserved observed;
  observed.key = {Kind::node, "", name};
  observed.facts = NodeFacts{};
  return {"cluster1", {}, observed};
}

/// Two names that the index cannot tell apart.
std::pair<std::string, std::string> names_of_one_mark() {
  std::map<std::uint32_t, std::string> names;
  for (int i = 0;; ++i) {
    std::string name = "node-" + std::to_string(i);
    const auto [known, fresh] = names.emplace(mark_of("cluster1", {Kind::node, "", name}), name);
    if (!fresh) return {known->second, std::move(name)};
  }
}

/// The newest events about an object are the end of its history.
void check_newest(const ReadableLog& log, const ObjectKey& key) {
  const std::vector<Seq> all = *log.history("cluster1", key);
  for (std::uint64_t before = 0; before <= log.last_seq().value + 2; ++before)
    for (std::size_t most = 0; most <= all.size() + 1; ++most) {
      std::vector<Seq> expected = all;
      std::erase_if(expected, [&](Seq seq) { return seq >= Seq{before}; });
      while (expected.size() > most) expected.erase(expected.begin());
      INFO("before " << before << ", most " << most);
      CHECK(*log.history_before("cluster1", key, Seq{before}, most) == expected);
    }
}

TEST_CASE("The mark of an object is the same for ever: it is stored in logs") {
  CHECK(mark_of("cluster1", {Kind::node, "", "node-1"}) == 0xA69498FB);
  CHECK(mark_of("hub", {Kind::local_queue, "team-a", "a-queue-of-some-length"}) == 0xC58CC627);
}

TEST_CASE("Objects of one mark have each their own history") {
  const auto [a, b] = names_of_one_mark();
  REQUIRE(a != b);
  ScratchDirectory directory;
  const auto log = *RocksdbLog::open(directory.path(), OpenMode::write);
  const std::vector<EventDraft> all{about(a), about(b), about("other"), about(a)};
  REQUIRE(log->append(all, LogTime{1}, Epoch{1}).has_value());
  REQUIRE(log->append(std::span(all).first(2), LogTime{2}, Epoch{1}).has_value());
  CHECK(*log->history("cluster1", {Kind::node, "", a}) == std::vector<Seq>{{1}, {4}, {5}});
  CHECK(*log->history("cluster1", {Kind::node, "", b}) == std::vector<Seq>{{2}, {6}});
  CHECK(log->history("cluster2", {Kind::node, "", a})->empty());
  for (const std::string& name : {a, b, std::string("other"), std::string("none")})
    check_newest(*log, {Kind::node, "", name});
}

TEST_CASE("The index entries of older programs are read beside ours") {
  ScratchDirectory directory;
  const ObjectKey key{Kind::node, "", "node"};
  {
    const auto log = *RocksdbLog::open(directory.path(), OpenMode::write);
    const std::vector<EventDraft> two{about("node"), about("other")};
    for (int commit = 1; commit <= 4; ++commit)
      REQUIRE(log->append(two, LogTime{commit}, Epoch{1}).has_value());
  }
  {
    // As if the second and the last commit had been written by an older program.
    const auto store = *open_store_for_writing(directory.path() / "log", nullptr);
    for (const std::uint64_t first : {std::uint64_t{3}, std::uint64_t{7}}) {
      const std::string ours = std::string{'k', static_cast<char>(Kind::node)} + seq_key({first});
      std::string value;
      REQUIRE(store->db->Get({}, store->by_object, ours, &value).ok());
      REQUIRE(store->db->Delete({}, store->by_object, ours).ok());
      REQUIRE(store->db
                  ->Put({}, store->by_object, object_prefix("cluster1", key) + seq_key({first}), {})
                  .ok());
    }
  }
  const auto log = *RocksdbLog::open(directory.path(), OpenMode::read);
  CHECK(*log->history("cluster1", key) == std::vector<Seq>{{1}, {3}, {5}, {7}});
  CHECK(*log->history("cluster1", {Kind::node, "", "other"}) == std::vector<Seq>{{2}, {6}});
  check_newest(*log, key);
  check_newest(*log, {Kind::node, "", "other"});
}

TEST_CASE("Signs from before there was an index of them are found in the events") {
  ScratchDirectory directory;
  const EventDraft silent{"hub", {}, SourceStale{Kind::cluster_queue, ""}};
  const EventDraft heard{"hub", {}, SourceSynced{Kind::cluster_queue, "", "7"}};
  {
    const auto log = *RocksdbLog::open(directory.path(), OpenMode::write);
    REQUIRE(log->append(std::vector{about("node"), silent}, LogTime{1}, Epoch{1}).has_value());
    REQUIRE(log->append(std::vector{heard, about("node")}, LogTime{2}, Epoch{1}).has_value());
    REQUIRE(log->append(std::vector{silent, heard}, LogTime{3}, Epoch{1}).has_value());
  }
  {
    // As if the first two commits had been written by an older program.
    const auto store = *open_store_for_writing(directory.path() / "log", nullptr);
    for (const std::uint64_t first : {std::uint64_t{1}, std::uint64_t{3}}) {
      std::string value;
      REQUIRE(store->db->Get({}, store->by_object, "s" + seq_key({first}), &value).ok());
      REQUIRE(store->db->Delete({}, store->by_object, "s" + seq_key({first})).ok());
    }
  }
  const auto log = *RocksdbLog::open(directory.path(), OpenMode::read);
  CHECK(*log->signs("hub") == std::vector<Seq>{{2}, {3}, {5}, {6}});
  CHECK(log->signs("cluster1")->empty());
}

}  // namespace
}  // namespace fairlead
