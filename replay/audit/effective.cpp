#include "replay/audit/effective.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/held.h"
#include "engine/fold/queues/orchestration.h"
#include "engine/fold/queues/queues.h"
#include "replay/audit/explain_text.h"
#include "replay/audit/spec_history.h"
#include "replay/beginning.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

using FlavorAndResource = std::pair<std::string, std::string>;
using Nominals = std::map<FlavorAndResource, Quantity>;

// Finds the quota of a pair by its resource's canonical name: an override may spell it differently
// from the spec.
const ResourceQuota* quota_of(const std::vector<ResourceGroup>& groups,
                              const ResourceAliases& aliases, const QuotaKey& key) {
  for (const ResourceGroup& group : groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        if (flavor.name == key.flavor && canonical_resource(aliases, quota.name) == key.resource)
          return &quota;
  return nullptr;
}

Json entry_json(const State& state, const KnownPair& pair, const ObjectKey& object,
                const EffectiveQuotas& effective, Seq seq) {
  const ResourceQuota* quota =
      quota_of(effective.groups, state.configuration.resource_aliases, pair.key);
  const auto text = [&](const std::optional<Quantity>& amount) {
    return amount ? Json(amount_text(pair.key.resource, to_amount(pair.key.resource, *amount)))
                  : Json();
  };
  return {{"kind", std::string(info(object.kind).name)},
          {"name", object.name},
          {"nominal", quota ? text(quota->nominal) : Json()},
          {"borrowingLimit", quota ? text(quota->borrowing_limit) : Json()},
          {"lendingLimit", quota ? text(quota->lending_limit) : Json()},
          {"orchestrator", to_json(effective.orchestrator)},
          {"seq", seq.value}};
}

Nominals nominals_of(const std::optional<EffectiveQuotas>& effective) {
  Nominals nominals;
  if (!effective) return nominals;
  for (const ResourceGroup& group : effective->groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        nominals[{flavor.name, quota.name}] = quota.nominal;
  return nominals;
}

Json nominal_json(const Nominals& nominals, const FlavorAndResource& pair) {
  const auto at = nominals.find(pair);
  return at == nominals.end() ? Json() : Json(at->second.text());
}

Json change_row(const Event& event, const std::optional<EffectiveQuotas>& after) {
  return {{"seq", event.seq.value},
          {"time", to_rfc3339(event.log_time)},
          {"flavor", nullptr},
          {"resource", nullptr},
          {"old", nullptr},
          {"new", nullptr},
          {"orchestrator", after ? to_json(after->orchestrator) : Json()}};
}

void add_changes(const std::optional<EffectiveQuotas>& before,
                 const std::optional<EffectiveQuotas>& after, const Event& event,
                 std::vector<Json>& rows) {
  const Nominals was = nominals_of(before), is = nominals_of(after);
  std::set<FlavorAndResource> pairs;
  for (const auto& [pair, quantity] : was) pairs.insert(pair);
  for (const auto& [pair, quantity] : is) pairs.insert(pair);
  const bool same_hand = before && after && before->orchestrator == after->orchestrator;
  if (pairs.empty() && before.has_value() != after.has_value())
    rows.push_back(change_row(event, after));
  for (const FlavorAndResource& pair : pairs) {
    Json row = change_row(event, after);
    row["flavor"] = pair.first;
    row["resource"] = pair.second;
    row["old"] = nominal_json(was, pair);
    row["new"] = nominal_json(is, pair);
    if (!same_hand || row["old"] != row["new"]) rows.push_back(std::move(row));
  }
}

using ObservedQuotas = std::optional<EffectiveQuotas>;

// Returns the override in the facts of a ClusterQueue or Cohort; nullopt for other facts.
std::optional<ObservedQuotas> observed_in(const Facts& facts) {
  if (const auto* queue = std::get_if<ClusterQueueFacts>(&facts)) return queue->effective;
  if (const auto* cohort = std::get_if<CohortFacts>(&facts)) return cohort->effective;
  return std::nullopt;
}

// Returns the override before `first`, the first kept event about the object; nullopt if pruning
// removed it and no snapshot holds it.
Result<std::optional<ObservedQuotas>> observed_before(const AuditSource& source,
                                                      const ObjectKey& key, Seq first) {
  if (source.log.first_seq() <= Seq{1}) return std::optional(ObservedQuotas());
  const auto state = state_for_pruned(source.log, source.snapshots, first);
  if (!state) return state.error();
  if (!*state) return std::optional<ObservedQuotas>();
  const auto facts = held_facts(**state, std::string(kHub), key);
  return facts ? observed_in(*facts) : std::optional(ObservedQuotas());
}

// Returns the override in this event; nullopt if the event is not an observation.
std::optional<ObservedQuotas> observed_by(const Event& event) {
  if (std::holds_alternative<ObjectGone>(event.fact)) return ObservedQuotas();
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  return seen ? observed_in(seen->facts) : std::nullopt;
}

}  // namespace

Json effective_json(const State& state, const KnownPair& pair) {
  Json list = Json::array();
  const auto at = state.queues.by_name.find(pair.queue);
  if (at == state.queues.by_name.end() || !at->second.present) return list;
  const Queue& queue = at->second;
  if (queue.facts.effective)
    list.push_back(entry_json(state, pair, {Kind::cluster_queue, "", pair.queue},
                              *queue.facts.effective, queue.seq));
  for (const std::string& name : cohorts_above(state.queues, queue)) {
    const auto cohort = state.queues.cohorts.find(name);
    if (cohort != state.queues.cohorts.end() && cohort->second.facts.effective)
      list.push_back(entry_json(state, pair, {Kind::cohort, "", name},
                                *cohort->second.facts.effective, cohort->second.seq));
  }
  return list;
}

std::vector<KnownPair> pairs_of_override(const State& state, const std::string& queue) {
  std::vector<KnownPair> pairs;
  const auto at = state.queues.by_name.find(queue);
  if (at == state.queues.by_name.end() || !at->second.present || !at->second.facts.effective)
    return pairs;
  const ResourceAliases& aliases = state.configuration.resource_aliases;
  for (const auto& [pair, nominal] : nominals_of(at->second.facts.effective)) {
    const QuotaKey key{pair.first, canonical_resource(aliases, pair.second)};
    if (quota_of(at->second.facts.groups, aliases, key) == nullptr)
      pairs.push_back({queue, key, pair.second});
  }
  return pairs;
}

Result<std::vector<Json>> effective_changes(const AuditSource& source, const ObjectKey& key,
                                            const EventSpan& span, EventLookup& lookup) {
  std::vector<Json> rows;
  auto seqs = source.log.history(kHub, key);
  if (!seqs) return seqs.error();
  std::erase_if(*seqs, [&](Seq seq) { return seq < source.log.first_seq() || seq > span.end; });
  if (seqs->empty()) return rows;
  const std::size_t start = last_shown_before(*seqs, span.begin, lookup);
  auto observed = observed_before(source, key, seqs->front());
  if (!observed) return observed.error();
  // An event before the span has been found, so the state before the first one is not needed.
  if (start > 0) observed->emplace();  // the event at `start` holds the initial override
  lookup.expect({seqs->begin() + static_cast<std::ptrdiff_t>(start), seqs->end()});
  for (std::size_t i = start; i < seqs->size(); ++i) {
    const Seq seq = (*seqs)[i];
    const Event* event = lookup.at(seq);
    auto now = event ? observed_by(*event) : std::nullopt;
    if (!now) continue;
    if (*observed && seq >= span.begin) add_changes(**observed, *now, *event, rows);
    *observed = *std::move(now);
  }
  return rows;
}

std::string effective_text(const Json& entry) {
  const Json& by = entry["orchestrator"];
  const std::string who = text_of(OrchestratorRef{by["apiGroup"], by["kind"], by["name"]});
  const std::string nominal = entry["nominal"].is_null() ? "none" : cell(entry["nominal"]);
  return nominal + " (" + who + ")";
}

std::string effective_name(const Json& entry) {
  if (entry["kind"] == "ClusterQueue") return "effective";
  return "effective of Cohort " + cell(entry["name"]);
}

std::string effective_sentence(const Json& entry) {
  const bool own = entry["kind"] == "ClusterQueue";
  return effective_text(entry) + ", seq " + cell(entry["seq"]) +
         (own ? ": Kueue uses it, the nominalQuota is a weight"
              : " of Cohort " + cell(entry["name"]) + ", below which nominalQuotas are weights");
}

}  // namespace fairlead
