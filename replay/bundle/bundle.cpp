#include "replay/bundle/bundle.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/log/rocksdb/log_import.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "schema/codec.h"
#include "schema/event_json.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "fairlead.io/bundle";
constexpr unsigned kVersion = 1;

Json to_json(const LogTail& tail) {
  return {{"seq", tail.last.value}, {"logTime", tail.last_time.ns}, {"chain", tail.chain.hex()}};
}

/// Throws nlohmann's exceptions; the caller converts them into an error.
LogTail tail_of(const Json& json) {
  LogTail tail{{json.at("seq").get<std::uint64_t>()},
               {json.at("logTime").get<std::int64_t>()},
               Digest::from_hex(json.at("chain").get<std::string>()).value_or(Digest{})};
  return tail;
}

Json head_of(const RocksdbLog& log, const LogTail& tail,
             const std::map<Epoch, std::string>& epochs) {
  Json listed = Json::array();
  for (const auto& [epoch, version] : epochs)
    listed.push_back({{"epoch", epoch.value}, {"programVersion", version}});
  return {{"format", kFormat},
          {"version", kVersion},
          {"schemaVersion", log.schema_version()},
          {"programVersion", FAIRLEAD_VERSION},
          {"base", to_json(log.base())},
          {"last", to_json(tail)},
          {"epochs", listed}};
}

Result<void> read_head(Bundle& bundle, const BundleSection& section) {
  const auto refuse = [&section](ErrorCode code, const std::string& what) {
    return Error{code, section.place() + ": " + what};
  };
  try {
    const Json head = Json::parse(section.payload);
    if (head.at("format") != kFormat) return refuse(ErrorCode::incompatible, "it is no bundle");
    if (head.at("version").get<unsigned>() > kVersion ||
        head.at("schemaVersion").get<unsigned>() > kSchemaVersion)
      return refuse(ErrorCode::incompatible,
                    "it was written by a newer program, " +
                        head.at("programVersion").get<std::string>() + ", with schema version " +
                        to_text(head.at("schemaVersion")) + "; this program reads up to " +
                        std::to_string(kSchemaVersion));
    bundle.base = tail_of(head.at("base"));
    bundle.tail = tail_of(head.at("last"));
    for (const Json& entry : head.at("epochs"))
      bundle.epochs[Epoch{entry.at("epoch").get<std::uint64_t>()}] =
          entry.at("programVersion").get<std::string>();
  } catch (const Json::exception& error) {
    return refuse(ErrorCode::corrupt, error.what());
  }
  return {};
}

/// Reads a pack. Packs must form one chain from the base to the tail.
Result<void> read_pack(Bundle& bundle, const BundleSection& section, LogTail& reached) {
  const auto header = read_pack_header(section.payload);
  if (!header) return in_context(section.place(), header.error());
  const bool continues = header->first == next(reached.last) && header->previous == reached.chain &&
                         section.seq == header->first && header->first_time >= reached.last_time;
  if (!continues)
    return Error{ErrorCode::corrupt, section.place() + ": the hash chain does not continue"};
  bundle.packs.push_back({*header, section.payload});
  reached = {header->last(), header->last_time, header->digest};
  return {};
}

Result<void> read_section(Bundle& bundle, const BundleSection& section, LogTail& reached) {
  if (section.tag == "PACK") return read_pack(bundle, section, reached);
  if (section.tag == "SNAP") {
    const auto info = read_snapshot_info(section.payload);
    if (!info) return in_context(section.place(), info.error());
    bundle.snapshots.push_back({*info, section.payload});
    return {};
  }
  if (section.tag == "CONF") {
    bundle.configuration = Json::parse(section.payload, nullptr, false);
    if (!bundle.configuration.is_discarded()) return {};
    return Error{ErrorCode::corrupt, section.place() + ": it is no JSON"};
  }
  return Error{ErrorCode::incompatible, section.place() + ": this program knows no such section"};
}

/// Returns the configuration after event `last`; nullopt if no state can be folded to it.
std::optional<std::string> configuration_at(const EventLog& log, const SnapshotSource& snapshots,
                                            Seq last) {
  const auto state = state_at(log, &snapshots, last);
  if (!state) return std::nullopt;
  return to_text(Json{{"seq", state->configuration_seq.value},
                      {"configuration", to_json(state->configuration)}});
}

