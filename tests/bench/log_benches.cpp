// The log: durable appends, reading, and what it takes of the disk.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "connectors/kube/json_document.h"
#include "connectors/kube/projection.h"
#include "engine/log/commit.h"
#include "engine/log/rocksdb_log.h"
#include "engine/log/rocksdb_store.h"
#include "tests/bench/benches.h"
#include "tests/bench/workload.h"

namespace fairlead::bench {
namespace {

namespace fs = std::filesystem;

// ---- durable appends ----

/// What is appended, and the canonical bytes of each group, which the bound writes. A few groups
/// are taken in turn: what a hub logs it has just decoded, so it lies in the caches, which a pile
/// of drafts made in advance would not.
struct Groups {
  std::vector<std::vector<EventDraft>> drafts;
  std::vector<std::string> bytes;
  std::size_t turns = 0;  ///< how many groups are appended

  double events() const { return static_cast<double>(turns * drafts.front().size()); }
};

std::shared_ptr<const Groups> make_groups(Weight weight, std::size_t group, std::size_t turns) {
  constexpr std::size_t kEventsAtHand = 512;
  auto groups = std::make_shared<Groups>();
  groups->turns = turns;
  LogTail tail;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, kEventsAtHand / group); ++i) {
    groups->drafts.push_back(fleet_drafts(weight, i * group, group));
    std::vector<EventDraft> drafts = groups->drafts.back();
    const Commit commit = need(make_commit(tail, drafts, LogTime{1}, Epoch{1}));
    groups->bytes.push_back(commit.payload.substr(size_table_bytes(group)));
    tail = tail_after(commit);
  }
  return groups;
}

double raw_writes(const Groups& groups, const fs::path& file) {
  fs::remove(file);
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) give_up("cannot create " + file.string());
  const double seconds = seconds_of([&] {
    for (std::size_t turn = 0; turn < groups.turns; ++turn) {
      const std::string& bytes = groups.bytes[turn % groups.bytes.size()];
      if (::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
          ::fdatasync(descriptor) != 0)
        give_up("cannot write " + file.string());
    }
  });
  ::close(descriptor);
  fs::remove(file);
  return groups.events() / seconds;
}

std::vector<EventDraft> drafts_of(std::vector<Event> events) {
  std::vector<EventDraft> drafts;
  drafts.reserve(events.size());
  for (Event& event : events)
    drafts.push_back({std::move(event.source), event.cause, std::move(event.fact)});
  return drafts;
}

/// Groups are appended as the hub appends a burst of facts: some are made ready while one is on its
/// way, and at the end all must be durable. Single events are waited for one by one. What was
/// appended is appended again: decoding and freeing is another row's.
double log_appends(const Groups& groups, const fs::path& directory) {
  fs::remove_all(directory);
  double seconds = 0;
  {
    const auto log = need(RocksdbLog::open(directory, OpenMode::write));
    std::vector<std::vector<EventDraft>> at_hand = groups.drafts;
    seconds = seconds_of([&] {
      for (std::size_t turn = 0; turn < groups.turns; ++turn) {
        std::vector<EventDraft>& group = at_hand[turn % at_hand.size()];
        const LogTime at{static_cast<std::int64_t>(turn)};
        group =
            drafts_of(need(group.size() == 1 ? log->append_owned(std::move(group), at, Epoch{1})
                                             : log->append_ahead(std::move(group), at, Epoch{1})));
      }
      need(log->settle());
    });
  }
  fs::remove_all(directory);
  return groups.events() / seconds;
}

void add_append(Suite& suite, std::string name, Weight weight, std::size_t group, double limit) {
  const auto prepare = [weight, group](const Place& place) {
    const std::size_t bytes = weight == Weight::light ? 300 : 2000;
    const std::size_t most =
        std::min<std::size_t>(3000, (std::size_t{256} << 20) / (bytes * group));
    const auto groups = make_groups(weight, group, place.size == Size::tiny ? 3 : most);
    return Trial{[groups, place] { return log_appends(*groups, place.directory / "data"); },
                 [groups, place] { return raw_writes(*groups, place.directory / "raw"); }};
  };
  suite.add({std::move(name), "write + fdatasync of the same bytes", "events/s", Better::more,
             limit, prepare});
}

// ---- reading ----

struct WrittenLog {
  fs::path directory;
  std::uint64_t events = 0;
};

std::shared_ptr<const WrittenLog> write_log(const Place& place, Weight weight,
                                            std::uint64_t events) {
  auto written = std::make_shared<WrittenLog>();
  written->directory = place.directory / "read";
  const auto log = need(RocksdbLog::open(written->directory, OpenMode::write));
  for (std::int64_t time = 1; written->events < events; ++time, written->events += 64)
    need(log->append_owned(fleet_drafts(weight, written->events, 64), LogTime{time}, Epoch{1}));
  return written;
}

