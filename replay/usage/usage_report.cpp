#include "replay/usage/usage_report.h"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

// Whether the span's end includes the events at its time: the log has no later ones.
bool ends_at_end(const ReadableLog& log, LogTime to) { return to >= log.last_time(); }

// Finds the first and the last event of the span, and the chain after it.
Result<void> find_events(const ReadableLog& log, UsageReport& report) {
  if (log.last_seq() == Seq{} || log.first_seq() > log.last_seq()) return {};
  const LogTime from = report.request.cuts.front();
  const LogTime to = report.request.cuts.back();
  const auto before = log.last_at({from.ns - 1});
  if (!before && before.error().code != ErrorCode::gone) return before.error();
  const Seq first = std::max(before ? next(*before) : log.first_seq(), log.first_seq());
  Seq last = log.last_seq();
  if (!ends_at_end(log, to)) {
    const auto found = log.last_at({to.ns - 1});
    if (!found && found.error().code != ErrorCode::gone) return found.error();
    last = found ? *found : Seq{};
  }
  report.known = last;
  if (last < first) return {};
  const auto chain = log.chain_at(last);
  if (!chain) return chain.error();
  report.first = first;
  report.last = last;
  report.chain = *chain;
  return {};
}

// The settings in force after the last event of the span.
Result<UsageSettings> settings_at(const ReadableLog& log, Seq last) {
  const auto signs = log.signs(kSelf);
  if (!signs) return signs.error();
  const auto end = std::upper_bound(signs->begin(), signs->end(), last);
  for (auto at = end; at != signs->begin();) {
    auto reader = log.read(*--at);
    if (!reader) return reader.error();
    const auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event) continue;
    if (const auto* changed = std::get_if<ConfigChanged>(&(*event)->fact))
      return changed->configuration.usage;
  }
  return UsageSettings();
}

void add_period(UsageReport& report, const UsageRows& rows, Millis from, Millis to) {
  constexpr std::int64_t kNanosPerMilli = 1'000'000;
  for (const auto& [key, totals] : rows)
    report.rows.push_back({{from * kNanosPerMilli}, {to * kNanosPerMilli}, key, totals});
}

}  // namespace

Result<UsageReport> usage_report(const AuditSource& source, const UsageRequest& request,
                                 const UsageHours* hours) {
  UsageReport report;
  report.request = request;
  if (auto found = find_events(source.log, report); !found) return found.error();
  if (report.known == Seq{}) return report;
  auto settings = settings_at(source.log, report.known);
  if (!settings) return settings.error();
  report.settings = *std::move(settings);
  const UsageView by_queue;
  std::vector<UsageView> views{request.view};
  if (is_of_workloads(request.view.by)) views.push_back(by_queue);
  const auto periods = hours ? measure_with_hours(source, views, request.cuts, *hours)
                             : measure_usage(source, views, request.cuts);
  if (!periods) return periods.error();
  UsageRows whole, of_workloads;
  for (const UsagePeriod& period : *periods) {
    add_period(report, period.views.at(request.view), period.from, period.to);
    add_rows(of_workloads, period.of_queues);
    if (const auto rows = period.views.find(by_queue); rows != period.views.end())
      add_rows(whole, rows->second);
  }
  if (is_of_workloads(request.view.by)) {
    for (const auto& [key, totals] : of_workloads) whole.try_emplace(key);
    for (const auto& [key, totals] : whole)
      report.reconciliation.push_back({key, totals.sums.used, of_workloads[key].sums.used});
  }
  if (request.view.by == UsageBy::queue)
    for (const auto& [key, totals] : whole)
      if (totals.sums.differs != 0) report.borrowed_differs.emplace(key, totals);
  return report;
}

}  // namespace fairlead
