#include "replay/usage/usage_index.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "engine/fold/canonical_bytes.h"
#include "engine/fold/evolve.h"
#include "snapshots/state_frame.h"
#include "snapshots/stored_file.h"

namespace fairlead {

namespace {

constexpr Millis kHour = 3'600'000;
constexpr Millis kDay = 24 * kHour;
// Of one call of add_hours(), so that it ends soon where a log has a gap of years: a log that
// `plan` made begins in 1970.
constexpr std::size_t kHoursOfCall = 1000;
// The file: this, SHA-256 of what follows, and the canonical bytes of KeptHours.
constexpr std::string_view kUsageMagic = "FLUSGE02";
constexpr std::size_t kDigestSize = sizeof(Digest::bytes);

// UsageHours with the versions of the program; those of the day that is not over are a frame.
using KeptHours = std::tuple<std::uint32_t, std::uint32_t, UsageHours, std::string>;

// The hours of a day: a key is written once for all of them, and found by its number.
struct HoursOfView {
  std::vector<UsageRowKey> keys;
  std::map<Millis, std::vector<std::pair<std::uint32_t, UsageTotals>>> hours;
};

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

template <class T>
Result<std::string> frame_of_sums(const T& sums) {
  return compress_state(canonical_bytes(sums));
}

template <class T>
Result<T> sums_of_frame(std::string_view frame) {
  const auto plain = decompress_state(frame);
  if (!plain) return plain.error();
  return from_canonical_bytes<T>(plain->text(), "sums of use");
}

Millis day_of(Millis at) { return at / kDay * kDay; }
Millis hour_from(Millis at) { return (at + kHour - 1) / kHour * kHour; }

std::string_view digest_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

bool is_of(const UsageHours& hours, const ReadableLog& log) {
  if (hours.seq == Seq{} || hours.seq > log.last_seq()) return false;
  const auto chain = log.chain_at(hours.seq);
  return chain && *chain == hours.chain;
}

// Moves the hours of a day that is over from `open` to `days`.
Result<void> close_day(UsageHours& hours, Millis day) {
  std::map<UsageView, UsageRows> sums;
  std::map<UsageView, HoursOfView> by_hour;
  for (const auto& [at, views] : hours.open)
    for (const auto& [view, rows] : views) add_rows(sums[view], rows);
  for (const auto& [view, rows] : sums) {
    HoursOfView& of_view = by_hour[view];
    std::map<UsageRowKey, std::uint32_t> numbers;
    for (const auto& [key, totals] : rows) {
      numbers.emplace_hint(numbers.end(), key, static_cast<std::uint32_t>(numbers.size()));
      of_view.keys.push_back(key);
    }
    for (const auto& [at, views] : hours.open)
      if (const auto found = views.find(view); found != views.end())
        for (const auto& [key, totals] : found->second)
          of_view.hours[at].emplace_back(numbers.at(key), totals);
  }
  hours.open.clear();
  for (const auto& [view, rows] : sums) {
    auto whole = frame_of_sums(rows);
    if (!whole) return whole.error();
    auto parts = frame_of_sums(by_hour.at(view));
    if (!parts) return parts.error();
    hours.days[day][view] = {*std::move(whole), *std::move(parts)};
  }
  return {};
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

// Reads the kept sums of one view. Keeps the hours of the day that it read last.
class KeptSums {
 public:
  KeptSums(const UsageHours& hours, UsageView view)
      : hours_(hours),
        is_by_cluster_(view.by == UsageBy::cluster),
        view_(is_by_cluster_ ? UsageView{UsageBy::flavor, {}} : std::move(view)) {}

  // Adds the sums from `from` to `to`, which are whole hours, to `sum`.
  Result<void> add(Millis from, Millis to, UsageRows& sum) {
    for (auto day = hours_.days.lower_bound(day_of(from));
         day != hours_.days.end() && day->first < to; ++day) {
      const auto frames = day->second.find(view_);
      if (frames == day->second.end()) continue;
      const bool whole = std::max(day->first, hours_.begin) >= from && day->first + kDay <= to;
      auto added = whole ? add_day(frames->second, sum)
                         : add_hours_of(day->first, frames->second, from, to, sum);
      if (!added) return added;
    }
    for (auto at = hours_.open.lower_bound(from); at != hours_.open.end() && at->first < to; ++at)
      if (const auto rows = at->second.find(view_); rows != at->second.end())
        add_to(sum, rows->second);
    return {};
  }

 private:
  void add_to(UsageRows& sum, const UsageRows& rows) const {
    add_rows(sum, is_by_cluster_ ? by_cluster(rows) : rows);
  }

  Result<void> add_day(const UsageDayOfView& frames, UsageRows& sum) {
    const auto rows = sums_of_frame<UsageRows>(frames.sums);
    if (!rows) return rows.error();
    add_to(sum, *rows);
    return {};
  }

  Result<void> add_hours_of(Millis day, const UsageDayOfView& frames, Millis from, Millis to,
                            UsageRows& sum) {
    if (day_ != day) {
      auto read = sums_of_frame<HoursOfView>(frames.hours);
      if (!read) return read.error();
      day_ = day;
      of_day_ = *std::move(read);
    }
    std::vector<std::optional<UsageTotals>> totals(of_day_.keys.size());
    for (auto at = of_day_.hours.lower_bound(from); at != of_day_.hours.end() && at->first < to;
         ++at)
      for (const auto& [number, of_hour] : at->second) {
        if (number >= totals.size())
          return Error{ErrorCode::corrupt, "no sums of use: a row has no key"};
        auto& total = totals[number];
        if (total)
          *total += of_hour;
        else
          total = of_hour;
      }
    UsageRows rows;
    for (std::size_t i = 0; i < totals.size(); ++i)
      if (totals[i]) rows.emplace_hint(rows.end(), of_day_.keys[i], *totals[i]);
    add_to(sum, rows);
    return {};
  }

  const UsageHours& hours_;
  const bool is_by_cluster_;
  const UsageView view_;
  std::optional<Millis> day_;  // of `of_day_`
  HoursOfView of_day_;
};

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
    if (any) hours.open[period.from] = std::move(period.views);
    if (period.to % kDay != 0) continue;
    if (auto closed = close_day(hours, day_of(period.from)); !closed) return closed.error();
  }
  hours.end = millis_of(cuts.back());
  hours.seq = log.last_seq();
  hours.chain = log.chain();
  return hours.end >= last;
}

Result<void> save_usage_hours(const UsageHours& hours, const std::filesystem::path& data) {
  auto open = frame_of_sums(hours.open);
  if (!open) return open.error();
  KeptHours kept{kFoldVersion, kUsageVersion,
                 UsageHours{hours.begin, hours.end, hours.seq, hours.chain, hours.days, {}},
                 *std::move(open)};
  const std::string bytes = canonical_bytes(kept);
  const Digest digest = sha256(bytes);
  const std::array<std::string_view, 3> file{kUsageMagic, digest_text(digest), bytes};
  return replace_file(usage_file(data), file);
}

std::optional<UsageHours> saved_usage_hours(const std::filesystem::path& data,
                                            const ReadableLog& log) {
  std::error_code error;
  if (!std::filesystem::exists(usage_file(data), error)) return std::nullopt;
  const auto file = read_file(usage_file(data));
  if (!file || !file->starts_with(kUsageMagic) || file->size() < kUsageMagic.size() + kDigestSize)
    return std::nullopt;
  const std::string_view bytes = std::string_view(*file).substr(kUsageMagic.size() + kDigestSize);
  if (digest_text(sha256(bytes)) != std::string_view(*file).substr(kUsageMagic.size(), kDigestSize))
    return std::nullopt;
  auto kept = from_canonical_bytes<KeptHours>(bytes, "sums of use");
  if (!kept) return std::nullopt;
  auto& [fold_version, usage_version, hours, open] = *kept;
  if (fold_version != kFoldVersion || usage_version != kUsageVersion || !is_of(hours, log))
    return std::nullopt;
  auto of_open_day = sums_of_frame<decltype(hours.open)>(open);
  if (!of_open_day) return std::nullopt;
  hours.open = *std::move(of_open_day);
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
  std::vector<KeptSums> kept;
  for (const UsageView& view : views) kept.emplace_back(hours, view);
  const std::vector<SpanPart> parts = parts_of(millis, hours);
  for (auto part = parts.begin(); part != parts.end();) {
    if (part->kept) {
      for (std::size_t i = 0; i < views.size(); ++i)
        if (auto added = kept[i].add(part->from, part->to, periods[part->period].views[views[i]]);
            !added)
          return added.error();
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
