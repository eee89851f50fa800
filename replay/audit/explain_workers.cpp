// What each worker contributes to a hub ClusterQueue whose quota follows its workers.
#include <array>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/queues/worker_quota.h"
#include "replay/audit/explain.h"

namespace fairlead {

namespace {

constexpr std::array kFrom{"member", "claims", "nobody"};
constexpr std::array kWorkerLiveness{"live", "stale", "lost"};

Json queue_rows(const State& state, const KnownPair& pair, const Cluster& cluster) {
  Json rows = Json::array();
  const ResourceAliases& aliases = state.configuration.resource_aliases;
  for (const auto& [name, stopped] : related_queues(state.queues, pair.queue, cluster)) {
    const auto at = cluster.member.queues.find(name);
    const bool seen = at != cluster.member.queues.end();
    const auto covered =
        seen ? covered_name(at->second.groups, aliases, pair.key.resource) : std::nullopt;
    const ResourceQuota* quota =
        covered ? find_quota(at->second.groups, pair.key.flavor, *covered) : nullptr;
    rows.push_back({{"name", name},
                    {"seq", seen ? Json(at->second.seq.value) : Json()},
                    {"nominal", quota ? Json(quota->nominal.text()) : Json()},
                    {"stopped", stopped.empty() ? Json() : Json(stopped)}});
  }
  return rows;
}

Json worker_row(const State& state, const KnownPair& pair, const std::string& name,
                const WorkerShare& share, EventLookup& lookup) {
  const auto text = [&](Int128 amount) { return amount_text(pair.key.resource, amount); };
  const auto at = state.clusters.find(name);
  const bool heard_of = at != state.clusters.end();
  const auto value = share.values.find(pair.key);
  const bool valued = value != share.values.end();
  const std::optional<LogTime> opens = heard_of ? at->second.counted_again_at : std::nullopt;
  Json row{{"cluster", name},
           {"from", kFrom.at(static_cast<std::size_t>(share.from))},
           {"counted", share.counted},
           {"known", share.known},
           {"liveness", kWorkerLiveness.at(static_cast<std::size_t>(
                            heard_of ? at->second.liveness_at_close : Liveness::live))},
           {"hubOpens", time_json(opens == kForever ? std::nullopt : opens)},
           {"queues", heard_of ? queue_rows(state, pair, at->second) : Json::array()},
           {"usable", valued ? Json(text(value->second.usable)) : Json()},
           {"accepted", valued && share.known ? Json(text(value->second.accepted)) : Json()},
           {"layer", layer_json(layer_of_share(state, name, share, pair.key))},
           {"because", because_rows(state, share.causes, pair.key.resource, lookup)}};
  if (share.from != ShareFrom::claims)
    row["contributes"] = text(share_of(state.clusters, name, share, pair.key));
  return row;
}

}  // namespace

Layer layer_of_share(const State& state, const std::string& cluster, const WorkerShare& share,
                     const QuotaKey& pair) {
  const DebounceSettings settings = settings_of(state, cluster);
  const auto at = state.clusters.find(cluster);
  if (share.from == ShareFrom::claims)
    return {LayerName::none, "what its claims grant counts", {}, {}};
  if (!share.counted) return {LayerName::newcomer, "it counts when it enters the list", {}, {}};
  if (at != state.clusters.end() && at->second.counted_again_at) {
    const bool lost = at->second.lost();
    return {lost ? LayerName::lost : LayerName::grow_window,
            lost ? "the cluster is lost: it counts 0 on the hub"
                 : "the cluster was lost: it counts again after growWindow",
            at->second.reports.unavailable_since,
            lost ? std::nullopt : at->second.counted_again_at};
  }
  const LogTime latest = share.first_valued + settings.grow_window;
  if (!share.known && share.from == ShareFrom::none)
    return {LayerName::unwatched,
            "the cluster is not watched, and no claim names the queue for it: it gives nothing",
            share.first_valued, latest};
  if (!share.known)
    return {LayerName::first_quiet,
            "the first values must hold still for " + to_go_duration(settings.first_quiet) +
                ", at most growWindow " + to_go_duration(settings.grow_window),
            share.last_changed, std::min(share.last_changed + settings.first_quiet, latest)};
  const auto value = share.values.find(pair);
  if (value == share.values.end())
    return {LayerName::none, "no ClusterQueue behind its LocalQueues has the pair", {}, {}};
  return layer_of_value(state.now, settings, pair, value->second, gate_of(share));
}

void add_workers(const State& state, const KnownPair& pair, EventLookup& lookup, Json& row) {
  const auto at = state.queues.by_name.find(pair.queue);
  if (at == state.queues.by_name.end()) return;
  const WorkerQuota& workers = at->second.workers;
  if (!workers.follows && !workers.asked && workers.malformed.empty()) return;
  const auto reserve = workers.reserve.find(pair.key);
  row["follows"] = {
      {"follows", workers.follows},
      {"percent", workers.percent},
      {"reserve",
       amount_text(pair.key.resource, reserve == workers.reserve.end() ? 0 : reserve->second)},
      {"malformed", workers.malformed},
      {"known", workers.known}};
  Json rows = Json::array();
  for (const auto& [name, share] : workers.shares)
    rows.push_back(worker_row(state, pair, name, share, lookup));
  row["workers"] = std::move(rows);
}

}  // namespace fairlead
