// `audit history`: the changes of a queue's quota, by the log's index.
#include <algorithm>

#include "engine/fold/claim_spec.h"
#include "replay/audit_moment.h"
#include "replay/queue_changes.h"

namespace fairlead {

namespace {

// Inclusive ends of a range of events.
Result<Seq> range_begin(const EventLog& log, const AuditPosition& position) {
  if (const auto* seq = std::get_if<Seq>(&position)) return std::max(*seq, log.first_seq());
  const LogTime time = std::get<LogTime>(position);
  if (time.ns <= 0) return log.first_seq();
  auto before = log.last_at({time.ns - 1});
  if (before) return std::max(next(*before), log.first_seq());
  if (before.error().code == ErrorCode::gone) return log.first_seq();
  return before.error();
}

Result<Seq> range_end(const EventLog& log, const AuditPosition& position) {
  if (auto known = expect_before_damage(log, position); !known) return known.error();
  if (const auto* seq = std::get_if<Seq>(&position)) return std::min(*seq, log.last_seq());
  return log.last_at(std::get<LogTime>(position));
}

}  // namespace

Result<AuditAnswer> audit_history(const AuditSource& source, const AuditPair& pair,
                                  const AuditPosition& from, const AuditPosition& to) {
  const EventLog& log = source.log;
  auto begin = range_begin(log, from);
  if (!begin) return begin.error();
  auto end = range_end(log, to);
  if (!end) return end.error();
  if (*end < *begin && *end < log.last_seq())
    return Error{ErrorCode::bad_input, "--to (seq " + std::to_string(end->value) +
                                           ") is before --from (seq " +
                                           std::to_string(begin->value) + ")"};
  constexpr std::string_view workers = "multikueueconfig/";
  if (pair.queue.starts_with(workers))
    return audit_history_workers(source, pair.queue.substr(workers.size()), *begin, *end);
  auto changes = changes_of_queue(source, pair.queue, *begin, *end);
  if (!changes) return changes.error();
  auto indexed = log.history(kHub, {Kind::cluster_queue, "", pair.queue});
  if (!indexed) return indexed.error();

  // An unknown name, or an alias: what the log's end knows helps.
  const auto spelled = [&](const QuotaChange& change) {
    return (pair.flavor.empty() || change.flavor == pair.flavor) &&
           (pair.resource.empty() || change.resource == pair.resource);
  };
  ResourceAliases aliases;
  if (indexed->empty() || std::none_of(changes->begin(), changes->end(), spelled)) {
    auto moment = moment_at(source, log.last_seq());
    if (!moment) return moment.error();
    if (indexed->empty())
      if (auto known = check_queue_named(moment->state, pair.queue); !known) return known.error();
    aliases = moment->state.configuration.resource_aliases;
  }
  Json rows = Json::array();
  for (const QuotaChange& change : *changes)
    if ((pair.flavor.empty() || change.flavor == pair.flavor) &&
        (pair.resource.empty() || canonical_resource(aliases, change.resource) ==
                                      canonical_resource(aliases, pair.resource)))
      rows.push_back(change_json(change));
  return AuditAnswer{{{"kind", "QuotaHistory"},
                      {"queue", pair.queue},
                      {"from", {{"seq", begin->value}}},
                      {"to", {{"seq", end->value}}},
                      {"rows", std::move(rows)}}};
}

}  // namespace fairlead
