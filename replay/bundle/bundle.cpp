#include "replay/bundle/bundle.h"

#include <optional>
#include <utility>

#include "engine/log/rocksdb/log_import.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "replay/bundle/bundle_page.h"
#include "replay/bundle/bundle_receiver.h"
#include "replay/bundle/bundle_sections.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// Reads a pack. Packs must form one chain from the base to the tail.
Result<void> read_pack(Bundle& bundle, const BundleSection& section, LogTail& reached) {
  const auto header = next_pack(section, reached);
  if (!header) return header.error();
  bundle.packs.push_back({*header, section.payload});
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
  if (section.tag == "CONF") return read_configuration(bundle, section);
  return unknown_section(section);
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
  if (auto ends = expect_end(*bundle, reached); !ends)
    return in_context(path.string(), ends.error());
  return std::shared_ptr<const Bundle>(std::move(bundle));
}

Result<BundleReport> export_bundle(const RocksdbLog& log, const SnapshotStore& snapshots, Seq to,
                                   const fs::path& path, const LogProgress& progress) {
  const auto end = log.tail_through(to);
  if (!end) return end.error();
  auto receiver = BundleReceiver::begin(path);
  if (!receiver) return receiver.error();
  for (std::optional<BundleCursor> from = BundleCursor{}; from;) {
    const auto page = bundle_page(log, snapshots, end->last, *from);
    if (!page) return page.error();
    if (auto added = (*receiver)->add(*page); !added) return added.error();
    if (progress && page->next) progress((*receiver)->reached(), end->last);
    from = page->next;
  }
  return (*receiver)->finish();
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
  // The snapshots come before the log gets its name: without them a pruned log cannot be folded.
  SnapshotStore store(directory);
  std::error_code ignored;
  fs::remove_all(store.directory(), ignored);  // of an import that died, perhaps of another bundle
  Result<void> kept;
  for (const Bundle::StoredSnapshot& snapshot : bundle.snapshots)
    if (kept) {
      const auto stored = store.keep(snapshot.bytes);
      if (!stored) kept = stored.error();
      ++report.snapshots;
    }
  if (kept) kept = (*log)->finish();
  if (kept) return report;
  fs::remove_all(store.directory(), ignored);
  return kept.error();
}

}  // namespace fairlead
