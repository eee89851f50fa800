// The log: reading it, and the space that it needs on disk.
#include <fstream>
#include <memory>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/projection/projection.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "tests/bench/benches.h"
#include "tests/bench/floors.h"
#include "tests/bench/workload.h"

namespace fairlead::bench {
namespace {

namespace fs = std::filesystem;

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
    need(log->append(fleet_drafts(weight, written->events, 64), LogTime{time}, Epoch{1},
                     Durability::durable));
  return written;
}

/// Events a CPU second.
double floor(const WrittenLog& written) {
  std::uint64_t events = 0;
  const double seconds = cpu_seconds_of(
      [&] { read_packs(written.directory, [&](std::uint32_t count) { events += count; }); });
  if (events != written.events) give_up("the packs hold other events than were written");
  return static_cast<double>(events) / seconds;
}

double read(const WrittenLog& written) {
  std::uint64_t events = 0;
  const double seconds = cpu_seconds_of([&] {
    const auto log = need(RocksdbLog::open(written.directory, OpenMode::read));
    const auto reader = need(log->read({1}));
    EventBatch batch;
    for (need(reader->next_batch(batch)); batch.size() > 0; need(reader->next_batch(batch)))
      events += batch.size();
  });
  if (events != written.events) give_up("the log gave other events than were written");
  return static_cast<double>(events) / seconds;
}

Trial prepare_read(const Place& place) {
  const auto written = write_log(place, Weight::light, place.size == Size::tiny ? 640 : 1'000'000);
  return {[written] { return read(*written); }, [written] { return floor(*written); }};
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
      Random random(copy);
      for (std::string line : lines) {
        replace_value(line, "name", "object-" + std::to_string(copy));
        replace_value(line, "uid", random.uid());
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
  suite.add({"read/events decoded", "fetch, check, decompress, copy of the same packs",
             "events/CPU s", Better::more, 0.7, prepare_read});
  suite.add({"disk/bytes an event", "bytes of the recorded watch lines", "B", Better::less, 0.125,
             prepare_disk});
}

}  // namespace fairlead::bench
