#include "replay/usage/usage_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/fold/evolve.h"
#include "snapshots/canonical_bytes.h"
#include "snapshots/state_frame.h"
#include "snapshots/stored_file.h"

namespace fairlead {

namespace {

constexpr Millis kHour = 3'600'000;
// Of one call of add_hours(), so that it ends soon where a log has a gap of years: a log that
// `plan` made begins in 1970.
constexpr std::size_t kHoursOfCall = 1000;
// The file: this, SHA-256 of what follows, and a Zstandard frame of the canonical bytes of
// KeptHours.
constexpr std::string_view kUsageMagic = "FLUSGE01";
constexpr std::size_t kDigestSize = sizeof(Digest::bytes);

using KeptHours = std::tuple<std::uint32_t, std::uint32_t, UsageHours>;

// The views whose sums are kept. Rows by cluster are made of those by flavor.
const std::vector<UsageView>& kept_views() {
  static const std::vector<UsageView> views{
      {UsageBy::queue, {}}, {UsageBy::cohort, {}}, {UsageBy::flavor, {}}, {UsageBy::resource, {}}};
  return views;
}

LogTime time_at(Millis at) {
  constexpr std::int64_t kNanosPerMilli = 1'000'000;
  return {at * kNanosPerMilli};
}

Millis hour_from(Millis at) { return (at + kHour - 1) / kHour * kHour; }

std::string_view digest_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

bool is_of(const UsageHours& hours, const ReadableLog& log) {
  if (hours.seq == Seq{} || hours.seq > log.last_seq()) return false;
  const auto chain = log.chain_at(hours.seq);
  return chain && *chain == hours.chain;
}

UsageRows by_cluster(const UsageRows& by_flavor) {
  UsageRows rows;
  for (const auto& [key, totals] : by_flavor) {
    UsageRowKey of_cluster = key;
    of_cluster.key = key.cluster;
    rows[of_cluster] += totals;
  }
  return rows;
}

// Adds the kept sums from `from` to `to` to a period.
void add_kept(UsagePeriod& period, const UsageHours& hours, Millis from, Millis to,
              const std::vector<UsageView>& views) {
  for (auto at = hours.hours.lower_bound(from); at != hours.hours.end() && at->first < to; ++at)
    for (const UsageView& view : views) {
      const bool cluster = view.by == UsageBy::cluster;
      const auto rows = at->second.find(cluster ? UsageView{UsageBy::flavor, {}} : view);
      if (rows == at->second.end()) continue;
      add_rows(period.views[view], cluster ? by_cluster(rows->second) : rows->second);
    }
}

void add_measured(UsagePeriod& period, const UsagePeriod& part) {
  for (const auto& [view, rows] : part.views) add_rows(period.views[view], rows);
  add_rows(period.of_queues, part.of_queues);
}

// A part of a span: of one period, and of kept hours or not.
struct SpanPart {
  std::size_t period;
  Millis from, to;
  bool kept;
};

std::vector<SpanPart> parts_of(const std::vector<Millis>& cuts, const UsageHours& hours) {
  std::vector<SpanPart> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const Millis from = std::max(hour_from(cuts[i]), hours.begin);
    const Millis to = std::min(cuts[i + 1] / kHour * kHour, hours.end);
    if (from >= to) {
      parts.push_back({i, cuts[i], cuts[i + 1], false});
      continue;
    }
    if (cuts[i] < from) parts.push_back({i, cuts[i], from, false});
    parts.push_back({i, from, to, true});
    if (to < cuts[i + 1]) parts.push_back({i, to, cuts[i + 1], false});
  }
  return parts;
}

}  // namespace

bool UsageHours::keeps(const UsageView& view) { return !is_of_workloads(view.by); }

std::filesystem::path usage_file(const std::filesystem::path& data) { return data / "usage"; }

