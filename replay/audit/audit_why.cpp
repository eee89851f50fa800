// `audit why`: from the written value down to the facts.
#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/plan/claims/claim_status.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/effective.h"
#include "replay/audit/event_times.h"
#include "replay/audit/explain.h"
#include "replay/audit/explain_devices.h"
#include "replay/audit/queue_changes.h"
#include "replay/audit/setting_origin.h"
#include "replay/audit/unseen.h"

namespace fairlead {

namespace {

constexpr const char* kLiveness[] = {"live", "stale", "lost"};

Json claim_json(const std::string& name, const Claim& claim, EventLookup& lookup) {
  Json fault;
  if (claim.fault)
    fault = {{"reason", text_of(claim.fault->reason)}, {"message", claim.fault->message}};
  const Json edited = lookup.place(claim.edited_seq);
  Json json{{"name", name},
            {"uid", claim.uid},
            {"generation", claim.generation},
            {"seq", claim.seq.value},
            {"editedSeq", claim.edited_seq.value},
            {"editedTime", edited.is_null() ? Json() : edited["time"]},
            {"termsSeq", claim.terms_seq.value},
            {"winner", claim.winner},
            {"deleting", claim.facts.deleting},
            {"fault", std::move(fault)}};
  if (is_pruned(edited)) json["editedPruned"] = true;
  return json;
}

// A write of ours that had no answer at the moment that is asked about has no times then.
Json times_of(const QuotaChange& change, EventLookup& lookup) {
  if (change.ours && change.answer.outcome != Outcome::accepted) return nullptr;
  EventChanges changes(lookup);
  return EventTimes(lookup, changes).json_of(lookup.at(change.seq));
}

Json member_json(const State& state, const Cluster& cluster, const AssignmentRow& row) {
  if (!has_member(state.configuration, cluster)) return nullptr;
  const auto confirmed =
      cluster.member.confirmed.find({row.cluster_queue, row.flavor, row.resource});
  static const Work kNone;
  const Work* const found = work_with(cluster, row.cluster_queue);
  const Work& work = found ? *found : kNone;
  return {{"confirmed",
           amount_text(row.resource,
                       confirmed == cluster.member.confirmed.end() ? 0 : confirmed->second)},
          {"present", work.present},
          {"generation", work.generation},
          {"settled", work.applied_and_available()},
          {"seq", work.seq.value}};
}

Json presence_json(const State& state, const std::string& name, const Cluster& cluster) {
  Json hold;
  if (cluster.hold)
    hold = {{"since", to_rfc3339(cluster.hold->since)},
            {"until", to_rfc3339(cluster.hold->since + settings_of(state, name).mass_shrink_hold)}};
  Json opens;
  if (cluster.counted_again_at)
    opens = *cluster.counted_again_at == kForever ? Json("when its source is back for growWindow")
                                                  : Json(to_rfc3339(*cluster.counted_again_at));
  return {
      {"source", cluster.source ? Json(text_of(*cluster.source)) : Json()},
      {"liveness", kLiveness[static_cast<std::size_t>(cluster.liveness_at_close)]},
      {"livenessSeq", cluster.reports.liveness_seq.value},
      {"managedSeq", cluster.presence.managed_seq.value},
      {"unavailableSince", time_json(cluster.reports.unavailable_since)},
      {"detached", cluster.presence.detached},
      {"known", cluster.known},
      {"namesNoNode",
       cluster.source == CapacitySource::cluster_metrics && cluster.reports.metrics_empty},
      {"sourceChange", cluster.source_change ? source_change_json(*cluster.source_change) : Json()},
      {"hubOpens", std::move(opens)},
      {"hold", std::move(hold)}};
}

constexpr const char* flavor_capacity_text(FlavorCapacity capacity) {
  switch (capacity) {
    case FlavorCapacity::strict: return "Strict";
    case FlavorCapacity::total_only: return "TotalOnly";
    case FlavorCapacity::automatic: break;
  }
  return "Auto";
}

// The steps from assigned to granted, where the grants follow from accepted capacity.
void add_steps(const State& state, const GrantOfPair& grant, Json& row) {
  const auto at = state.clusters.find(grant.claim->terms->cluster);
  row["wanted"] = row["flavorBound"] = row["afterFlavor"] = row["totalBound"] = nullptr;
  if (at == state.clusters.end() || !grant.claim->winner || !at->second.known ||
      at->second.presence.detached)
    return;
  const GrantSteps step = grant_steps(state, at->second, *grant.claim).at(grant.row);
  const auto text = [&](Amount amount) { return amount_text(grant.grant->row.resource, amount); };
  row["wanted"] = text(step.wanted);
  row["flavorBound"] = step.flavor_bound ? Json(text(*step.flavor_bound)) : Json();
  row["afterFlavor"] = text(step.after_flavor);
  row["totalBound"] = text(step.total_bound);
}

Json grant_json(const State& state, const GrantOfPair& grant, QueueWishes& wishes,
                EventLookup& lookup) {
  const ClaimTerms& terms = *grant.claim->terms;
  const AssignmentRow& assigned = grant.grant->row;
  const auto text = [&](Amount amount) { return amount_text(assigned.resource, amount); };
  Json row{
      {"cluster", terms.cluster},
      {"claim", claim_json(grant.claim_name, *grant.claim, lookup)},
      {"assigned", text(assigned.assigned)},
      {"minimum", text(assigned.minimum)},
      {"priority", assigned.priority},
      {"nominalPolicy", terms.nominal_policy == NominalPolicy::fixed ? "Fixed" : "TrackCapacity"},
      {"shrinkPolicy", terms.shrink_policy == ShrinkPolicy::priority ? "Priority" : "Proportional"},
      {"flavorCapacity", flavor_capacity_text(terms.flavor_capacity)},
      {"granted", text(grant.grant->granted)},
      {"reason", text_of(grant_reason(state, *grant.claim, *grant.grant, wishes))},
      {"contributes", text(grant.contributes)}};
  add_steps(state, grant, row);
  const auto at = state.clusters.find(terms.cluster);
  const bool heard_of = at != state.clusters.end();
  row["member"] = heard_of ? member_json(state, at->second, assigned) : Json();
  row["presence"] = heard_of ? presence_json(state, terms.cluster, at->second) : Json();
  row["capacity"] = capacity_rows(state, grant, lookup);
  row["nodes"] = node_rows(state, grant);
  if (Json devices = device_rows(state, grant); !devices.empty())
    row["devices"] = std::move(devices);
  return row;
}

// Returns the events that the answer will name.
std::vector<Seq> events_behind(const State& state, const KnownPair& pair,
                               const std::vector<GrantOfPair>& grants) {
  std::vector<Seq> seqs{state.configuration_seq};
  const auto add = [&seqs](const std::vector<Seq>& because) {
    seqs.insert(seqs.end(), because.begin(), because.end());
  };
  for (const GrantOfPair& grant : grants) {
    seqs.push_back(grant.claim->edited_seq);
    const auto cluster = state.clusters.find(grant.claim->terms->cluster);
    if (cluster == state.clusters.end()) continue;
    for (const auto& [key, value] : cluster->second.capacity)
      if (key.resource == grant.grant->row.resource) add(value.causes);
  }
  if (const auto queue = state.queues.by_name.find(pair.queue); queue != state.queues.by_name.end())
    for (const auto& [name, share] : queue->second.workers.shares) add(share.causes);
  return seqs;
}

// Adds "settings" of a layer: the origin of each setting that its text names.
Result<void> add_settings(const AuditSource& source, const State& state, const Json& cluster,
                          Json& layer, EventLookup& lookup) {
  auto settings = settings_behind(source, state, cluster.get<std::string>(),
                                  layer_named(layer["name"].get_ref<const std::string&>()), lookup);
  if (!settings) return settings.error();
  layer["settings"] = *std::move(settings);
  return {};
}

Result<void> add_settings(const AuditSource& source, const State& state, Json& answer,
                          EventLookup& lookup) {
  for (Json& grant : answer["grants"])
    for (Json& capacity : grant["capacity"])
      if (auto added = add_settings(source, state, grant["cluster"], capacity["layer"], lookup);
          !added)
        return added;
  if (!answer.contains("workers")) return {};
  for (Json& worker : answer["workers"])
    if (auto added = add_settings(source, state, worker["cluster"], worker["layer"], lookup);
        !added)
      return added;
  return {};
}

Json value_json(const PairAtMoment& at) {
  const State& state = at.state();
  const auto queue = state.queues.by_name.find(at.pair.queue);
  const bool seen = queue != state.queues.by_name.end();
  return {{"nominal", at.text(at.current)},
          {"desired", at.desired()},
          {"ours", at.ours},
          {"unknown", at.quota.unknown},
          {"base", at.text(base_of(state, at.pair))},
          {"baseMalformed", seen ? queue->second.base.malformed : ""},
          {"queueSeq", seen ? queue->second.seq.value : 0},
          {"overbookPercent", state.configuration.overbook_percent},
          {"effective", effective_json(state, at.pair)}};
}

}  // namespace

Result<AuditAnswer> audit_why(const AuditSource& source, const AuditPair& asked,
                              const AuditPosition& as_of) {
  const auto at = pair_at(source, asked, as_of);
  if (!at) return at.error();
  const State& state = at->state();
  auto written = last_change_of(source, at->pair, at->current ? Spelling::as_listed : Spelling::any,
                                state.configuration.resource_aliases, state.seq);
  if (!written) return written.error();
  const std::vector<GrantOfPair> found = grants_of_pair(state, at->pair);
  EventLookup lookup(source.log);
  // One walk over the log for all of them, instead of a search for each.
  lookup.expect(events_behind(state, at->pair, found));
  QueueWishes wishes(state);
  Json grants = Json::array();
  for (const GrantOfPair& grant : found) grants.push_back(grant_json(state, grant, wishes, lookup));
  Json answer = at->answer("QuotaWhy");
  const Json place = lookup.place(state.configuration_seq);
  answer["configuration"]["time"] = place.is_null() ? Json() : place["time"];
  if (is_pruned(place)) answer["configuration"]["pruned"] = true;
  answer["value"] = value_json(*at);
  answer["written"] = *written ? change_json(**written) : Json();
  answer["writtenTimes"] = *written ? times_of(**written, lookup) : Json();
  answer["grants"] = std::move(grants);
  add_workers(state, at->pair, lookup, answer);
  if (auto added = add_settings(source, state, answer, lookup); !added) return added.error();
  if (auto added = add_unseen(source, *at, answer); !added) return added.error();
  return AuditAnswer{std::move(answer)};
}

}  // namespace fairlead
