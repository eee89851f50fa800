// What a commit of a replicated log costs its hub beside the store that keeps it.
#include <memory>
#include <string>
#include <vector>

#include "engine/log/commit.h"
#include "engine/log/pack.h"
#include "engine/log/replicated/replicated_log.h"
#include "engine/log/replicated/ring.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "tests/bench/benches.h"
#include "tests/bench/workload.h"
#include "tests/support/memory_commit_store.h"

namespace fairlead::bench {
namespace {

constexpr const char* kBenchLog = "0123456789abcdef0123456789abcdef";

/// A chain of commits, ready to be sent.
std::vector<RingCommit> make_commits(std::size_t count, std::size_t events) {
  std::vector<RingCommit> commits;
  LogTail tail;
  for (std::uint64_t number = 0; number < count; ++number) {
    std::vector<EventDraft> drafts = fleet_drafts(Weight::light, number * events, events);
    const Commit made =
        need(make_commit(tail, drafts, LogTime{static_cast<std::int64_t>(number) + 1}, Epoch{1}));
    tail = tail_after(made);
    const PackHeader header = header_of(made);
    commits.push_back({kBenchLog, kRingSlots, number, header.first, header.count, pack(made)});
  }
  return commits;
}

/// Runs `time` until `done`.
template <class Done>
void run_until(model::VirtualTime& time, const Done& done) {
  while (!done()) time.advance_to(time.next_due());
}

/// Microseconds for each commit, one after the other, by a ring.
double append_all(const std::vector<RingCommit>& commits) {
  model::VirtualTime time{LogTime{}};
  MemoryRing servers(time, 1);
  servers.make(kBenchLog, kRingSlots);
  MemoryCommitStore store(servers);
  std::size_t stored = 0;
  RingEvents events;
  events.stored = [&] { ++stored; };
  events.fenced = [] { give_up("the only writer was fenced"); };
  events.stopped = [](const Error& error) { give_up(error.message); };
  events.kept = [&](std::uint64_t number) { return std::optional(commits[number]); };
  Ring ring(store, {kBenchLog, kRingSlots, 0, 0, Seq{}, Digest{}}, std::move(events));
  const double seconds = cpu_seconds_of([&] {
    for (const RingCommit& commit : commits) {
      ring.append(commit.first, commit.count, commit.pack);
      run_until(time, [&] { return stored > commit.commit; });
    }
  });
  return 1e6 * seconds / static_cast<double>(commits.size());
}

/// The same by the store alone, and each pack's check once, as a follower makes it.
double replace_all(const std::vector<RingCommit>& commits) {
  model::VirtualTime time{LogTime{}};
  MemoryRing servers(time, 1);
  servers.make(kBenchLog, kRingSlots);
  MemoryCommitStore store(servers);
  std::vector<StoreVersion> versions;
  for (const auto& [number, slot] : servers.slots()) versions.push_back(slot.version);
  std::size_t stored = 0;
  const double seconds = cpu_seconds_of([&] {
    for (const RingCommit& commit : commits) {
      keep(need(read_pack_header(commit.pack)).count);
      StoreVersion& version = versions[commit.slot()];
      store.replace(commit, version, [&](const StoreAnswer& answer) {
        version = answer.version;
        ++stored;
      });
      run_until(time, [&] { return stored > commit.commit; });
    }
  });
  return 1e6 * seconds / static_cast<double>(commits.size());
}

/// Microseconds of CPU for each commit that a leader puts back after its store has lost all of
/// them.
double put_back(const std::filesystem::path& directory, std::uint64_t commits) {
  std::filesystem::remove_all(directory);
  model::VirtualTime time{LogTime{}};
  MemoryRing servers(time, 1);
  const auto slots = static_cast<std::uint32_t>(commits) + 1;
  servers.make(kBenchLog, slots);
  MemoryCommitStore store(servers);
  const auto local = need(RocksdbLog::open(directory, OpenMode::write));
  ReplicatedLog log(*local, {kBenchLog, slots, 0, 0, {}, {}}, store, {},
                    {[&time](std::function<void()> work) { time.post({}, std::move(work)); }, [] {},
                     [](const std::string&) {}, [&time] { return time.now(); },
                     [&time] { time.advance_to(time.next_due()); }});
  const auto empty = servers.save();
  const auto append = [&](std::uint64_t number) {
    need(log.append(fleet_drafts(Weight::light, number, 1), LogTime{1}, Epoch{1}));
  };
  for (std::uint64_t number = 0; number < commits; ++number) append(number);
  servers.restore(empty, 0);
  const double seconds = cpu_seconds_of([&] { append(commits); });
  if (servers.slots().at(0).commit.pack.empty()) give_up("the ring was not put back");
  log.close();
  return 1e6 * seconds / static_cast<double>(commits);
}

void add_put_back(Suite& suite) {
  suite.add({"ring/put back 1,000 commits", "100 commits", "us/commit", Better::less, 2,
             [](const Place& place) {
               const std::uint64_t few = place.size == Size::tiny ? 3 : 100;
               const auto directory = place.directory / "put-back";
               return Trial{[few, directory] { return put_back(directory, 10 * few); },
                            [few, directory] { return put_back(directory, few); }};
             }});
}

void add_ring(Suite& suite, const std::string& what, std::size_t events, std::size_t count) {
  suite.add({"ring/append, " + what, "the pack's check and the store in memory alone", "us/commit",
             Better::less, 3, [events, count](const Place& place) {
               auto commits = std::make_shared<const std::vector<RingCommit>>(
                   make_commits(place.size == Size::tiny ? 3 : count, events));
               return Trial{[commits] { return append_all(*commits); },
                            [commits] { return replace_all(*commits); }};
             }});
}

}  // namespace

void add_ring_benches(Suite& suite) {
  add_ring(suite, "1 event", 1, 8 * kRingSlots);
  add_ring(suite, "64 events", 64, 4 * kRingSlots);
  add_ring(suite, "1,024 events", 1024, 1000);
  add_put_back(suite);
}

}  // namespace fairlead::bench
