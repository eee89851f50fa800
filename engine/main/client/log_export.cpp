#include "engine/main/client/log_export.h"

#include <optional>
#include <utility>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/http_target.h"
#include "engine/main/client/position.h"
#include "replay/bundle/bundle_page.h"
#include "replay/bundle/bundle_receiver.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

bool is_export_target(std::string_view target) {
  return target.substr(0, target.find('?')) == kExportPath;
}

Result<std::string> answer_export_target(const RocksdbLog& log, const SnapshotStore& snapshots,
                                         std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return target.error();
  Seq to = log.last_seq();
  BundleCursor from;
  for (const auto& [name, value] : target->parameters) {
    if (name == "to") {
      const auto event = last_event(log, "--to", value);
      if (!event) return event.error();
      to = *event;
    } else if (name == "from") {
      const auto cursor = parse_bundle_cursor(value);
      if (!cursor) return cursor.error();
      from = *cursor;
    } else {
      return Error{ErrorCode::bad_input, "unknown parameter \"" + name + "\"; known: to, from"};
    }
  }
  const auto page = bundle_page(log, snapshots, to, from);
  if (!page) return page.error();
  return to_bytes(*page);
}

Result<BundleReport> export_from_hub(const AskHub& ask, const std::filesystem::path& file,
                                     const std::string& to, const LogProgress& progress) {
  auto receiver = BundleReceiver::begin(file);
  if (!receiver) return receiver.error();
  std::string end = to;
  for (std::optional<BundleCursor> from = BundleCursor{}; from;) {
    HttpTarget target{std::string(kExportPath), {}};
    target.add("to", end);
    target.add("from", to_text(*from));
    const auto answer = ask(to_text(target));
    if (!answer) return answer.error();
    const auto page = read_bundle_page(*answer);
    if (!page) return page.error();
    if (auto added = (*receiver)->add(*page); !added) return added.error();
    if (progress && page->next) progress((*receiver)->reached(), page->to);
    end = "seq:" + std::to_string(page->to.value);
    if (page->next == from)
      return Error{ErrorCode::unavailable, "the server gives the same page again and again"};
    from = page->next;
  }
  return (*receiver)->finish();
}

}  // namespace fairlead
