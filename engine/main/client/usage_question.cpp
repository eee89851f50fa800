#include "engine/main/client/usage_question.h"

#include <algorithm>
#include <chrono>

#include "engine/main/client/position.h"
#include "replay/usage/usage_view.h"

namespace fairlead {

namespace {

constexpr std::int64_t kNanosOfHour = 3'600'000'000'000;
constexpr std::int64_t kNanosOfDay = 24 * kNanosOfHour;

std::int64_t floor_to(std::int64_t ns, std::int64_t step) {
  const std::int64_t rest = ns % step;
  return ns - rest - (rest < 0 ? step : 0);
}

// The next midnight that begins a day or a month, by the clocks on the wall.
std::int64_t next_midnight(std::int64_t wall, bool of_month) {
  const std::int64_t day = floor_to(wall, kNanosOfDay) / kNanosOfDay;
  if (!of_month) return (day + 1) * kNanosOfDay;
  using std::chrono::days, std::chrono::months, std::chrono::sys_days;
  const std::chrono::year_month_day date{sys_days(days(day))};
  const sys_days next{(date.year() / date.month() + months(1)) / 1};
  return next.time_since_epoch().count() * kNanosOfDay;
}

// The moment at which a day begins: midnight, the first of two midnights, or where clocks skip
// midnight the moment at which they do.
LogTime begin_of_day(std::int64_t midnight, TimeZone zone) {
  const LogTime near = zone.moment_of({midnight});
  const LogTime earlier{near.ns - kNanosOfHour};
  if (earlier.ns + zone.offset_at(earlier).ns == midnight) return earlier;
  const std::int64_t shown = near.ns + zone.offset_at(near).ns;
  return shown < midnight ? LogTime{near.ns + midnight - shown} : near;
}

Result<LogTime> time_of(const ReadableLog& log, const char* option, const std::string& text,
                        LogTime otherwise) {
  if (text.empty()) return otherwise;
  const auto position = parse_position(log, option, text);
  if (!position) return position.error();
  if (const auto* time = std::get_if<LogTime>(&*position)) return *time;
  const Seq seq = std::clamp(std::get<Seq>(*position), log.first_seq(), log.last_seq());
  auto reader = log.read(seq);
  if (!reader) return reader.error();
  const auto event = (*reader)->next();
  if (!event) return event.error();
  return *event ? (*event)->log_time : otherwise;
}

}  // namespace

LogTime next_period(LogTime time, std::string_view every, TimeZone zone) {
  const std::int64_t offset = zone.offset_at(time).ns;
  const std::int64_t wall = time.ns + offset;
  if (every != "1h") {
    const std::int64_t midnight = next_midnight(wall, every == "month");
    const LogTime next = begin_of_day(midnight, zone);
    return next > time ? next : begin_of_day(next_midnight(midnight, every == "month"), zone);
  }
  LogTime next{floor_to(wall, kNanosOfHour) + kNanosOfHour - offset};
  // Where clocks are put by a part of an hour, the hour is a longer or a shorter one.
  const std::int64_t there = next.ns + zone.offset_at(next).ns;
  const LogTime whole{next.ns - (there - floor_to(there, kNanosOfHour))};
  return whole > time ? whole : LogTime{whole.ns + kNanosOfHour};
}

Result<UsageRequest> usage_request(const AuditSource& source, const UsageQuestion& question,
                                   TimeZone zone, const std::string& zone_name) {
  auto view = parse_usage_view(question.by);
  if (!view) return view.error();
  if (!question.every.empty() && question.every != "1h" && question.every != "1d" &&
      question.every != "month")
    return Error{ErrorCode::bad_input,
                 "--every: expected 1h, 1d or month, got \"" + question.every + "\""};
  const auto begin = usage_begin(source);
  if (!begin) return begin.error();
  const LogTime end = std::max(*begin, source.log.last_time());
  const auto from = time_of(source.log, "--from", question.from, *begin);
  if (!from) return from.error();
  const auto to = time_of(source.log, "--to", question.to, end);
  if (!to) return to.error();
  if (*to < *from)
    return Error{ErrorCode::bad_input,
                 "--to (" + to_rfc3339(*to) + ") is before --from (" + to_rfc3339(*from) + ")"};
  UsageRequest request{*std::move(view),
                       {std::clamp(*from, *begin, end)},
                       question.every,
                       zone.is_utc() || zone_name.empty() ? "UTC" : zone_name};
  const LogTime last = std::clamp(*to, *begin, end);
  if (!question.every.empty())
    for (LogTime cut = next_period(request.cuts.front(), question.every, zone); cut < last;
         cut = next_period(cut, question.every, zone))
      request.cuts.push_back(cut);
  request.cuts.push_back(last);
  return request;
}

}  // namespace fairlead
