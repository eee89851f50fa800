// Durable appends, against what the libraries and the disk alone need for the same.
#include <algorithm>
#include <memory>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "tests/bench/benches.h"
#include "tests/bench/floors.h"
#include "tests/bench/workload.h"

namespace fairlead::bench {
namespace {

namespace fs = std::filesystem;

/// The appended events: a few groups that are reused in turn. A hub appends events that it has just
/// decoded, which are in the CPU's caches; a large number of drafts made in advance would not be.
struct Groups {
  std::vector<std::vector<EventDraft>> drafts;
  std::vector<std::vector<Event>> events;  ///< of the same drafts
  std::vector<std::size_t> growth;         ///< bytes by which each group makes the WAL grow
  std::size_t turns = 0;                   ///< how many groups are appended

  double count() const { return static_cast<double>(turns * drafts.front().size()); }
};

std::vector<EventDraft> drafts_of(std::vector<Event> events) {
  std::vector<EventDraft> drafts;
  drafts.reserve(events.size());
  for (Event& event : events)
    drafts.push_back({std::move(event.source), event.cause, std::move(event.fact)});
  return drafts;
}

std::size_t wal_bytes(const fs::path& directory) {
  std::size_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory / "log"))
    if (entry.path().extension() == ".log") bytes += fs::file_size(entry.path());
  return bytes;
}

/// Appends each group once, and notes the events and the growth of the WAL.
void append_once(Groups& groups, const fs::path& directory) {
  fs::remove_all(directory);
  {
    const auto log = need(RocksdbLog::open(directory, OpenMode::write));
    for (const auto& drafts : groups.drafts) {
      const std::size_t before = wal_bytes(directory);
      groups.events.push_back(need(log->append(drafts, LogTime{1}, Epoch{1})));
      groups.growth.push_back(wal_bytes(directory) - before);
      if (groups.growth.back() == 0) give_up("the write-ahead log did not grow");
    }
  }
  fs::remove_all(directory);
}

std::shared_ptr<const Groups> make_groups(const Place& place, Weight weight, std::size_t group) {
  constexpr std::size_t kEventsAtHand = 512;
  auto groups = std::make_shared<Groups>();
  const std::size_t bytes = weight == Weight::light ? 300 : 2000;
  const std::size_t most = std::min<std::size_t>(3000, (std::size_t{256} << 20) / (bytes * group));
  groups->turns = place.size == Size::tiny ? 3 : most;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, kEventsAtHand / group); ++i)
    groups->drafts.push_back(fleet_drafts(weight, i * group, group));
  append_once(*groups, place.directory / "once");
  return groups;
}

/// Appends groups as the hub appends a burst of facts: some are prepared while one is being
/// written, and at the end all must be durable. Single events are waited for one by one. The same
/// groups are appended again and again, because decoding and freeing are measured by another row.
template <class Clock>
double append_all(const Groups& groups, const fs::path& directory, const Clock& clock) {
  fs::remove_all(directory);
  double seconds = 0;
  {
    const auto log = need(RocksdbLog::open(directory, OpenMode::write));
    std::vector<std::vector<EventDraft>> at_hand = groups.drafts;
    seconds = clock([&] {
      for (std::size_t turn = 0; turn < groups.turns; ++turn) {
        std::vector<EventDraft>& group = at_hand[turn % at_hand.size()];
        const LogTime at{static_cast<std::int64_t>(turn)};
        group = drafts_of(need(
            group.size() == 1 ? log->append(std::move(group), at, Epoch{1}, Durability::durable)
                              : log->append(std::move(group), at, Epoch{1}, Durability::pending)));
      }
      need(log->wait_durable());
    });
  }
  fs::remove_all(directory);
  return seconds;
}

void library_work(const Groups& groups) {
  WritingFloor floor;
  for (std::size_t turn = 0; turn < groups.turns; ++turn)
    floor.write(groups.events[turn % groups.events.size()]);
}

void disk_work(const Groups& groups, const fs::path& file) {
  write_durably(file, groups.growth, groups.turns);
}

/// Events a second. The libraries and the disk can work at the same time: the slower one counts.
Trial rate(std::shared_ptr<const Groups> groups, const fs::path& directory) {
  const auto clock = [](const auto& work) { return seconds_of(work); };
  return {[groups, directory, clock] {
            return groups->count() / append_all(*groups, directory / "data", clock);
          },
          [groups, directory] {
            const double library = seconds_of([&] { library_work(*groups); });
            const double disk = seconds_of([&] { disk_work(*groups, directory / "raw"); });
            return groups->count() / std::max(library, disk);
          }};
}

/// CPU microseconds an event.
Trial cpu(std::shared_ptr<const Groups> groups, const fs::path& directory) {
  const auto clock = [](const auto& work) { return cpu_seconds_of(work); };
  return {[groups, directory, clock] {
            return 1e6 * append_all(*groups, directory / "data", clock) / groups->count();
          },
          [groups, directory] {
            const double seconds = cpu_seconds_of([&] {
              library_work(*groups);
              disk_work(*groups, directory / "raw");
            });
            return 1e6 * seconds / groups->count();
          }};
}

void add_append(Suite& suite, const std::string& what, Weight weight, std::size_t group,
                double limit) {
  suite.add({"append/" + what, "the slower of library work and write + fdatasync", "events/s",
             Better::more, limit, [weight, group](const Place& place) {
               return rate(make_groups(place, weight, group), place.directory);
             }});
  suite.add({"append CPU/" + what, "library work and write + fdatasync", "us/event", Better::less,
             1.3, [weight, group](const Place& place) {
               return cpu(make_groups(place, weight, group), place.directory);
             }});
}

}  // namespace

void add_append_benches(Suite& suite) {
  add_append(suite, "64 x 300 B", Weight::light, 64, 0.85);
  add_append(suite, "64 x 2 KB", Weight::heavy, 64, 0.85);
  add_append(suite, "1024 x 300 B", Weight::light, 1024, 0.85);
  add_append(suite, "1024 x 2 KB", Weight::heavy, 1024, 0.85);
  add_append(suite, "1 x 300 B", Weight::light, 1, 0.9);
}

}  // namespace fairlead::bench
