// The parts of an explanation: from a pair of a hub ClusterQueue down to the nodes of the clusters
// that feed it. Internal to the audit.
//
// The functions here call those by which the fold and the plan decide (hub_quota, grant_steps,
// DampedValue, classify, wish_for_queue, write_bar) instead of repeating their rules, so that an
// explanation cannot differ from the decision.
//
// Fields: QuotaWhy in ui/answers.d.ts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/capacity/damping_layers.h"
#include "engine/fold/state.h"
#include "replay/audit/audit_moment.h"

namespace fairlead {

/// A claim's row for a pair.
struct GrantOfPair {
  std::string claim_name;
  const Claim* claim = nullptr;
  const Grant* grant = nullptr;
  std::size_t row = 0;     ///< its index in the claim's grants
  Amount contributes = 0;  ///< what it adds on the hub at this moment
};

/// Returns the row of every claim that names the pair, by claim name. The rows point into `state`,
/// which must not change while they are used.
std::vector<GrantOfPair> grants_of_pair(const State& state, const KnownPair& pair);
/// The base quota of the pair.
Amount base_of(const State& state, const KnownPair& pair);

/// What may hold a damped value; `due` is the last.
enum class LayerName : std::uint8_t {
  none,
  detached,
  lost,
  unknown,
  frozen,
  newcomer,
  unwatched,
  first_quiet,
  mass_shrink_hold,
  flap_suppress,
  shrink_window,
  grow_window,
  min_grow_interval,
  deadband,
  due,
};
/// Returns the name as answers have it: "firstQuiet".
const char* text_of(LayerName name);
/// Returns the layer whose name that is. Only for a name that text_of returned.
LayerName layer_named(std::string_view text);

/// The layer of the damping that holds a capacity value, and for how long.
struct Layer {
  LayerName name{};
  std::string text;
  std::optional<LogTime> since;
  std::optional<LogTime> until;
};
Layer layer_of(const State& state, const std::string& cluster_name, const Cluster& cluster,
               const CapacityKey& key, const CapacityValue& value);

/// The first layer that holds one damped value (damping_layers.h). `gate` says what holds its set:
/// the parts of the pool and the shares of workers are explained by it in the same words.
Layer layer_of_value(LogTime now, const DebounceSettings& settings, const CapacityKey& key,
                     DampedValue value, const Gate& gate);
Json layer_json(const Layer& layer);

/// The layer that holds a worker's share of the pair.
Layer layer_of_share(const State& state, const std::string& cluster, const WorkerShare& share,
                     const QuotaKey& pair);
/// Adds "follows" and "workers" to `row`, if the queue follows its workers or its annotations are
/// malformed.
void add_workers(const State& state, const KnownPair& pair, EventLookup& lookup, Json& row);

/// The name of a source as the configuration spells it: "clusterMetrics" and so on.
const char* text_of(CapacitySource source);
/// "sourceChange" of a presence.
Json source_change_json(const SourceChange& change);

/// "because": these events, each once and ascending, with their places and what each means for the
/// resource.
Json because_rows(const State& state, const std::vector<Seq>& because, const std::string& resource,
                  EventLookup& lookup);
/// "capacity" of a claim's row: every flavor of its cluster that has the resource.
Json capacity_rows(const State& state, const GrantOfPair& grant, EventLookup& lookup);
/// "nodes" of a claim's row.
Json node_rows(const State& state, const GrantOfPair& grant);

}  // namespace fairlead
