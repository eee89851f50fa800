#include "replay/timeline/pool_answers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/questions.h"
#include "engine/fold/pool/shares.h"
#include "replay/timeline/series_json.h"

namespace fairlead {

namespace {

Json cpu_memory_json(const CpuMemorySum& sum) {
  return {{"cpu", amount_text("cpu", sum.cpu)}, {"memory", amount_text("memory", sum.memory)}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json tenant_row(const std::string& name, const PoolTenant& tenant) {
  std::size_t pods = 0, waiting = 0;
  for (const auto& [key, of] : tenant.namespaces) {
    pods += of.pods.size();
    waiting += pods_that_wait(of);
  }
  Json limit = Json::object();
  for (const auto& [resource, amount] : tenant.limit)
    limit[resource] = amount_text(resource, amount);
  return {{"tenant", name},
          {"state", tenant.connected() ? "connected" : "not connected"},
          {"namespaces", tenant.namespaces.size()},
          {"pods", pods},
          {"waiting", waiting},
          {"slices", cpu_memory_json(tenant.slices)},
          {"limit", std::move(limit)}};
}

Json super_cluster_row(const State& state, const std::string& id, ClusterStanding standing) {
  const Pool& pool = state.pool;
  const auto cluster = pool.clusters.find(id);
  const auto totals = pool.totals.find(id);
  Json row{{"id", id},
           {"cluster", cluster == pool.clusters.end() ? Json() : Json(cluster->second.cluster)},
           {"state", standing_name(standing)},
           {"overflowing", pool.overflowing.contains(id)},
           {"namespaces", totals == pool.totals.end() ? 0 : totals->second.namespaces.size()},
           {"accepted", Json::object()},
           {"held", Json::object()}};
  for (const auto& [resource, values] : offer_values(state, id))
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values.at(i) != kNoValue)
        row[std::string(kOfferLines.at(i))][resource] = amount_text(resource, values.at(i));
  return row;
}

Json namespace_row(const State& state, const PoolNamespaceKey& key,
                   std::vector<std::string> states) {
  const PoolNamespace& of = *find_namespace(state.pool, key);
  Json placements = Json::object();
  for (const auto& [id, slices] : placements_of(of)) placements[id] = slices;
  const auto slice = slice_of(of);
  return {{"tenant", key.first},
          {"namespace", key.second},
          {"states", std::move(states)},
          {"slice", slice ? cpu_memory_json({slice->cpu, slice->memory}) : Json()},
          {"expected", expected_slices(state.configuration, of)},
          {"slices", of.slices},
          {"placements", std::move(placements)},
          {"reason", text_or_null(value_of(of.reason).current)},
          {"pods", of.pods.size()},
          {"waiting", pods_that_wait(of)}};
}

Json pod_row(const PoolNamespaceKey& key, const std::string& name, const PoolPod& pod) {
  const auto id = super_cluster_of(pod);
  return {{"tenant", key.first},
          {"namespace", key.second},
          {"pod", name},
          {"superCluster", id ? Json(*id) : Json()},
          {"waitsSince", pod.waits_since ? Json(to_rfc3339(*pod.waits_since)) : Json()},
          {"reason", text_or_null(value_of(pod.reason).current)}};
}

// Rows up to a bound, and how many more there would be.
class BoundedRows {
 public:
  template <class Make>
  void add(const Make& make) {
    if (rows_.size() < kPoolRowsMax)
      rows_.push_back(make());
    else
      ++left_out_;
  }
  void put(Json& answer, const std::string& name) && {
    answer[name] = std::move(rows_);
    answer[name + "LeftOut"] = left_out_;
  }

 private:
  Json rows_ = Json::array();
  std::size_t left_out_ = 0;
};

bool is_asked(const PoolQuestion& question, const PoolNamespaceKey& key, const PoolNamespace& of) {
  if (!question.tenant.empty() && question.tenant != key.first) return false;
  if (!question.namespace_.empty() && question.namespace_ != namespace_text(key)) return false;
  if (question.super_cluster.empty()) return true;
  const auto share = of.shares.find(question.super_cluster);
  return share != of.shares.end() && (share->second.listed || share->second.pod_count > 0);
}

void add_namespaces(const State& state, const PoolQuestion& question, Json& answer) {
  using Ranked = std::pair<std::vector<std::string>, PoolNamespaceKey>;
  std::vector<Ranked> troubled, steady;
  BoundedRows pods;
  for (const auto& [tenant, of_tenant] : state.pool.tenants)
    for (const auto& [name, of] : of_tenant.namespaces) {
      const PoolNamespaceKey key{tenant, name};
      if (!is_asked(question, key, of)) continue;
      std::vector<std::string> states = states_of_namespace(state, key);
      (states.front() == "steady" ? steady : troubled).emplace_back(std::move(states), key);
      for (const auto& [pod_name, pod] : of.pods)
        if (pod.waits_since || !question.namespace_.empty())
          pods.add([&, &name_of_pod = pod_name, &of_pod = pod] {
            return pod_row(key, name_of_pod, of_pod);
          });
    }
  BoundedRows rows;
  for (const auto* all : {&troubled, &steady})
    for (const auto& [states, key] : *all)
      rows.add([&, &key_of_row = key, &states_of_row = states] {
        return namespace_row(state, key_of_row, states_of_row);
      });
  std::move(rows).put(answer, "namespaces");
  std::move(pods).put(answer, "pods");
}

// Of "shares" and "resources": a row of each part.
template <class Map, class Names>
Json rows_of(const Map& map, const char* name, const Names& names, const TimelineSpan& span,
             std::size_t points) {
  Json rows = Json::array();
  for (const auto& [part, series] : map)
    rows.push_back({{name, part},
                    {"reduced", any_reduced(series.lines)},
                    {"lines", lines_json(series.lines, names, span, points, part)}});
  return rows;
}

}  // namespace

Result<AuditAnswer> pool_answer(const State& state, const PoolQuestion& question) {
  const Pool& pool = state.pool;
  const auto slash = question.namespace_.find('/');
  if (!question.namespace_.empty()) {
    const PoolNamespaceKey key{
        question.namespace_.substr(0, slash),
        slash == std::string::npos ? "" : question.namespace_.substr(slash + 1)};
    if (find_namespace(pool, key) == nullptr)
      return Error{ErrorCode::bad_input, "no tenant has a namespace \"" + question.namespace_ +
                                             "\" now; expected TENANT/NAME"};
  }
  if (!question.tenant.empty() && !pool.tenants.contains(question.tenant))
    return Error{ErrorCode::bad_input, "no tenant is called \"" + question.tenant + "\" now"};
  if (!question.super_cluster.empty() && !pool.standings.contains(question.super_cluster))
    return Error{ErrorCode::bad_input,
                 "no super cluster has the id \"" + question.super_cluster + "\" now"};
  Json answer{{"kind", "Pool"}, {"tenants", Json::array()}, {"superClusters", Json::array()}};
  for (const auto& [name, tenant] : pool.tenants)
    answer["tenants"].push_back(tenant_row(name, tenant));
  for (const auto& [id, standing] : pool.standings)
    answer["superClusters"].push_back(super_cluster_row(state, id, standing));
  add_namespaces(state, question, answer);
  return AuditAnswer{std::move(answer)};
}

Result<AuditAnswer> pool_series(const ValueSeries& values, const SeriesQuestion& question,
                                const TimelineSpan& span, std::size_t points, Json answer) {
  if (question.flavor || question.resource)
    return Error{ErrorCode::bad_input, "the pool's series have no flavor and no resource"};
  if (!question.namespace_.empty()) {
    const auto found =
        find_named(values.namespaces(), "namespace of a tenant", question.namespace_);
    if (!found) return found.error();
    answer["namespace"] = question.namespace_;
    // Counts, written like any resource in whole units.
    Json& rows = answer["shares"] = Json::array();
    for (const auto& [id, series] : **found)
      rows.push_back({{"id", id},
                      {"reduced", any_reduced(series.lines)},
                      {"lines", lines_json(series.lines, kShareLines, span, points, "pods")}});
  } else if (!question.super_cluster.empty()) {
    const auto found = find_named(values.super_clusters(), "super cluster", question.super_cluster);
    if (!found) return found.error();
    answer["superCluster"] = question.super_cluster;
    answer["resources"] = rows_of(**found, "resource", kOfferLines, span, points);
  } else {
    const auto found = find_named(values.tenants(), "tenant", question.tenant);
    if (!found) return found.error();
    answer["tenant"] = question.tenant;
    answer["resources"] = rows_of(**found, "resource", kTenantLines, span, points);
  }
  return AuditAnswer{std::move(answer)};
}

}  // namespace fairlead
