// `audit quota`: the observed and the desired quota, and the grants that add up to it.
#include <algorithm>

#include "engine/fold/queues/queues.h"
#include "engine/plan/claims/claim_status.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/effective.h"
#include "replay/audit/explain.h"
#include "replay/audit/queue_changes.h"
#include "replay/audit/unseen.h"

namespace fairlead {

namespace {

// Null where the queue has none, or is not there.
void add_settings(const State& state, const KnownPair& pair, Json& row) {
  const auto at = state.queues.by_name.find(pair.queue);
  if (at == state.queues.by_name.end() || !at->second.present) return;
  const ClusterQueueFacts& facts = at->second.facts;
  if (!facts.cohort.empty()) row["cohort"] = facts.cohort;
  if (!facts.stop_policy.empty()) row["stopPolicy"] = facts.stop_policy;
  const ResourceQuota* quota = find_quota(facts.groups, pair.key.flavor, pair.spelled);
  if (!quota) return;
  if (quota->borrowing_limit) row["borrowingLimit"] = quota->borrowing_limit->text();
  if (quota->lending_limit) row["lendingLimit"] = quota->lending_limit->text();
}

// What runs on a pair, by the status of its queue.
Json used_json(const State& state, const KnownPair& pair) {
  const auto at = state.queues.by_name.find(pair.queue);
  if (at == state.queues.by_name.end() || !at->second.present) return nullptr;
  for (const FlavorUsage& usage : at->second.facts.usage)
    if (usage.flavor == pair.key.flavor && usage.resource == pair.spelled)
      return amount_text(pair.key.resource, usage.total);
  return nullptr;
}

Json quota_row(const State& state, const KnownPair& pair,
               const std::map<ListedPair, QuotaChange>& moved, QueueWishes& wishes,
               EventLookup& lookup) {
  const auto current = current_nominal(state, pair);
  const bool ours = owned_pairs(state, pair.queue).contains(pair.key);
  const HubQuota quota = hub_quota(state, pair.queue, pair.key);
  const auto text = [&](Int128 amount) { return amount_text(pair.key.resource, amount); };
  Json row{{"queue", pair.queue},
           {"flavor", pair.key.flavor},
           {"resource", pair.spelled},
           {"nominal", current ? Json(text(*current)) : Json()},
           {"desired", ours && !quota.unknown ? Json(text(quota.nominal)) : Json()},
           {"ours", ours},
           {"base", text(base_of(state, pair))},
           {"overbookPercent", state.configuration.overbook_percent},
           {"effective", effective_json(state, pair)},
           {"borrowingLimit", nullptr},
           {"lendingLimit", nullptr},
           {"cohort", nullptr},
           {"stopPolicy", nullptr}};
  add_settings(state, pair, row);
  row["used"] = used_json(state, pair);
  const auto last = moved.find({pair.key.flavor, pair.spelled});
  row["last"] = last == moved.end() ? Json() : change_json(last->second);
  Json grants = Json::array();
  for (const GrantOfPair& grant : grants_of_pair(state, pair))
    grants.push_back(
        {{"cluster", grant.claim->terms->cluster},
         {"claim", grant.claim_name},
         {"assigned", text(grant.grant->row.assigned)},
         {"granted", text(grant.grant->granted)},
         {"contributes", text(grant.contributes)},
         {"reason", text_of(grant_reason(state, *grant.claim, *grant.grant, wishes))}});
  row["grants"] = std::move(grants);
  add_workers(state, pair, lookup, row);
  return row;
}

}  // namespace

Result<AuditAnswer> audit_quota(const AuditSource& source, const AuditPosition& as_of,
                                const std::string& queue) {
  auto moment = moment_at(source, as_of);
  if (!moment) return moment.error();
  const State& state = moment->state;
  std::set<std::string> names;
  if (!queue.empty()) {
    if (auto known = check_queue_named(state, queue); !known) return known.error();
    names.insert(queue);
  } else {
    for (const auto& [name, at] : state.queues.by_name)
      if (at.present) names.insert(name);
    for (const auto& [name, claims] : state.claims.of_queue) names.insert(name);
  }
  AnswerSources rests_on = sources_of_every_quota();
  for (const std::string& name : names) add_sources(state, name, rests_on);
  auto unseen = unseen_at(source, *moment, rests_on);
  if (!unseen) return unseen.error();
  QueueWishes wishes(state);
  EventLookup lookup(source.log);
  Json rows = Json::array();
  for (const std::string& name : names) {
    const std::vector<KnownPair> pairs = pairs_of_queue(state, name);
    const auto moved = last_changes_of(source, name, pairs, state.seq);
    if (!moved) return moved.error();
    for (const KnownPair& pair : pairs)
      rows.push_back(quota_row(state, pair, *moved, wishes, lookup));
  }
  return AuditAnswer{{{"kind", "QuotaAudit"},
                      {"asOf", as_of_json(*moment)},
                      {"configuration", configuration_json(state)},
                      {"unseen", *std::move(unseen)},
                      {"rows", std::move(rows)}}};
}

}  // namespace fairlead