/// Returns the epochs of the events up to `last`; the list of the whole log also has later ones.
Result<std::map<Epoch, std::string>> epochs_until(const RocksdbLog& log, Seq last) {
  std::map<Epoch, std::string> epochs = log.epochs();
  if (last >= log.last_seq() || epochs.size() < 2) return epochs;
  const auto reader = log.read(last);
  if (!reader) return reader.error();
  const auto event = (*reader)->next();
  if (!event) return event.error();
  if (*event) epochs.erase(epochs.upper_bound((*event)->epoch), epochs.end());
  return epochs;
}

}  // namespace

Result<std::shared_ptr<const Bundle>> open_bundle(const fs::path& path) {
  auto file = BundleFile::open(path);
  if (!file) return file.error();
  auto bundle = std::make_shared<Bundle>();
  bundle->file = *std::move(file);
  const std::vector<BundleSection>& sections = bundle->file->sections();
  if (auto head = read_head(*bundle, sections.front()); !head)
    return in_context(path.string(), head.error());
  LogTail reached = bundle->base;
  for (std::size_t i = 1; i < sections.size(); ++i)
    if (auto read = read_section(*bundle, sections[i], reached); !read)
      return in_context(path.string(), read.error());
  if (reached.last != bundle->tail.last || reached.chain != bundle->tail.chain)
    return Error{ErrorCode::corrupt, path.string() + ": the events end at seq " +
                                         std::to_string(reached.last.value) +
                                         ", other than section FLB1 at offset 0 says"};
  return std::shared_ptr<const Bundle>(std::move(bundle));
}

Result<BundleReport> export_bundle(const RocksdbLog& log, const SnapshotSource& snapshots, Seq to,
                                   const fs::path& path, const LogProgress& progress) {
  const auto end = log.tail_through(to);
  if (!end) return end.error();
  const LogTail tail = *end;
  const auto epochs = epochs_until(log, tail.last);
  if (!epochs) return epochs.error();
  auto writer = BundleWriter::begin(path);
  if (!writer) return writer.error();
  BundleReport report{{}, tail.last, 0, 0, 0, 0, tail.chain};
  Result<void> added = (*writer)->add("FLB1", {}, to_text(head_of(log, tail, *epochs)));
  if (const auto text = configuration_at(log, snapshots, tail.last); added && text)
    added = (*writer)->add("CONF", {}, *text);
  const auto list = snapshots.list();
  if (!list) return list.error();
  for (const SnapshotInfo& info : *list) {
    const auto chain = log.chain_at(info.seq);
    if (!added || info.seq > tail.last || !chain || *chain != info.log_digest) continue;
    const auto bytes = snapshots.bytes(info.seq);
    if (!bytes) continue;  // pruned meanwhile
    added = (*writer)->add("SNAP", info.seq, *bytes);
    ++report.snapshots;
  }
  if (!added) return added.error();
  const auto packed =
      log.for_each_pack(tail.last, [&](const PackHeader& header, std::string_view pack) {
        ++report.commits;
        report.events += header.count;
        if (progress && report.commits % 1024 == 0) progress(header.last(), tail.last);
        return (*writer)->add("PACK", header.first, pack);
      });
  if (!packed) return packed.error();
  if (auto finished = (*writer)->finish(); !finished) return finished.error();
  report.first = report.events == 0 ? Seq{} : log.first_seq();
  report.bytes = (*writer)->bytes();
  return report;
}

Result<BundleReport> import_bundle(const Bundle& bundle, const fs::path& directory,
                                   const LogProgress& progress) {
  auto log = LogImport::begin(directory, bundle.base, bundle.epochs);
  if (!log) return log.error();
  BundleReport report{{}, bundle.tail.last, 0, 0, 0, bundle.file->bytes(), bundle.tail.chain};
  for (const Bundle::Pack& pack : bundle.packs) {
    if (auto added = (*log)->add(pack.value); !added) return added.error();
    report.events += pack.header.count;
    if (progress && ++report.commits % 1024 == 0) progress(pack.header.last(), bundle.tail.last);
  }
  report.commits = bundle.packs.size();
  if (report.events > 0) report.first = next(bundle.base.last);
  SnapshotStore store(directory);
  Result<void> kept;
  for (const Bundle::StoredSnapshot& snapshot : bundle.snapshots)
    if (kept) {
      const auto stored = store.keep(snapshot.bytes);
      if (!stored) kept = stored.error();
      ++report.snapshots;
    }
  if (kept) kept = (*log)->finish();
  if (kept) return report;
  std::error_code ignored;
  fs::remove_all(store.directory(), ignored);
  return kept.error();
}

}  // namespace fairlead
