#include "replay/bundle/bundle_page.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "replay/bundle/bundle_sections.h"
#include "schema/codec.h"
#include "schema/event_json.h"
#include "snapshots/snapshot_pieces.h"

namespace fairlead {
namespace {

using Stage = BundleCursor::Stage;

constexpr std::string_view kSnapshotCursor = "snapshot";
constexpr std::string_view kPackCursor = "pack";

Json tail_json(const LogTail& tail) {
  return {{"seq", tail.last.value}, {"logTime", tail.last_time.ns}, {"chain", tail.chain.hex()}};
}

Json head_json(const RocksdbLog& log, const LogTail& tail,
               const std::map<Epoch, std::string>& epochs) {
  Json listed = Json::array();
  for (const auto& [epoch, version] : epochs)
    listed.push_back({{"epoch", epoch.value}, {"programVersion", version}});
  return {{"format", kBundleFormat},
          {"version", kBundleVersion},
          {"schemaVersion", log.schema_version()},
          {"programVersion", FAIRLEAD_VERSION},
          {"base", tail_json(log.base())},
          {"last", tail_json(tail)},
          {"epochs", listed}};
}

/// Returns the configuration after event `last`; nullopt if no state can be folded to it.
std::optional<std::string> configuration_at(const ReadableLog& log, const SnapshotSource& snapshots,
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
  // Epochs never decrease from event to event, so the last event has the greatest.
  if (*event) epochs.erase(epochs.upper_bound((*event)->epoch), epochs.end());
  return epochs;
}

/// Fills one page.
class PageMaker {
 public:
  PageMaker(const RocksdbLog& log, const SnapshotStore& snapshots, const LogTail& tail)
      : log_(log), snapshots_(snapshots), tail_(tail) {
    page_.to = tail.last;
  }

  Result<void> add_head() {
    const auto epochs = epochs_until(log_, tail_.last);
    if (!epochs) return epochs.error();
    add_whole("FLB1", to_text(head_json(log_, tail_, *epochs)));
    if (auto text = configuration_at(log_, snapshots_, tail_.last))
      add_whole("CONF", *std::move(text));
    return {};
  }

  // Adds snapshots from `from` on until the page is full or none is left.
  Result<void> add_snapshots(BundleCursor from) {
    for (;;) {
      if (left_ == 0) return stop_at(from);
      const auto info = first_snapshot_from(snapshots_, from.seq);
      if (from.offset > 0 && (!info || info->seq != from.seq))
        return Error{ErrorCode::not_found, "the snapshot of seq " + std::to_string(from.seq.value) +
                                               " was removed meanwhile"};
      if (!info || info->seq > tail_.last) return {};
      // A data directory may hold a snapshot from before a restore. Only one whose digest is this
      // log's digest at its seq fits the packs that follow.
      const auto chain = log_.chain_at(info->seq);
      if (chain && *chain == info->log_digest) {
        auto ended = add_snapshot(info->seq, from.offset);
        if (!ended) return ended.error();
        if (!*ended) return {};
      }
      from = {Stage::snapshots, next(info->seq), 0};
    }
  }

  Result<void> add_packs(const BundleCursor& from) {
    std::uint64_t offset = from.offset;
    return log_.for_each_pack(
        from.seq, tail_.last,
        [&](const PackHeader& header, std::string_view pack) -> Result<PackWalk> {
          // Only the first pack of a page may be continued; all others begin with their first byte.
          const BundleCursor here{Stage::packs, header.first, std::exchange(offset, 0)};
          if (here.offset > pack.size())
            return Error{ErrorCode::bad_input, "from: " + to_text(here) + " is behind its section"};
          if (left_ == 0) {
            page_.next = here;
            return PackWalk::stop;
          }
          const std::uint64_t count = std::min<std::uint64_t>(left_, pack.size() - here.offset);
          BundlePart part{"PACK",      header.first, pack.size(),
                          here.offset, std::nullopt, std::string(pack.substr(here.offset, count))};
          return add(std::move(part), here) ? PackWalk::go_on : PackWalk::stop;
        });
  }

  bool full() const { return page_.next.has_value(); }
  BundlePage page() && { return std::move(page_); }

 private:
  void add_whole(const char* tag, std::string text) {
    const std::uint64_t size = text.size();
    page_.parts.push_back({tag, {}, size, 0, std::nullopt, std::move(text)});
  }

  Result<void> stop_at(const BundleCursor& cursor) {
    page_.next = cursor;
    return {};
  }

  // Adds a piece from `here` on; false if its section goes on in the next page.
  bool add(BundlePart part, BundleCursor here) {
    here.offset += part.bytes.size();
    left_ -= part.bytes.size();
    const bool ended = here.offset == part.size;
    if (!ended) page_.next = here;
    page_.parts.push_back(std::move(part));
    return ended;
  }

