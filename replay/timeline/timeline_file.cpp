#include "replay/timeline/timeline_file.h"

#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "engine/fold/canonical_bytes.h"
#include "engine/fold/evolve.h"
#include "snapshots/state_frame.h"
#include "snapshots/stored_file.h"

namespace fairlead {

namespace {

// The file: this, SHA-256 of what follows, and a Zstandard frame of the canonical bytes of Kept:
// the versions of fold and timeline, and the fields of a TimelineContents.
constexpr std::string_view kMagic = "FLMOMT01";
constexpr std::size_t kDigestBytes = sizeof(Digest::bytes);

using Kept = std::tuple<std::uint32_t, std::uint32_t, Seq, Digest, LogTime, std::set<std::string>,
                        ValueSeries, CountsOverTime>;

std::string_view as_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

std::optional<TimelineContents> contents_in(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < kMagic.size() + kDigestBytes) return std::nullopt;
  const std::string_view frame = file.substr(kMagic.size() + kDigestBytes);
  if (as_text(sha256(frame)) != file.substr(kMagic.size(), kDigestBytes)) return std::nullopt;
  const auto plain = decompress_state(frame);
  if (!plain) return std::nullopt;
  auto kept = from_canonical_bytes<Kept>(plain->text(), "index");
  if (!kept) return std::nullopt;
  auto& [fold_version, timeline_version, seq, chain, begin, held, values, counts] = *kept;
  if (fold_version != kFoldVersion || timeline_version != kTimelineVersion) return std::nullopt;
  return TimelineContents{seq, chain, begin, std::move(held), std::move(values), std::move(counts)};
}

}  // namespace

std::filesystem::path timeline_file(const std::filesystem::path& data) { return data / "moments"; }

Result<std::uint64_t> save_timeline(const Timeline& timeline, const std::filesystem::path& data) {
  const auto& [seq, chain, begin, held, values, counts] = timeline.contents();
  const Kept kept{kFoldVersion, kTimelineVersion, seq, chain, begin, held, values, counts};
  const auto frame = compress_state(canonical_bytes(kept));
  if (!frame) return frame.error();
  std::string file(kMagic);
  file += as_text(sha256(*frame));
  file += *frame;
  if (auto replaced = replace_file(timeline_file(data), file); !replaced) return replaced.error();
  return file.size();
}

std::optional<Timeline> saved_timeline(const std::filesystem::path& data, const ReadableLog& log,
                                       const SnapshotSource* snapshots) {
  std::error_code error;
  if (!std::filesystem::exists(timeline_file(data), error)) return std::nullopt;
  const auto file = read_file(timeline_file(data));
  if (!file) return std::nullopt;
  auto contents = contents_in(*file);
  if (!contents || contents->seq > log.last_seq()) return std::nullopt;
  // The seq alone would also fit a log that was restored and has gone on differently since.
  const auto chain = log.chain_at(contents->seq);
  if (!chain || *chain != contents->chain) return std::nullopt;
  auto state = state_at(log, snapshots, contents->seq);
  if (!state) return std::nullopt;
  return Timeline(*std::move(contents), *std::move(state));
}

}  // namespace fairlead
