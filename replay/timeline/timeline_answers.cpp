#include "replay/timeline/timeline_answers.h"

#include <algorithm>
#include <vector>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/queues/queues.h"
#include "replay/audit/explain.h"
#include "replay/timeline/pool_answers.h"
#include "replay/timeline/series_json.h"

namespace fairlead {

namespace {

// Whether the span has more steps than an answer of `points`: some are left out of its lines.
template <class Lines>
bool any_left_out(const Lines& lines, const TimelineSpan& span, std::size_t points) {
  return std::any_of(lines.begin(), lines.end(), [&](const StepSeries& series) {
    const std::size_t all = series.steps().size();
    return all > points && steps_between(series.steps(), span.from, span.to, all).size() > points;
  });
}

Json buckets_json(const CountsOverTime& counts, const TimelineSpan& span, std::size_t buckets,
                  Duration& width) {
  Json list = Json::array();
  for (const CountBucket& bucket : counts.between(span.from, span.to, buckets, width))
    list.push_back({to_rfc3339(bucket.begin), bucket.counts.events, bucket.counts.ours,
                    bucket.counts.foreign, bucket.counts.losses});
  return list;
}

Json queue_row(const State& state, const std::string& name,
               const std::vector<Condition>& conditions) {
  Json row{{"queue", name}, {"states", Json::array()}, {"pairs", Json::array()}};
  for (const Condition condition : conditions) row["states"].push_back(text_of(condition));
  for (const KnownPair& pair : pairs_of_queue(state, name)) {
    CapacityParts parts;
    const PairValues values = pair_values(state, pair, parts);
    const auto text = [&](PairLine line) {
      return amount_json(pair.key.resource, values.at(static_cast<std::size_t>(line)));
    };
    row["pairs"].push_back({{"flavor", pair.key.flavor},
                            {"resource", pair.spelled},
                            {"nominal", text(PairLine::nominal)},
                            {"desired", text(PairLine::desired)},
                            {"used", text(PairLine::used)}});
  }
  return row;
}

Json queue_rows(const State& state) {
  std::set<std::string> names;
  for (const auto& [name, queue] : state.queues.by_name)
    if (queue.present) names.insert(name);
  for (const auto& [name, claims] : state.claims.of_queue) names.insert(name);
  // The worst comes first (Condition), and the name decides between equals.
  std::vector<std::pair<std::vector<Condition>, std::string>> ranked;
  for (const std::string& name : names) ranked.emplace_back(conditions_of_queue(state, name), name);
  std::sort(ranked.begin(), ranked.end());
  Json rows = Json::array();
  for (const auto& [conditions, name] : ranked) rows.push_back(queue_row(state, name, conditions));
  return rows;
}

Json cluster_rows(const State& state) {
  std::vector<std::pair<Condition, std::string>> ranked;
  for (const auto& [name, cluster] : state.clusters)
    ranked.emplace_back(condition_of_cluster(state, name), name);
  std::sort(ranked.begin(), ranked.end());
  Json rows = Json::array();
  for (const auto& [condition, name] : ranked) {
    const Cluster& cluster = state.clusters.at(name);
    Json row{{"cluster", name},
             {"state", text_of(condition)},
             {"source", cluster.source ? Json(text_of(*cluster.source)) : Json()},
             {"hold", nullptr},
             {"capacity", Json::array()}};
    if (cluster.hold)
      row["hold"] = {
          {"since", to_rfc3339(cluster.hold->since)},
          {"until", to_rfc3339(cluster.hold->since + settings_of(state, name).mass_shrink_hold)}};
    for (const auto& [key, value] : cluster.capacity) {
      const CapacityValues values = capacity_values(value);
      Json entry{{"flavor", key.flavor}, {"resource", key.resource}};
      for (std::size_t i = 0; i < values.size(); ++i)
        entry[std::string(kCapacityLines[i])] = amount_json(key.resource, values[i]);
      row["capacity"].push_back(std::move(entry));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json list_rows(const State& state) {
  Json rows = Json::array();
  for (const auto& [name, list] : state.multikueue.lists) {
    Json selected = Json::array();
    for (const auto& [worker, record] : list.workers)
      if (record.selected) selected.push_back(worker);
    rows.push_back({{"list", name},
                    {"state", condition_of_list(state, name)},
                    {"listed", list.names},
                    {"selected", std::move(selected)},
                    {"wish", list.wish ? Json(*list.wish) : Json()}});
  }
  return rows;
}

Json cohort_row(const std::string& name, const CohortFacts* facts) {
  Json row{{"cohort", name},    {"object", facts != nullptr}, {"parent", nullptr},
           {"weight", nullptr}, {"queues", Json::array()},    {"quotas", Json::array()}};
  if (facts == nullptr) return row;
  if (!facts->parent.empty()) row["parent"] = facts->parent;
  if (!facts->terms) return row;
  row["weight"] = facts->terms->weight ? facts->terms->weight->text() : "1";
  for (const ResourceGroup& group : facts->terms->groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        row["quotas"].push_back(
            {{"flavor", flavor.name},
             {"resource", quota.name},
             {"nominal", quota.nominal.text()},
             {"borrowingLimit",
              quota.borrowing_limit ? Json(quota.borrowing_limit->text()) : Json()},
             {"lendingLimit", quota.lending_limit ? Json(quota.lending_limit->text()) : Json()}});
  return row;
}

// Those that have an object, and those that ClusterQueues name.
Json cohort_rows(const State& state) {
  std::map<std::string, Json> rows;
  for (const auto& [name, cohort] : state.queues.cohorts)
    rows.emplace(name, cohort_row(name, &cohort.facts));
  for (const auto& [queue, of] : state.queues.by_name) {
    const std::string& name = of.facts.cohort;
    if (!of.present || name.empty()) continue;
    const auto at = rows.try_emplace(name).first;
    if (at->second.is_null()) at->second = cohort_row(name, nullptr);
    at->second["queues"].push_back(queue);
  }
  Json list = Json::array();
  for (auto& [name, row] : rows) list.push_back(std::move(row));
  return list;
}

bool is_asked(const SeriesQuestion& question, const std::string& flavor,
              const std::string& resource) {
  return (!question.flavor || *question.flavor == flavor) &&
         (!question.resource || *question.resource == resource);
}

// Appends to `pairs` the lines that are asked for; `names` has the lines' names.
template <class Map, class Names, class Split>
Result<void> add_pairs(const Map& map, const Names& names, const Split& split,
                       const SeriesQuestion& question, const TimelineSpan& span, std::size_t points,
                       const ResourceAliases& aliases, Json& pairs) {
  std::vector<std::string> known;
  for (const auto& [key, series] : map) {
    const auto& [flavor, resource] = split(key);
    known.push_back(flavor + " " + resource);
    if (!is_asked(question, flavor, resource)) continue;
    pairs.push_back({{"flavor", flavor},
                     {"resource", resource},
                     {"reduced", any_reduced(series.lines)},
                     {"leftOut", any_left_out(series.lines, span, points)},
                     {"lines", lines_json(series.lines, names, span, points,
                                          canonical_resource(aliases, resource))}});
  }
  if (!pairs.empty() || (!question.flavor && !question.resource)) return {};
  const std::string wanted =
      question.flavor.value_or("any flavor") + " " + question.resource.value_or("any resource");
  return Error{ErrorCode::bad_input,
               "no \"" + wanted + "\" there in this log; known: " + nearby(known, wanted)};
}

// A step of a worker's line: its value is true, false or null.
Json worker_lines_json(const WorkerSeries& series, const TimelineSpan& span, std::size_t points) {
  Json lines = Json::object();
  for (std::size_t i = 0; i < series.lines.size(); ++i) {
    Json& steps = lines[std::string(kWorkerLines[i])] = Json::array();
    for (const Step& step : steps_between(series.lines[i].steps(), span.from, span.to, points))
      steps.push_back({to_rfc3339(step.time), seq_json(step.seq),
                       step.value == kNoValue ? Json() : Json(step.value != 0)});
  }
  return lines;
}

Result<AuditAnswer> list_answer(const ValueSeries& values, const SeriesQuestion& question,
                                const TimelineSpan& span, std::size_t points, Json answer) {
  if (question.flavor || question.resource)
    return Error{ErrorCode::bad_input, "a worker list has no flavor and no resource"};
  const auto found = find_named(values.lists(), "worker list", question.list);
  if (!found) return found.error();
  answer["list"] = question.list;
  Json& workers = answer["workers"] = Json::array();
  for (const auto& [name, series] : **found)
    workers.push_back({{"multiKueueCluster", name},
                       {"cluster", series.cluster},
                       {"reduced", any_reduced(series.lines)},
                       {"lines", worker_lines_json(series, span, points)}});
  return AuditAnswer{std::move(answer)};
}

// How many there are; null of a hub without a pool.
Json pool_counts(const State& state) {
  if (state.pool.tenants.empty() && state.pool.clusters.empty()) return nullptr;
  std::size_t namespaces = 0, troubled = 0, pods = 0, waiting = 0;
  for (const auto& [tenant, of_tenant] : state.pool.tenants)
    for (const auto& [name, of] : of_tenant.namespaces) {
      ++namespaces;
      if (states_of_namespace(state, {tenant, name}).front() != "steady") ++troubled;
      pods += of.pods.size();
      waiting += pods_that_wait(of);
    }
  return {{"tenants", state.pool.tenants.size()},
          {"superClusters", state.pool.clusters.size()},
          {"namespaces", namespaces},
          {"troubled", troubled},
          {"pods", pods},
          {"waiting", waiting}};
}

}  // namespace

Json steps_json(const StepSeries& series, const TimelineSpan& span, std::size_t points,
                const std::string& resource) {
  Json list = Json::array();
  for (const Step& step : steps_between(series.steps(), span.from, span.to, points)) {
    Json row =
        Json::array({to_rfc3339(step.time), seq_json(step.seq), amount_json(resource, step.value)});
    if (step.writer != StepWriter::none)
      row.push_back(step.writer == StepWriter::fairlead ? "fairlead" : "foreign");
    list.push_back(std::move(row));
  }
  return list;
}

Json overview_answer(const Timeline& timeline, const TimelineSpan& span, std::size_t buckets) {
  Duration width;
  Json rows = buckets_json(timeline.counts(), span, buckets, width);
  const EventCounts& total = timeline.counts().total();
  return {{"kind", "Overview"},
          {"from", to_rfc3339(span.from)},
          {"to", to_rfc3339(span.to)},
          {"bucketWidth", to_go_duration(width)},
          {"buckets", std::move(rows)},
          {"totals",
           {{"events", total.events},
            {"ours", total.ours},
            {"foreign", total.foreign},
            {"losses", total.losses}}},
          {"queues", queue_rows(timeline.state())},
          {"clusters", cluster_rows(timeline.state())},
          {"lists", list_rows(timeline.state())},
          {"cohorts", cohort_rows(timeline.state())},
          {"pool", pool_counts(timeline.state())}};
}

Result<AuditAnswer> series_answer(const ValueSeries& values, const ResourceAliases& aliases,
                                  const SeriesQuestion& question, const TimelineSpan& span,
                                  std::size_t points) {
  Json answer{{"kind", "Series"}, {"from", to_rfc3339(span.from)}, {"to", to_rfc3339(span.to)}};
  const bool of_pool =
      !question.namespace_.empty() || !question.super_cluster.empty() || !question.tenant.empty();
  if (1 != !question.queue.empty() + !question.cluster.empty() + !question.list.empty() +
               !question.namespace_.empty() + !question.super_cluster.empty() +
               !question.tenant.empty())
    return Error{ErrorCode::bad_input,
                 "expected one of queue, cluster, list, namespace, superCluster and tenant"};
  if (of_pool) return pool_series(values, question, span, points, std::move(answer));
  if (!question.list.empty()) return list_answer(values, question, span, points, std::move(answer));
  Json& pairs = answer["pairs"] = Json::array();
  Result<void> added;
  if (!question.queue.empty()) {
    const auto found = find_named(values.queues(), "ClusterQueue", question.queue);
    if (!found) return found.error();
    answer["queue"] = question.queue;
    const auto split = [](const PairName& name) { return name; };
    added = add_pairs(**found, kPairLines, split, question, span, points, aliases, pairs);
  } else {
    const auto found = find_named(values.clusters(), "cluster", question.cluster);
    if (!found) return found.error();
    answer["cluster"] = question.cluster;
    const auto split = [](const CapacityKey& key) { return PairName(key.flavor, key.resource); };
    added = add_pairs(**found, kCapacityLines, split, question, span, points, aliases, pairs);
  }
  if (!added) return added.error();
  return AuditAnswer{std::move(answer)};
}

namespace {

// The rows of a Series, and what names one.
struct SeriesRows {
  const char* rows;
  std::vector<const char*> names;
};
const SeriesRows& rows_of_series(const Json& series) {
  static const std::vector<SeriesRows> kinds{{"pairs", {"flavor", "resource"}},
                                             {"workers", {"multiKueueCluster"}},
                                             {"shares", {"id"}},
                                             {"resources", {"resource"}}};
  return *std::find_if(kinds.begin(), kinds.end(),
                       [&](const SeriesRows& kind) { return series.contains(kind.rows); });
}

}  // namespace

bool is_reduced(const Json& series) {
  const Json& rows = series[rows_of_series(series).rows];
  return std::any_of(rows.begin(), rows.end(),
                     [](const Json& row) { return row["reduced"] == true; });
}

void refine(Json& series, const Json& exact) {
  const auto& [rows, names] = rows_of_series(series);
  const auto same = [&identity = names](const Json& a, const Json& b) {
    return std::all_of(identity.begin(), identity.end(),
                       [&](const char* name) { return a[name] == b[name]; });
  };
  for (Json& row : series[rows]) {
    if (row["reduced"] == false) continue;
    for (const Json& other : exact[rows]) {
      if (!same(row, other)) continue;
      row["lines"] = other["lines"];
      row["reduced"] = other["reduced"];
      if (row.contains("leftOut")) row["leftOut"] = other["leftOut"];
    }
  }
}

}  // namespace fairlead