Result<bool> add_hours(UsageHours& hours, const AuditSource& source, std::uint64_t events_max) {
  const ReadableLog& log = source.log;
  if (log.last_seq() == Seq{}) return true;
  if (hours.seq != Seq{} && !is_of(hours, log)) hours = {};
  if (hours.seq == Seq{}) {
    const auto begin = usage_begin(source);
    if (!begin) return begin.error();
    hours.begin = hours.end = hour_from(millis_of(*begin));
  }
  // What is behind the end of an hour may still say something about it.
  const Millis last = (millis_of(log.last_time()) - kReadBack) / kHour * kHour;
  const auto first = log.last_at(time_at(hours.end));
  if (!first) return first.error();
  std::vector<LogTime> cuts{time_at(hours.end)};
  for (Millis at = hours.end + kHour; at <= last && cuts.size() <= kHoursOfCall; at += kHour) {
    cuts.push_back(time_at(at));
    const auto seq = log.last_at(time_at(at));
    if (!seq) return seq.error();
    if (seq->value - first->value > events_max) break;
  }
  if (cuts.size() < 2) return true;
  auto periods = measure_usage(source, kept_views(), cuts);
  if (!periods) return periods.error();
  for (UsagePeriod& period : *periods) {
    const bool any = std::any_of(period.views.begin(), period.views.end(),
                                 [](const auto& view) { return !view.second.empty(); });
    if (any) hours.hours[period.from] = std::move(period.views);
  }
  hours.end = millis_of(cuts.back());
  hours.seq = log.last_seq();
  hours.chain = log.chain();
  return hours.end >= last;
}

Result<void> save_usage_hours(const UsageHours& hours, const std::filesystem::path& data) {
  const auto frame = compress_state(canonical_bytes(KeptHours{kFoldVersion, kUsageVersion, hours}));
  if (!frame) return frame.error();
  std::string file(kUsageMagic);
  file += digest_text(sha256(*frame));
  file += *frame;
  return replace_file(usage_file(data), file);
}

std::optional<UsageHours> saved_usage_hours(const std::filesystem::path& data,
                                            const ReadableLog& log) {
  std::error_code error;
  if (!std::filesystem::exists(usage_file(data), error)) return std::nullopt;
  const auto file = read_file(usage_file(data));
  if (!file || !file->starts_with(kUsageMagic) || file->size() < kUsageMagic.size() + kDigestSize)
    return std::nullopt;
  const std::string_view frame = std::string_view(*file).substr(kUsageMagic.size() + kDigestSize);
  if (digest_text(sha256(frame)) != std::string_view(*file).substr(kUsageMagic.size(), kDigestSize))
    return std::nullopt;
  const auto plain = decompress_state(frame);
  if (!plain) return std::nullopt;
  auto kept = from_canonical_bytes<KeptHours>(plain->text(), "sums of use");
  if (!kept) return std::nullopt;
  auto& [fold_version, usage_version, hours] = *kept;
  if (fold_version != kFoldVersion || usage_version != kUsageVersion || !is_of(hours, log))
    return std::nullopt;
  return std::move(hours);
}

Result<std::vector<UsagePeriod>> measure_with_hours(const AuditSource& source,
                                                    const std::vector<UsageView>& views,
                                                    const std::vector<LogTime>& cuts,
                                                    const UsageHours& hours) {
  if (!std::all_of(views.begin(), views.end(), UsageHours::keeps))
    return measure_usage(source, views, cuts);
  std::vector<Millis> millis;
  for (const LogTime cut : cuts)
    if (millis.empty() || millis_of(cut) > millis.back()) millis.push_back(millis_of(cut));
  std::vector<UsagePeriod> periods;
  for (std::size_t i = 0; i + 1 < millis.size(); ++i) {
    periods.push_back({millis[i], millis[i + 1], {}, {}});
    for (const UsageView& view : views) periods.back().views.try_emplace(view);
  }
  const std::vector<SpanPart> parts = parts_of(millis, hours);
  for (auto part = parts.begin(); part != parts.end();) {
    if (part->kept) {
      add_kept(periods[part->period], hours, part->from, part->to, views);
      ++part;
      continue;
    }
    // Neighbours that are not kept are folded in one go.
    // The span may begin within a millisecond before which nothing is known.
    std::vector<LogTime> measured{std::max(time_at(part->from), cuts.front())};
    auto end = part;
    for (; end != parts.end() && !end->kept; ++end) measured.push_back(time_at(end->to));
    const auto found = measure_usage(source, views, measured);
    if (!found) return found.error();
    for (std::size_t i = 0; i < found->size(); ++i)
      add_measured(periods[(part + static_cast<std::ptrdiff_t>(i))->period], (*found)[i]);
    part = end;
  }
  return periods;
}

}  // namespace fairlead
