// `audit history`: the changes of a queue's quota, found by the log's index.
#include <algorithm>
#include <list>

#include "engine/fold/claims/claim_spec.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/audit_span.h"
#include "replay/audit/effective.h"
#include "replay/audit/queue_changes.h"
#include "replay/audit/spec_history.h"
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
  return moment_at(source, last_seq_of(source));
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

// Fails if there never was such a queue; a Cohort of that name is mentioned.
Result<void> check_queue_ever(const AuditSource& source, const std::string& queue) {
  const auto indexed = source.log.history(kHub, {Kind::cluster_queue, "", queue});
  if (!indexed) return indexed.error();
  if (!indexed->empty()) return {};
  const auto last = moment_at(source, last_seq_of(source));
  if (!last) return last.error();
  auto known = check_queue_named(last->state, queue);
  if (known || !last->state.queues.cohorts.contains(queue)) return known;
  return Error{known.error().code, known.error().message + "; there is a Cohort: cohort/" + queue};
}

// "rows" and "settings" of a QuotaHistory, the latter by seq.
struct HistoryRows {
  Json rows = Json::array();
  std::list<Json> settings;  // whose sort keeps the order of what is equal

  void add(const QuotaChange& change) {
    Json row = change_json(change);
    if (change.field == QuotaField::nominal)
      rows.push_back(std::move(row));
    else
      settings.push_back(std::move(row));
  }
  void sort() {
    settings.sort([](const Json& a, const Json& b) { return a["seq"] < b["seq"]; });
  }
};

Result<AuditAnswer> changes_between(const AuditSource& source, const AuditPair& pair,
                                    const EventSpan& span) {
  auto changes = changes_of_queue(source, pair.queue, span.begin, span.end);
  if (!changes) return changes.error();
  if (auto known = check_queue_ever(source, pair.queue); !known) return known.error();
  const ObjectKey key{Kind::cluster_queue, "", pair.queue};
  EventLookup lookup(source.log);
  auto effective = effective_changes(source, key, span, lookup);
  if (!effective) return effective.error();
  HistoryRows found;
  Json note;
  if (pair.flavor.empty() && pair.resource.empty()) {
    auto settings = spec_history(source, key, span, lookup);
    if (!settings) return settings.error();
    found.settings.assign(settings->begin(), settings->end());
    for (const QuotaChange& change : *changes) found.add(change);
  } else {
    const auto moment = moment_of_names(source, span.end);
    if (!moment) return moment.error();
    const NamedRows named(pair, moment->state.configuration.resource_aliases, *changes);
    for (const QuotaChange& change : *changes)
      if (named.has(change.flavor, change.resource)) found.add(change);
    std::erase_if(*effective, [&](const Json& row) {
      return !row["flavor"].is_null() && !named.has(row["flavor"], row["resource"]);
    });
    if (found.rows.empty() && found.settings.empty() && effective->empty())
      note = never_there(moment->state, pair, named, *changes);
  }
  found.sort();
  return AuditAnswer{{{"kind", "QuotaHistory"},
                      {"queue", pair.queue},
                      {"from", {{"seq", span.begin.value}}},
                      {"to", {{"seq", span.end.value}}},
                      {"rows", std::move(found.rows)},
                      {"settings", std::move(found.settings)},
                      {"effective", *std::move(effective)},
                      {"note", std::move(note)}}};
}

// The rows are about the hub's own objects, but what moved these was seen in the members that give
// quota to the queue: a row is missing while such a member is silent. Members at the end of the
// span count.
AnswerSources sources_of_history(const AuditSource& source, const std::string& queue, Seq end) {
  AnswerSources sources = sources_of_every_quota();
  // Where no state can be folded, the rows of the hub are an answer all the same.
  if (const auto moment = moment_of_names(source, end)) add_sources(moment->state, queue, sources);
  return sources;
}

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
  const auto add_time = [](const AuditPosition& position, Json& place) {
    if (const auto* time = std::get_if<LogTime>(&position)) place["time"] = to_rfc3339(*time);
  };
  constexpr std::string_view workers = "multikueueconfig/";
  const bool of_list = pair.queue.starts_with(workers);
  const auto object = object_named(pair.queue);
  auto answer = of_list
                    ? audit_history_workers(source, pair.queue.substr(workers.size()), begin, end)
                : object ? audit_history_object(source, *object, *span)
                         : changes_between(source, pair, *span);
  if (!answer) return answer;
  auto unseen = unseen_in(source, to, begin, end,
                          of_list  ? sources_of_workers()
                          : object ? AnswerSources{{}, {object->kind}, {}}
                                   : sources_of_history(source, pair.queue, end));
  if (!unseen) return unseen.error();
  answer->document["unseen"] = *std::move(unseen);
  add_time(from, answer->document["from"]);
  add_time(to, answer->document["to"]);
  return answer;
}

}  // namespace fairlead
