// `audit history`: the changes of a queue's quota, found by the log's index.
#include <algorithm>

#include "engine/fold/claims/claim_spec.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/audit_span.h"
#include "replay/audit/effective.h"
#include "replay/audit/queue_changes.h"
#include "replay/audit/unseen.h"

namespace fairlead {

namespace {

// The rows that a resource's name selects: an alias selects every spelling of its resource; another
// name selects its own rows, or if there are none those that spell it as an alias.
class NamedRows {
 public:
  NamedRows(const AuditPair& pair, const ResourceAliases& aliases,
            const std::vector<QuotaChange>& changes)
      : pair_(pair), aliases_(aliases) {
    exact_ = !aliases.contains(pair.resource) &&
             std::any_of(changes.begin(), changes.end(), [&](const QuotaChange& change) {
               return of_flavor(change.flavor) && change.resource == pair_.resource;
             });
  }
  bool has(const std::string& flavor, const std::string& resource) const {
    if (!of_flavor(flavor)) return false;
    if (pair_.resource.empty() || resource == pair_.resource) return true;
    return !exact_ &&
           canonical_resource(aliases_, resource) == canonical_resource(aliases_, pair_.resource);
  }

 private:
  bool of_flavor(const std::string& flavor) const {
    return pair_.flavor.empty() || flavor == pair_.flavor;
  }

  const AuditPair& pair_;
  const ResourceAliases& aliases_;
  bool exact_ = false;
};

// Returns the state at the end of the span; if pruning removed that, the log's last.
Result<Moment> moment_of_names(const AuditSource& source, Seq end) {
  auto moment = moment_at(source, end);
  // A span may end before the first state that is known, and still have rows.
  if (moment) return moment;
  return moment_at(source, source.log.last_seq());
}

// Returns the note for an answer without rows: null if the queue has such a pair, which did not
// change.
Json never_there(const State& state, const AuditPair& pair, const NamedRows& named,
                 const std::vector<QuotaChange>& changes) {
  std::vector<std::string> known;
  for (const KnownPair& at : pairs_of_queue(state, pair.queue)) {
    if (named.has(at.key.flavor, at.spelled)) return nullptr;
    known.push_back(at.key.flavor + " " + at.spelled);
  }
  for (const QuotaChange& change : changes) known.push_back(change.flavor + " " + change.resource);
  return "ClusterQueue " + pair.queue + " had no " +
         (pair.flavor.empty() ? "" : "flavor \"" + pair.flavor + "\"") +
         (pair.flavor.empty() || pair.resource.empty() ? "" : " with ") +
         (pair.resource.empty() ? "" : "resource \"" + pair.resource + "\"") +
         " in this span; it had: " + nearby(known, pair.flavor + " " + pair.resource);
}

Result<AuditAnswer> changes_between(const AuditSource& source, const AuditPair& pair, Seq begin,
                                    Seq end) {
  const EventLog& log = source.log;
  auto changes = changes_of_queue(source, pair.queue, begin, end);
  if (!changes) return changes.error();
  auto indexed = log.history(kHub, {Kind::cluster_queue, "", pair.queue});
  if (!indexed) return indexed.error();

  if (indexed->empty()) {
    auto last = moment_at(source, log.last_seq());
    if (!last) return last.error();
    if (auto known = check_queue_named(last->state, pair.queue); !known) return known.error();
  }
  auto effective = effective_changes(source, pair.queue, begin, end);
  if (!effective) return effective.error();
  Json rows = Json::array();
  Json note;
  if (pair.flavor.empty() && pair.resource.empty()) {
    for (const QuotaChange& change : *changes) rows.push_back(change_json(change));
  } else {
    const auto moment = moment_of_names(source, end);
    if (!moment) return moment.error();
    const NamedRows named(pair, moment->state.configuration.resource_aliases, *changes);
    for (const QuotaChange& change : *changes)
      if (named.has(change.flavor, change.resource)) rows.push_back(change_json(change));
    std::erase_if(*effective, [&](const Json& row) {
      return !row["flavor"].is_null() && !named.has(row["flavor"], row["resource"]);
    });
    if (rows.empty() && effective->empty())
      note = never_there(moment->state, pair, named, *changes);
  }
  return AuditAnswer{{{"kind", "QuotaHistory"},
                      {"queue", pair.queue},
                      {"from", {{"seq", begin.value}}},
                      {"to", {{"seq", end.value}}},
                      {"rows", std::move(rows)},
                      {"effective", *std::move(effective)},
                      {"note", std::move(note)}}};
}

// A history is answered from the hub's own objects, so only the hub's sources are searched.
Result<Json> unseen_in(const AuditSource& source, const AuditPosition& to, Seq begin, Seq end,
                       const AnswerSources& sources) {
  EventLookup lookup(source.log);
  const Event* last = lookup.at(end);
  const auto* time = std::get_if<LogTime>(&to);
  return unseen_between(source,
                        {begin, end,
                         time   ? *time
                         : last ? last->log_time
                                : LogTime{}},
                        sources);
}

}  // namespace

Result<AuditAnswer> audit_history(const AuditSource& source, const AuditPair& pair,
                                  const AuditPosition& from, const AuditPosition& to) {
  const auto span = span_between(source.log, from, to);
  if (!span) return span.error();
  const auto [begin, end] = *span;
  constexpr std::string_view workers = "multikueueconfig/";
  const bool of_list = pair.queue.starts_with(workers);
  auto answer = of_list
                    ? audit_history_workers(source, pair.queue.substr(workers.size()), begin, end)
                    : changes_between(source, pair, begin, end);
  if (!answer) return answer;
  auto unseen =
      unseen_in(source, to, begin, end, of_list ? sources_of_workers() : sources_of_every_quota());
  if (!unseen) return unseen.error();
  answer->document["unseen"] = *std::move(unseen);
  return answer;
}

}  // namespace fairlead