  // The first piece is cut out of the checked whole, whose digest goes with it; the others are read
  // as they are.
  Result<bool> add_snapshot(Seq seq, std::uint64_t offset) {
    BundlePart part{"SNAP", seq, 0, offset, std::nullopt, ""};
    if (offset == 0) {
      const auto whole = snapshots_.bytes(seq);
      if (!whole) return true;  // pruned meanwhile
      part.size = whole->size();
      if (part.size > left_) part.digest = sha256(*whole);
      part.bytes = whole->substr(0, left_);
    } else {
      const auto size = snapshot_bytes(snapshots_, seq);
      if (!size) return size.error();
      part.size = *size;
      if (offset > part.size) return Error{ErrorCode::bad_input, "from: behind its section"};
      auto bytes = snapshot_piece(snapshots_, seq, offset, std::min(left_, part.size - offset));
      if (!bytes) return bytes.error();
      part.bytes = *std::move(bytes);
    }
    return add(std::move(part), {Stage::snapshots, seq, offset});
  }

  const RocksdbLog& log_;
  const SnapshotStore& snapshots_;
  const LogTail tail_;
  BundlePage page_;
  std::uint64_t left_ = kBundlePageBytes;
};

Error no_page() {
  return {ErrorCode::unavailable, "the server answered something else than a page of an export"};
}

Json part_json(const BundlePart& part) {
  Json json{{"tag", part.tag},
            {"seq", part.seq.value},
            {"size", part.size},
            {"offset", part.offset},
            {"bytes", part.bytes.size()}};
  if (part.digest) json["digest"] = part.digest->hex();
  return json;
}

/// Consumes the bytes of a part at the front of `rest`.
std::optional<BundlePart> part_of(const Json& json, std::string_view& rest) {
  const auto seq = natural_in(json, "seq"), size = natural_in(json, "size");
  const auto offset = natural_in(json, "offset"), bytes = natural_in(json, "bytes");
  if (!member(json, "tag").is_string() || !seq || !size || !offset || !bytes ||
      *bytes > rest.size())
    return std::nullopt;
  BundlePart part;
  part.tag = text_in(json, "tag");
  part.seq = {*seq};
  part.size = *size;
  part.offset = *offset;
  if (json.contains("digest")) {
    part.digest = Digest::from_hex(text_in(json, "digest"));
    if (!part.digest) return std::nullopt;
  }
  part.bytes = rest.substr(0, *bytes);
  rest.remove_prefix(*bytes);
  return part;
}

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string to_text(const BundleCursor& cursor) {
  if (cursor.stage == Stage::head) return "";
  std::string text(cursor.stage == Stage::packs ? kPackCursor : kSnapshotCursor);
  return text + ":" + std::to_string(cursor.seq.value) + ":" + std::to_string(cursor.offset);
}

Result<BundleCursor> parse_bundle_cursor(std::string_view text) {
  if (text.empty()) return BundleCursor{};
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  BundleCursor cursor;
  const std::string_view stage = text.substr(0, first);
  cursor.stage = stage == kPackCursor ? Stage::packs : Stage::snapshots;
  if (second == std::string_view::npos || (stage != kPackCursor && stage != kSnapshotCursor) ||
      !read_number(text.substr(first + 1, second - first - 1), cursor.seq.value) ||
      !read_number(text.substr(second + 1), cursor.offset) || cursor.seq == Seq{})
    return Error{
        ErrorCode::bad_input,
        "from: expected snapshot:SEQ:OFFSET or pack:SEQ:OFFSET, got \"" + std::string(text) + "\""};
  return cursor;
}

Result<BundlePage> bundle_page(const RocksdbLog& log, const SnapshotStore& snapshots, Seq to,
                               const BundleCursor& from) {
  const auto tail = log.tail_through(to);
  if (!tail) return tail.error();
  PageMaker maker(log, snapshots, *tail);
  if (from.stage == Stage::head)
    if (auto added = maker.add_head(); !added) return added.error();
  if (from.stage != Stage::packs) {
    const BundleCursor first{Stage::snapshots, std::max(from.seq, Seq{1}), from.offset};
    if (auto added = maker.add_snapshots(first); !added) return added.error();
  }
  if (!maker.full()) {
    const BundleCursor first =
        from.stage == Stage::packs ? from : BundleCursor{Stage::packs, {}, 0};
    if (auto added = maker.add_packs(first); !added) return added.error();
  }
  return std::move(maker).page();
}

std::string to_bytes(const BundlePage& page) {
  Json parts = Json::array();
  for (const BundlePart& part : page.parts) parts.push_back(part_json(part));
  Json line{{"to", page.to.value}, {"parts", std::move(parts)}};
  if (page.next) line["next"] = to_text(*page.next);
  std::string bytes = to_text(line) + "\n";
  for (const BundlePart& part : page.parts) bytes += part.bytes;
  return bytes;
}

Result<BundlePage> read_bundle_page(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  const Json line = read_json(bytes.substr(0, end));
  const auto to = natural_in(line, "to");
  if (end == std::string_view::npos || !to || !member(line, "parts").is_array()) return no_page();
  std::string_view rest = bytes.substr(end + 1);
  BundlePage page;
  page.to = {*to};
  for (const Json& json : list_in(line, "parts")) {
    auto part = part_of(json, rest);
    if (!part) return no_page();
    page.parts.push_back(*std::move(part));
  }
  if (line.contains("next")) {
    const auto cursor = parse_bundle_cursor(text_in(line, "next"));
    if (!cursor) return no_page();
    page.next = *cursor;
  }
  return rest.empty() ? Result<BundlePage>(std::move(page)) : no_page();
}

}  // namespace fairlead
