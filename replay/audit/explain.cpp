#include "replay/audit/explain.h"

#include <algorithm>
#include <set>

#include "engine/base/check.h"
#include "engine/fold/capacity/capacity.h"
#include "engine/fold/capacity/capacity_reasons.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/damping_layers.h"
#include "engine/fold/capacity/node_count.h"
#include "engine/fold/queues/queues.h"
#include "engine/plan/claims/claim_status.h"
#include "replay/audit/event_changes.h"
#include "replay/audit/event_times.h"

namespace fairlead {

namespace {

// Flapping nodes are the difference between accepted and usable.
Layer flap_layer(const State& state, const Cluster& cluster, const DebounceSettings& settings,
                 const CapacityKey& key) {
  Layer layer{LayerName::flap_suppress, "nodes that flap do not count for growing", {}, {}};
  const auto& nodes = cluster.source == CapacitySource::nodes ? cluster.reports.nodes
                                                              : cluster.reports.metrics_nodes;
  for (const auto* entry : nodes.sorted()) {
    const auto& [name, node] = *entry;
    const FlapPenalty* flap = cluster.flaps.find(name);
    const NodeFlavor& flavor = flavor_for(state, cluster, node, key.resource);
    if (!node.suppressed || !flavor.eligible || flavor.name != key.flavor) continue;
    if (flap == nullptr || !flap->suppressed_since) continue;
    Amount amount = 0;
    for_each_canonical(node.facts.allocatable, state.configuration.resource_aliases,
                       [&](std::string_view resource, Amount of) {
                         if (resource == key.resource) amount = of;
                       });
    if (amount == 0) continue;
    const LogTime until = flap->release_time(settings);
    layer.since = std::min(layer.since.value_or(kForever), *flap->suppressed_since);
    layer.until = std::max(layer.until.value_or(until), until);
  }
  return layer;
}

// "the source changed from managedCluster to nodes by seq 9 at TIME: "; empty for the cluster's
// first value.
std::string changed_text(const Cluster& cluster) {
  if (!cluster.known || !cluster.source_change) return "";
  const SourceChange& change = *cluster.source_change;
  return std::string("the source changed from ") + text_of(change.from) + " to " +
         text_of(change.to) + " by seq " + std::to_string(change.seq.value) + " at " +
         to_rfc3339(change.at) + ": ";
}

Layer first_value_layer(const Cluster& cluster, const DebounceSettings& settings) {
  const std::string changed = changed_text(cluster);
  const std::string value = changed.empty() ? "the first value" : "its first value";
  if (!cluster.valued)
    return {LayerName::unknown,
            changed.empty() ? "no source has reported a value yet"
                            : changed + "it has reported no value yet",
            {},
            {}};
  if (cluster.liveness_at_close != Liveness::live)
    return {LayerName::frozen, changed + value + " waits until its source is live", {}, {}};
  return {LayerName::first_quiet,
          changed + value + " must hold still for " + to_go_duration(settings.first_quiet) +
              ", at most growWindow " + to_go_duration(settings.grow_window),
          cluster.last_changed,
          std::min(cluster.last_changed + settings.first_quiet,
                   cluster.first_valued + settings.grow_window)};
}

bool first_value_awaited(const Cluster& cluster) {
  return !cluster.known ||
         cluster.totals_accepted != (cluster.source == CapacitySource::managed_cluster);
}

constexpr const char* text_of(FallCause cause) {
  switch (cause) {
    case FallCause::shrink_window: return "shrinkWindow";
    case FallCause::claim_edit: return "claimEdit";
    case FallCause::cordon: return "cordon";
    case FallCause::mass_shrink_hold: return "massShrinkHold";
    case FallCause::second_observation: return "secondObservation";
    case FallCause::source_back: return "sourceBack";
    case FallCause::flavor_use: return "flavorUse";
  }
  return "";
}

constexpr const char* text_of(GrowthCause cause) {
  switch (cause) {
    case GrowthCause::mass_shrink_hold: return "massShrinkHold";
    case GrowthCause::second_observation: return "secondObservation";
    case GrowthCause::grow_window: return "growWindow";
    case GrowthCause::min_grow_interval: return "minGrowInterval";
    case GrowthCause::deadband_max_age: return "deadbandMaxAge";
    case GrowthCause::deadband: return "deadband";
  }
  return "";
}

// How accepted got its value; null if it is still the cluster's first value.
Json moved_json(const CapacityKey& key, const CapacityValue& value) {
  const DampedValue& damped = value.damped;
  if (damped.left.empty()) {
    if (!value.revalued) return nullptr;
    return {{"from", nullptr},
            {"to", amount_text(key.resource, damped.accepted)},
            {"at", to_rfc3339(value.revalued->at)},
            {"by", "sourceChange"},
            {"source", source_change_json(value.revalued->change)}};
  }
  const FormerValue& last = damped.left.back();
  // `left` has when each former value was left; the last of these moves was a growth if it has the
  // time of the last growth.
  const bool grew = damped.last_grow == last.until;
  return {{"from", amount_text(key.resource, last.value)},
          {"to", amount_text(key.resource, damped.accepted)},
          {"at", to_rfc3339(last.until)},
          {"by", grew ? text_of(damped.grew_by) : text_of(value.fell_by)}};
}

Json headroom_json(const State& state, const Claim& claim, const std::string& resource) {
  CanonicalHeadroom headroom =
      headroom_of(state.configuration, claim.terms ? &*claim.terms : nullptr);
  const CanonicalHeadroom::Row& row = headroom.row_of(resource);
  const bool own = claim.terms && (claim.terms->headroom_percent || claim.terms->headroom_reserved);
  return {{"percent", row.percent},
          {"reserved", amount_text(resource, row.reserved)},
          {"from", own ? "claim" : "configuration"}};
}

}  // namespace

std::vector<GrantOfPair> grants_of_pair(const State& state, const KnownPair& pair) {
  std::vector<GrantOfPair> found;
  const auto claims = state.claims.of_queue.find(pair.queue);
  if (claims == state.claims.of_queue.end()) return found;
  const HubQuota quota = hub_quota(state, pair.queue, pair.key);
  for (const std::string& name : claims->second) {
    const Claim& claim = state.claims.by_name.at(name);
    for (std::size_t row = 0; row < claim.grants.size(); ++row) {
      const Grant& grant = claim.grants[row];
      if (grant.row.cluster_queue != pair.queue || grant.row.flavor != pair.key.flavor ||
          grant.row.resource != pair.key.resource)
        continue;
      GrantOfPair of{name, &claim, &grant, row, claim.winner ? 0 : grant.granted};
      const bool counts = claim_counts(followed(state.queues, pair.queue), claim.terms->cluster);
      if (!counts) of.contributes = 0;
      for (const Contribution& part : quota.contributions)
        if (counts && claim.winner && part.cluster == claim.terms->cluster)
          of.contributes = part.amount;
      found.push_back(std::move(of));
    }
  }
  return found;
}

Amount base_of(const State& state, const KnownPair& pair) {
  const auto queue = state.queues.by_name.find(pair.queue);
  if (queue == state.queues.by_name.end()) return 0;
  const auto base = queue->second.base.amounts.find(pair.key);
  return base == queue->second.base.amounts.end() ? 0 : base->second;
}

namespace {

// Returns when the cluster was lost; nullopt if its source was given up.
std::optional<LogTime> lost_since(const Cluster& cluster, const DebounceSettings& settings) {
  const auto& since = cluster.reports.unavailable_since ? cluster.reports.unavailable_since
                                                        : cluster.reports.unwatched_since;
  if (!since) return std::nullopt;
  return *since + settings.lost_after;
}

}  // namespace

Layer layer_of(const State& state, const std::string& cluster_name, const Cluster& cluster,
               const CapacityKey& key, const CapacityValue& value) {
  const DebounceSettings settings = settings_of(state, cluster_name);
  const DampedValue& damped = value.damped;
  if (cluster.presence.detached) return {LayerName::detached, "the cluster has left", {}, {}};
  if (cluster.lost())
    return {LayerName::lost,
            "the cluster is lost: it counts 0 on the hub, its member keeps its quota",
            lost_since(cluster, settings),
            {}};
  if (first_value_awaited(cluster)) return first_value_layer(cluster, settings);
  Layer layer = layer_of_value(state.now, settings, key, damped, gate_of(cluster));
  if (layer.name == LayerName::none && damped.usable > damped.accepted)
    return flap_layer(state, cluster, settings, key);
  return layer;
}

Layer layer_of_value(LogTime now, const DebounceSettings& settings, const CapacityKey& key,
                     DampedValue value, const Gate& gate) {
  const Amount target = value.low.over(now, settings.grow_window);
  const LayerMoment at{value, now, settings, quantum_of(key.resource), target, gate};
  for (const DampingLayer& layer : damping_layers())
    if (layer.holds(at)) {
      LayerText why = layer.explain(at, key.resource);
      return {layer_named(layer.name), std::move(why.text), why.since, why.until};
    }
  if (at.grows())
    return {LayerName::due,
            "grows to " + amount_text(key.resource, target) + " when this moment closes",
            {},
            {}};
  return {LayerName::none, "accepted is what is usable", {}, {}};
}

const char* text_of(LayerName name) {
  switch (name) {
    case LayerName::none: return "none";
    case LayerName::detached: return "detached";
    case LayerName::lost: return "lost";
    case LayerName::unknown: return "unknown";
    case LayerName::frozen: return "frozen";
    case LayerName::newcomer: return "newcomer";
    case LayerName::unwatched: return "unwatched";
    case LayerName::first_quiet: return "firstQuiet";
    case LayerName::mass_shrink_hold: return "massShrinkHold";
    case LayerName::flap_suppress: return "flapSuppress";
    case LayerName::shrink_window: return "shrinkWindow";
    case LayerName::grow_window: return "growWindow";
    case LayerName::min_grow_interval: return "minGrowInterval";
    case LayerName::deadband: return "deadband";
    case LayerName::due: return "due";
  }
  return "";
}

LayerName layer_named(std::string_view text) {
  for (auto name = LayerName::none; name != LayerName::due;
       name = static_cast<LayerName>(static_cast<std::uint8_t>(name) + 1))
    if (text == text_of(name)) return name;
  // The last layer: the loop has tried the others, and a text of ours is always one of them.
  check(text == text_of(LayerName::due), "the text names a layer");
  return LayerName::due;
}

Json layer_json(const Layer& layer) {
  return {{"name", text_of(layer.name)},
          {"text", layer.text},
          {"since", time_json(layer.since)},
          {"until", time_json(layer.until)}};
}

const char* text_of(CapacitySource source) {
  switch (source) {
    case CapacitySource::nodes: return "nodes";
    case CapacitySource::cluster_metrics: return "clusterMetrics";
    case CapacitySource::managed_cluster: return "managedCluster";
  }
  return "";
}

Json source_change_json(const SourceChange& change) {
  return {{"from", text_of(change.from)},
          {"to", text_of(change.to)},
          {"at", to_rfc3339(change.at)},
          {"seq", change.seq.value}};
}

Json because_rows(const State& state, const std::vector<Seq>& because, const std::string& resource,
                  EventLookup& lookup) {
  Json list = Json::array();
  EventChanges changes(lookup);
  EventTimes times(lookup, changes);
  for (const Seq seq : std::set(because.begin(), because.end())) {
    Json entry = lookup.place(seq);
    const Event* event = lookup.at(seq);
    entry["text"] =
        event ? Json(what_happened(*event, state.configuration.resource_aliases, resource))
              : Json();
    entry["changed"] = changes.json_of(event);
    entry["times"] = times.json_of(event);
    list.push_back(std::move(entry));
  }
  return list;
}

namespace {

// "because" of a key, with the change of the source if there was one.
Json because_of(const State& state, const Cluster& cluster, const CapacityKey& key,
                const CapacityValue& value, EventLookup& lookup) {
  Json rows = because_rows(state, value.causes, key.resource, lookup);
  if (!cluster.source_change) return rows;
  const SourceChange& change = *cluster.source_change;
  for (Json& row : rows)
    if (row["seq"] == change.seq.value && !row["text"].is_null())
      row["text"] = row["text"].get<std::string>() + "; the source changed from " +
                    text_of(change.from) + " to " + text_of(change.to);
  return rows;
}

}  // namespace

Json capacity_rows(const State& state, const GrantOfPair& grant, EventLookup& lookup) {
  Json rows = Json::array();
  const std::string& cluster_name = grant.claim->terms->cluster;
  const auto at = state.clusters.find(cluster_name);
  if (at == state.clusters.end()) return rows;
  const std::string& resource = grant.grant->row.resource;
  for (const auto& [key, value] : at->second.capacity) {
    if (key.resource != resource) continue;
    const Layer layer = layer_of(state, cluster_name, at->second, key, value);
    const auto text = [&](Int128 amount) { return amount_text(resource, amount); };
    rows.push_back({{"flavor", key.flavor},
                    {"bounds", key.flavor == grant.grant->row.flavor || key.flavor.empty()},
                    {"offered", text(value.offered)},
                    {"headroom", headroom_json(state, *grant.claim, resource)},
                    {"usable", text(value.damped.usable)},
                    {"growing", text(value.damped.growing)},
                    {"accepted", text(value.damped.accepted)},
                    {"state", capacity_state(at->second, value.damped)},
                    {"layer", layer_json(layer)},
                    {"moved", moved_json(key, value)},
                    {"because", because_of(state, at->second, key, value, lookup)},
                    {"earlierNotKept", value.causes.size() == kCausesKeptMax}});
  }
  return rows;
}

Json node_rows(const State& state, const GrantOfPair& grant) {
  Json rows = Json::array();
  const std::string& cluster_name = grant.claim->terms->cluster;
  const auto at = state.clusters.find(cluster_name);
  if (at == state.clusters.end() || !at->second.source ||
      *at->second.source == CapacitySource::managed_cluster)
    return rows;
  const Cluster& cluster = at->second;
  const DebounceSettings settings = settings_of(state, cluster_name);
  const AssignmentRow& row = grant.grant->row;
  const auto& nodes = *cluster.source == CapacitySource::nodes ? cluster.reports.nodes
                                                               : cluster.reports.metrics_nodes;
  for (const auto* entry : nodes.sorted()) {
    const auto& [name, node] = *entry;
    const std::string flavor = winning_flavor(node.facts, state.flavors, row.resource);
    const NodeFlavor counted{flavor, is_eligible(node.facts, flavor, state.flavors.by_name)};
    Amount amount = 0;
    for_each_canonical(node.facts.allocatable, state.configuration.resource_aliases,
                       [&](std::string_view resource, Amount of) {
                         if (resource == row.resource) amount = of;
                       });
    const FlapPenalty* flap = cluster.flaps.find(name);
    const bool suppressed = flap != nullptr && flap->suppressed_since;
    // A cluster has thousands of nodes: set field by field, because an initializer list copies.
    Json& item = rows.emplace_back(Json::object());
    item["name"] = name;
    item["seq"] = node.seq.value;
    item["flavor"] = counted.name;
    item["amount"] = amount_text(row.resource, amount);
    item["eligible"] = counted.eligible;
    item["counts"] = counted.eligible && counted.name == row.flavor;
    item["reasons"] =
        reasons_against(state.flavors, node.facts, counted, {row.flavor, row.resource});
    item["suppressedSince"] = suppressed ? time_json(flap->suppressed_since) : Json();
    item["suppressedUntil"] = suppressed ? time_json(flap->release_time(settings)) : Json();
  }
  return rows;
}

}  // namespace fairlead
