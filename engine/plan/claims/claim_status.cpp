#include "engine/plan/claims/claim_status.h"

#include <algorithm>
#include <utility>

#include "engine/base/object_text.h"
#include "engine/fold/capacity/capacity_reasons.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/condition_message.h"
#include "engine/fold/devices/device_capacity.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/interval.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/claims/capacity_condition.h"
#include "engine/plan/claims/claim_life.h"
#include "engine/plan/claims/claim_release.h"
#include "engine/plan/claims/claim_restore.h"
#include "engine/plan/claims/claim_status_text.h"
#include "engine/plan/claims/claim_warnings.h"
#include "engine/plan/claims/propagation.h"
#include "engine/plan/queues/cluster_queue.h"
#include "schema/claim_status.h"

namespace fairlead {

namespace {

using Condition = ClaimCondition;

// A written number is replaced, also while its value moves, this many status intervals after it was
// last in force.
constexpr std::int64_t kRestlessIntervals = 6;

// What the parts of one status share while it is derived.
struct Draft {
  const State& state;
  const std::string& name;
  const Claim& claim;
  const std::string& cluster_name;
  const Cluster* cluster;                  // null: no source has reported it
  std::vector<const std::string*> queues;  // that it names
  QueueWishes& wishes;
  std::vector<GrantReason> reasons;  // grant_reason of each grant
};

const std::string& cluster_name_of(const Claim& claim) {
  return claim.terms ? claim.terms->cluster : claim.facts.spec.cluster_name;
}

Draft draft_for(const State& state, const std::string& name, const Claim& claim,
                QueueWishes& wishes) {
  const std::string& cluster_name = cluster_name_of(claim);
  const auto at = state.clusters.find(cluster_name);
  Draft draft{state,
              name,
              claim,
              cluster_name,
              at == state.clusters.end() ? nullptr : &at->second,
              queues_granted(claim),
              wishes,
              {}};
  draft.reasons.reserve(claim.grants.size());
  for (const Grant& grant : claim.grants)
    draft.reasons.push_back(grant_reason(state, claim, grant, wishes));
  return draft;
}

// Adds the rows of grants, with their fields in the order of StatusContent.
void add_grants(const Draft& draft, StatusContent& content) {
  content.grants.reserve(draft.claim.grants.size());
  for (std::size_t i = 0; i < draft.claim.grants.size(); ++i) {
    const Grant& grant = draft.claim.grants[i];
    content.grants.push_back({amount_text(grant.row.resource, grant.row.assigned),
                              grant.row.cluster_queue, grant.row.flavor,
                              amount_text(grant.row.resource, grant.granted),
                              std::string(text_of(draft.reasons[i])), grant.row.spelled});
  }
}

bool tells_capacity(const Draft& draft) {
  return draft.cluster && draft.claim.terms && draft.claim.winner;
}

void add_accepted(const Draft& draft, StatusContent& content) {
  if (!tells_capacity(draft)) return;
  for (const auto& [key, value] : draft.cluster->capacity) {
    if (!draft.claim.terms->nominal.contains(key.resource)) continue;
    std::string accepted = amount_text(key.resource, value.damped.accepted);
    if (accepted != "0")
      content.accepted.push_back({key.flavor, key.resource, std::move(accepted)});
  }
}

std::vector<std::array<std::string, 6>> capacity_rows(const Draft& draft) {
  std::vector<std::array<std::string, 6>> rows;
  if (!tells_capacity(draft)) return rows;
  for (const auto& [key, value] : draft.cluster->capacity) {
    if (!draft.claim.terms->nominal.contains(key.resource)) continue;
    rows.push_back({amount_text(key.resource, value.damped.accepted), key.flavor,
                    amount_text(key.resource, value.offered), key.resource,
                    capacity_state(*draft.cluster, value.damped),
                    amount_text(key.resource, value.damped.usable)});
  }
  return rows;
}

std::map<std::string, std::string> unassigned(const Draft& draft) {
  std::map<std::string, std::string> left;
  if (!draft.claim.terms) return left;
  for (const auto& [resource, nominal] : draft.claim.terms->nominal) {
    Int128 rest = nominal.amount;
    for (const AssignmentRow& row : draft.claim.terms->rows)
      if (row.resource == resource) rest -= row.assigned;
    left[nominal.spelled] = amount_text(resource, rest);
  }
  return left;
}

const std::vector<FlavorUsage>* usage_at_member(const Cluster& cluster, const std::string& queue) {
  if (const auto watched = cluster.member.queues.find(queue);
      watched != cluster.member.queues.end())
    return &watched->second.usage;
  for (const std::string& work : works_with(cluster, queue))
    for (const WorkFeedback& feedback : cluster.member.quota_works.at(work).facts.feedback)
      if (feedback.cluster_queue == queue && feedback.has_usage) return &feedback.usage;
  return nullptr;
}

// Returns the usage of the row's pair at the member, or without one on the hub if no other cluster
// feeds the pair; null if unknown.
const std::vector<FlavorUsage>* usage_of(const Draft& draft, const Grant& grant) {
  if (!draft.cluster) return nullptr;
  const std::string& queue = grant.row.cluster_queue;
  if (has_member(draft.state.configuration, *draft.cluster) ||
      draft.cluster->member.queues.contains(queue))
    return usage_at_member(*draft.cluster, queue);
  const auto hub = draft.state.queues.by_name.find(queue);
  if (hub == draft.state.queues.by_name.end() || !hub->second.present) return nullptr;
  const QuotaKey pair{grant.row.flavor, grant.row.resource};
  if (draft.wishes.quotas().of(queue, pair).contributions.size() != 1) return nullptr;
  return &hub->second.facts.usage;
}

void add_overcommitted(const Draft& draft, StatusContent& content) {
  if (!draft.claim.winner || !draft.claim.known) return;
  for (const Grant& grant : draft.claim.grants) {
    const std::vector<FlavorUsage>* usage = usage_of(draft, grant);
    if (!usage) continue;
    for (const FlavorUsage& used : *usage) {
      if (used.flavor != grant.row.flavor || used.total <= grant.granted ||
          canonical_resource(draft.state.configuration.resource_aliases, used.resource) !=
              grant.row.resource)
        continue;
      content.overcommitted.push_back({grant.row.cluster_queue, grant.row.flavor,
                                       amount_text(grant.row.resource, grant.granted),
                                       grant.row.spelled,
                                       amount_text(grant.row.resource, used.total)});
    }
  }
}

// ---- conditions ----

Condition valid(const Draft& draft) {
  if (draft.claim.fault)
    return {"Valid", "False", text_of(draft.claim.fault->reason), draft.claim.fault->message};
  if (!draft.claim.winner && !draft.claim.facts.deleting)
    return {"Valid", "False", "ClusterAlreadyClaimed",
            "an older claim for " + draft.cluster_name + " is in force"};
  std::string message;
  for (const std::string& warning : claim_warnings(draft.state, draft.name, draft.cluster))
    message += (message.empty() ? "" : "; ") + warning;
  if (message.empty()) return {"Valid", "True", "Valid", "the spec is in force"};
  return {"Valid", "True", "ValidWithWarnings", message};
}

Condition fully_granted(const Draft& draft) {
  if (!draft.claim.known)
    return {"FullyGranted", "Unknown", "CapacityUnknown",
            "the cluster's capacity is not known yet"};
  for (std::size_t i = 0; i < draft.claim.grants.size(); ++i) {
    const Grant& grant = draft.claim.grants[i];
    const GrantReason reason = draft.reasons[i];
    if (reason == GrantReason::in_full) continue;
    std::string message = grant.row.cluster_queue + " " + grant.row.flavor + " " +
                          grant.row.spelled + ": " +
                          amount_text(grant.row.resource, grant.granted) + " of " +
                          amount_text(grant.row.resource, grant.row.assigned);
    if (reason == GrantReason::flavor_capacity || reason == GrantReason::cluster_capacity)
      if (const std::string why = why_no_node_counts(draft.state, *draft.cluster,
                                                     {grant.row.flavor, grant.row.resource});
          !why.empty())
        message += "; " + why;
    if (reason == GrantReason::flavor_not_found)
      message += "; the hub lacks ResourceFlavor " + grant.row.flavor +
                 ": until it is there, what hub and member have of this stays as it is";
    if (reason == GrantReason::quota_orchestrated)
      message += "; on the hub " + text_of(*draft.wishes.of(grant.row.cluster_queue).orchestrated) +
                 " sets the quota that is in force";
    return {"FullyGranted", "False", text_of(reason), message};
  }
  return {"FullyGranted", "True", "AllGranted", "every assignment is granted in full"};
}

Condition damped(const Draft& draft) {
  if (draft.cluster && draft.cluster->hold)
    return {"Damped", "True", "MassLossHeld",
            "a large loss waits for a second observation: usable " + held_losses(*draft.cluster)};
  if (!draft.cluster || draft.cluster->releases.empty())
    return {"Damped", "False", "Steady", "nothing is suppressed or held"};
  std::set<std::string> suppressed;
  for (const auto& [when, node] : draft.cluster->releases) suppressed.insert(node);
  std::string nodes;
  for (const std::string& node : suppressed) nodes += (nodes.empty() ? "" : ", ") + node;
  return {"Damped", "True", "NodesSuppressed", "these nodes flap: " + nodes};
}

Condition propagated(const Propagation& propagation) {
  return {"Propagated", propagation.status, propagation.reason, propagation.message};
}

Condition ownership_conflict(const Draft& draft) {
  const std::string pairs = contested_pairs(draft.state.queues, draft.claim);
  if (pairs.empty())
    return {"OwnershipConflict", "False", "NoConflict", "no other writer keeps changing our pairs"};
  return {"OwnershipConflict", "True", "ForeignOverwrites",
          "another writer keeps changing the nominalQuota of " + pairs +
              ": it is left as that writer sets it until it equals ours or the claim is edited; "
              "every other pair follows the grants"};
}

// Present only while a queue is orchestrated: Kueue before 0.20 has no orchestrators.
std::optional<Condition> quota_orchestrated(const Draft& draft) {
  std::string queues;
  for (const std::string* queue : draft.queues)
    if (const auto& orchestrated = draft.wishes.of(*queue).orchestrated)
      queues += (queues.empty() ? "ClusterQueue " : "; ClusterQueue ") + *queue + " by " +
                text_of(*orchestrated);
  if (queues.empty()) return std::nullopt;
  return Condition{"QuotaOrchestrated", "True", "EffectiveQuotas",
                   "status.effectiveQuotas is in force on the hub, not our quota: " + queues};
}

// Present once the cluster has published devices.
std::optional<Condition> devices_known(const Draft& draft) {
  if (!draft.cluster) return std::nullopt;
  auto known = fairlead::devices_known(draft.state.configuration, *draft.cluster);
  if (!known) return std::nullopt;
  return Condition{"DevicesKnown", known->all ? "True" : "False", known->reason,
                   std::move(known->message)};
}

// Present only while the claim is being deleted: once it is released the claim is gone.
std::optional<Condition> released(const std::optional<ReleaseBar>& bar) {
  if (!bar) return std::nullopt;
  return Condition{"Released", "False", bar->reason, bar->message};
}

std::vector<Condition> conditions_of(const Draft& draft, const Propagation& propagation,
                                     const std::optional<ReleaseBar>& bar) {
  std::vector<Condition> conditions;
  conditions.reserve(kClaimConditionTypes.size());
  conditions.push_back(valid(draft));
  conditions.push_back(
      capacity_known(draft.state.configuration, draft.cluster_name, draft.cluster));
  conditions.push_back(fully_granted(draft));
  conditions.push_back(damped(draft));
  conditions.push_back(propagated(propagation));
  conditions.push_back(ownership_conflict(draft));
  if (auto orchestrated = quota_orchestrated(draft)) conditions.push_back(*std::move(orchestrated));
  if (auto waits = released(bar)) conditions.push_back(*std::move(waits));
  if (auto devices = devices_known(draft)) conditions.push_back(*std::move(devices));
  for (Condition& condition : conditions) bound_message(condition.message);
  return conditions;
}

// A condition keeps the time of its last change of status.
void date_conditions(const Draft& draft, const std::optional<WrittenStatus>& written,
                     std::vector<Condition>& conditions) {
  const std::string now = to_rfc3339(whole_seconds(draft.state.now));
  for (Condition& condition : conditions) {
    condition.since = now;
    if (!written) continue;
    for (const WrittenStatus::Turn& turn : written->turns)
      if (turn.type == condition.type && turn.status == condition.status)
        condition.since = turn.since;
  }
}

StatusContent content_of(const Draft& draft, const std::vector<Condition>& conditions) {
  StatusContent content;
  content.observed_generation = draft.claim.generation;
  content.conditions.reserve(conditions.size());
  add_grants(draft, content);
  add_overcommitted(draft, content);
  add_accepted(draft, content);
  for (const Condition& condition : conditions)
    add_condition(content, condition.type, condition.status, condition.reason, condition.message);
  return content;
}

// Whether the accepted value in `row` has not been in force for kRestlessIntervals.
bool is_outdated(const State& state, const Cluster& cluster, const WrittenStatus::Row& row) {
  const auto value = cluster.capacity.find(row.key);
  if (value == cluster.capacity.end() || !row.accepted) return true;
  const Amount amount = to_amount(value->first.resource, *row.accepted);
  const DampedValue& damped = value->second.damped;
  if (damped.accepted == amount) return false;
  const auto left = damped.left_at(amount);
  const Duration interval = state.configuration.status_interval;
  return !left || *left + Duration{kRestlessIntervals * interval.ns} <= state.now;
}

// Accepted values that change with every flap and move no grant are not worth a write each. Values
// that never hold still are written once a written one has not been in force for long.
bool numbers_are_due(const State& state, const Cluster* cluster, const WrittenStatus& written) {
  if (!cluster) return true;
  if (still_since(*cluster) + state.configuration.status_interval <= state.now) return true;
  return std::any_of(
      written.capacity.begin(), written.capacity.end(),
      [&](const WrittenStatus::Row& row) { return is_outdated(state, *cluster, row); });
}

bool is_worth_a_write(const Draft& draft, const WrittenStatus& written,
                      const StatusContent& content) {
  if (written.seq < draft.claim.edited_seq.value) return true;
  if (!written.content || written.content->urgently_differs(content)) return true;
  return written.content->patiently_differs(content) &&
         numbers_are_due(draft.state, draft.cluster, written);
}

const std::string& accepted_body(const WriteTables& writes, const std::string& claim) {
  static const std::string none;
  const WriteState* write = status_write_of(writes, {Kind::claim, "", claim});
  return write ? write->status().body : none;
}

// Whether the status may not be written now, so that its content need not be derived.
bool status_must_wait(const State& state, const std::string& claim) {
  const ObjectKey object{Kind::claim, "", claim};
  const WriteState* write = status_write_of(state.writes, object);
  if (!write) return false;
  if (write->outstanding || write->awaits()) return true;
  const Duration interval = write_interval(state, of_status(kHub, object));
  return write->last_write && *write->last_write + interval > state.now;
}

// Whether the claim's own object is being written: the status would carry a resourceVersion that is
// about to be old.
bool object_write_is_fresh(const State& state, const std::string& name) {
  const WriteKeyView key{kHub, Kind::claim, "", name, false};
  // If one is pending there is a write, and every write has a last_write (note_intent).
  if (!write_pending(state.writes, key)) return false;
  const Duration interval = write_interval(state, key);
  return interval.ns == 0 ||
         *state.writes.by_key.find(key)->second.last_write + interval > state.now;
}

// Returns the apply of the status.
PatchIntended status_intent(const Draft& draft, const ClaimStatus& status, QueueWishes& wishes) {
  const Claim& claim = draft.claim;
  PatchIntended intent = hub_intent(Verb::apply_status, {Kind::claim, "", draft.name}, "v1alpha1",
                                    claim.uid, claim.resource_version);
  intent.force = true;
  const ClaimStatusText text = text_of(status);
  ClaimFacts expected = claim.facts;
  expected.status_grants = stored_grants(status.content);
  expected.status_digest = text.digest;
  intent.expected = std::move(expected);
  ObjectText body(intent.body);
  body.text("apiVersion", api_version(Kind::claim, intent.version));
  body.text("kind", info(Kind::claim).name);
  ObjectText metadata(body.value("metadata"));
  metadata.text("name", draft.name);
  if (!claim.resource_version.empty()) metadata.text("resourceVersion", claim.resource_version);
  if (!claim.uid.empty()) metadata.text("uid", claim.uid);
  metadata.close();
  body.value("status") += text.text;
  body.close();
  wishes.statuses().expect(draft.name, intent.body, as_read(status));
  return intent;
}

Reason reason_of(const Draft& draft, bool as_before) {
  if (as_before)
    return {rule::kClaimsRestoreStatus, deciding({draft.claim.seq}),
            "another writer changed the status"};
  std::vector<Seq> causes{draft.claim.seq};
  if (draft.cluster)
    for (const auto& [key, value] : draft.cluster->capacity)
      causes.insert(causes.end(), value.causes.begin(), value.causes.end());
  return {rule::kClaimsStatus, deciding(std::move(causes)),
          "grants, capacity or conditions changed"};
}

}  // namespace

GrantReason grant_reason(const State& state, const Claim& claim, const Grant& grant,
                         QueueWishes& wishes) {
  const auto queue = state.queues.by_name.find(grant.row.cluster_queue);
  if (!claim.winner) return grant.reason;
  if (queue == state.queues.by_name.end() || !queue->second.present)
    return GrantReason::queue_not_found;
  const QueueWish& wish = wishes.of(grant.row.cluster_queue);
  if (wish.orchestrated) return GrantReason::quota_orchestrated;
  const auto why = wish.withheld.find({grant.row.flavor, grant.row.resource});
  return why == wish.withheld.end() ? grant.reason : why->second;
}

std::string capacity_state(const Cluster& cluster, const DampedValue& value) {
  if (cluster.presence.detached) return "Detached";
  if (cluster.lost()) return "Lost";
  if (!cluster.known) return "Unknown";
  if (cluster.hold) return "Held";
  if (cluster.stale()) return "Stale";
  if (value.accepted > value.usable) return "Shrinking";
  return value.accepted < value.usable ? "Growing" : "Accepted";
}

bool status_numbers_are_due(const State& state, const std::string& name, QueueWishes& wishes) {
  const Claim& claim = state.claims.by_name.at(name);
  const auto cluster = state.clusters.find(cluster_name_of(claim));
  const std::optional<WrittenStatus>& written =
      wishes.statuses().of(name, accepted_body(state.writes, name));
  // What is_worth_a_write() asks, but for that which needs the content to be derived.
  return !written || written->seq < claim.edited_seq.value || !written->content ||
         numbers_are_due(state, cluster == state.clusters.end() ? nullptr : &cluster->second,
                         *written);
}

Proposed emit_claim_status(const State& state, const std::string& name, QueueWishes& wishes) {
  const auto at = state.claims.by_name.find(name);
  if (at == state.claims.by_name.end()) return std::nullopt;
  const Claim& claim = at->second;
  // Cheap questions first: deriving a status walks the claim's grants and the cluster's capacity.
  if (status_must_wait(state, name) || object_write_is_fresh(state, name)) return std::nullopt;
  std::optional<ReleaseBar> bar;
  // From here on the status reports only what the deletion waits for
  // (docs/decisions/0011-a-status-waits-for-its-writes.md).
  if (claim.facts.deleting) {
    if (has_finalizer(claim)) bar = finalizer_bar(state, name, claim, wishes);
    if (!bar || bar->soon_over) return std::nullopt;
  }
  const Propagation propagation = propagation_of(state, claim, wishes);
  if (propagation.soon_over) return std::nullopt;
  const Draft draft = draft_for(state, name, claim, wishes);

  std::vector<Condition> conditions = conditions_of(draft, propagation, bar);
  const StatusContent content = content_of(draft, conditions);
  const std::optional<WrittenStatus>& written =
      wishes.statuses().of(name, accepted_body(state.writes, name));
  const bool as_before = written && !is_worth_a_write(draft, *written, content);
  if (as_before && !restore_is_due(state, name)) return std::nullopt;

  date_conditions(draft, written, conditions);
  PatchIntended intent = status_intent(draft,
                                       {content, capacity_rows(draft), unassigned(draft),
                                        std::move(conditions), state.input_seq.value},
                                       wishes);
  intent.reason = reason_of(draft, as_before);
  return proposed(state, Rank::status, std::move(intent));
}

}  // namespace fairlead