double iterate(const WrittenLog& written) {
  const auto store = need(open_store_for_reading(written.directory / "log", nullptr));
  std::uint64_t bytes = 0;
  const double seconds = seconds_of([&] {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    options.readahead_size = 2u << 20;
    const std::unique_ptr<rocksdb::Iterator> packs(store->db->NewIterator(options, store->events));
    for (packs->SeekToFirst(); packs->Valid(); packs->Next()) bytes += packs->value().size();
  });
  keep(bytes);
  return static_cast<double>(written.events) / seconds;
}

double read(const WrittenLog& written) {
  const auto log = need(RocksdbLog::open(written.directory, OpenMode::read));
  std::uint64_t events = 0;
  const double seconds = seconds_of([&] {
    const auto reader = need(log->read({1}));
    while (need(reader->next())) ++events;
  });
  if (events != written.events) give_up("the log gave other events than were written");
  return static_cast<double>(events) / seconds;
}

Trial prepare_read(const Place& place) {
  const auto written = write_log(place, Weight::light, place.size == Size::tiny ? 640 : 1'000'000);
  return {[written] { return read(*written); }, [written] { return iterate(*written); }};
}

// ---- bytes on disk ----

/// The objects of recorded watch lines, and how many bytes they took on the wire.
struct Received {
  std::vector<EventDraft> drafts;
  std::uint64_t bytes = 0;
};

void replace_value(std::string& line, const std::string& key, const std::string& value) {
  const std::string start = "\"" + key + "\":\"";
  const std::size_t at = line.find(start);
  if (at == std::string::npos) return;
  const std::size_t begin = at + start.size();
  line.replace(begin, line.find('"', begin) - begin, value);
}

/// Every recorded line again and again, each time as another object of the fleet.
std::shared_ptr<const Received> receive(std::size_t copies) {
  auto received = std::make_shared<Received>();
  std::uint64_t version = 10'000'000;
  for (const char* name : {"nodes.jsonl", "clusterqueues.jsonl"}) {
    std::ifstream stream(fs::path(FAIRLEAD_RECORDED) / name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
      if (line.find("BOOKMARK") == std::string::npos) lines.push_back(line);
    if (lines.empty()) give_up(std::string("no recorded lines in ") + name);
    for (std::size_t copy = 0; copy < copies; ++copy) {
      Dice dice(copy);
      for (std::string line : lines) {
        replace_value(line, "name", "object-" + std::to_string(copy));
        replace_value(line, "uid", dice.uid());
        replace_value(line, "resourceVersion", std::to_string(++version));
        const auto document = need(parse_json(line));
        const auto seen = need(project(document.root()["object"]));
        if (!seen) give_up("a recorded object is not read");
        ObjectObserved fact{seen->key,        seen->version, seen->uid, seen->resource_version,
                            seen->generation, seen->facts,   {}};
        received->drafts.push_back({"hub", {}, std::move(fact)});
        received->bytes += line.size();
      }
    }
  }
  return received;
}

double bytes_taken(const Received& received, const fs::path& directory) {
  fs::remove_all(directory);
  {
    const auto log = need(RocksdbLog::open(directory, OpenMode::write));
    std::int64_t time = 0;
    for (std::size_t at = 0; at < received.drafts.size(); at += 64)
      keep(
          need(log->append(std::span(received.drafts)
                               .subspan(at, std::min<std::size_t>(64, received.drafts.size() - at)),
                           LogTime{++time}, Epoch{1})));
  }
  // A start moves what is in the write-ahead log into tables, as a hub does all the time.
  need(RocksdbLog::open(directory, OpenMode::write));
  const auto stat = need(need(RocksdbLog::open(directory, OpenMode::read))->stat());
  return static_cast<double>(stat.bytes) / static_cast<double>(received.drafts.size());
}

Trial prepare_disk(const Place& place) {
  const auto received = receive(place.size == Size::tiny ? 20 : 5000);
  const double each =
      static_cast<double>(received->bytes) / static_cast<double>(received->drafts.size());
  return {[received, place] { return bytes_taken(*received, place.directory / "data"); },
          [each] { return each; }};
}

}  // namespace

void add_log_benches(Suite& suite) {
  add_append(suite, "append/64 x 300 B", Weight::light, 64, 0.9);
  add_append(suite, "append/64 x 2 KB", Weight::heavy, 64, 0.9);
  add_append(suite, "append/1024 x 300 B", Weight::light, 1024, 0.9);
  add_append(suite, "append/1024 x 2 KB", Weight::heavy, 1024, 0.9);
  add_append(suite, "append/1 x 300 B", Weight::light, 1, 0.85);
  suite.add({"read/events decoded", "the RocksDB iterator alone over the same log", "events/s",
             Better::more, 0.4, prepare_read});
  suite.add({"disk/bytes an event", "bytes of the recorded watch lines", "B", Better::less, 0.125,
             prepare_disk});
}

}  // namespace fairlead::bench
