#include "engine/plan/fleet_claims/fleet_claims.h"

#include <algorithm>

#include "engine/fold/devices/search_index.h"
#include "engine/fold/fleet_claims/needs.h"

namespace fairlead {

namespace {

constexpr const char* kVersion = "v1alpha1";

bool writes_fleet_claims(const State& state) {
  return state.configuration.dra.fleet_claims && searches_devices(state.configuration);
}

const WorkloadRecord* find_workload(const State& state, const NamespacedName& id) {
  const auto at = state.multikueue.workloads.find(id);
  return at == state.multikueue.workloads.end() ? nullptr : &at->second;
}

// What an object that a Workload owns says of it: the garbage collector deletes it with its owner.
Json owner_reference(const State& state, const NamespacedName& id, const WorkloadRecord& record) {
  const std::string version =
      record.seen.version.empty() ? kueue_version(state) : record.seen.version;
  return {{"apiVersion", api_version(Kind::workload, version)},
          {"kind", "Workload"},
          {"name", id.second},
          {"uid", record.seen.uid},
          {"controller", true}};
}

Json spec_json(const FleetClaimSpec& spec) {
  Json json{{"resourceClassName", spec.resource_class},
            {"allocationMode", spec.immediate ? "Immediate" : "WaitForFirstConsumer"}};
  if (spec.parameters == FleetParameters{}) return json;
  json["parametersRef"] = {{"kind", spec.parameters.kind}, {"name", spec.parameters.name}};
  if (!spec.parameters.api_group.empty())
    json["parametersRef"]["apiGroup"] = spec.parameters.api_group;
  return json;
}

Json consumer_json(const ClaimConsumer& consumer) {
  Json json{{"resource", consumer.resource}, {"name", consumer.name}, {"uid", consumer.uid}};
  if (!consumer.api_group.empty()) json["apiGroup"] = consumer.api_group;
  return json;
}

// ---- creation ----

// A Workload that waits for a claim that is made from a template.
struct Maker {
  NamespacedName workload;
  const WorkloadRecord* record = nullptr;
  const Observed<FleetResourceClaimTemplateFacts>* from = nullptr;
};

std::optional<Maker> maker_of(const State& state, const NamespacedName& claim) {
  const auto users = state.fleet.users.find(claim);
  if (users == state.fleet.users.end()) return std::nullopt;
  for (const NamespacedName& id : users->second) {
    const WorkloadRecord* record = find_workload(state, id);
    if (!record || !record->nominates || record->seen.facts.deleting) continue;
    for (const FleetNeed& need : fleet_needs(state.configuration, id, record->seen.facts).all) {
      if (need.claim != claim || need.template_.empty()) continue;
      const auto from = state.fleet.templates.find({claim.first, need.template_});
      if (from != state.fleet.templates.end()) return Maker{id, record, &from->second};
    }
  }
  return std::nullopt;
}

void create_claim(const State& state, const NamespacedName& id, std::vector<Proposal>& proposals) {
  const auto maker = maker_of(state, id);
  if (!maker) return;
  const FleetResourceClaimTemplateFacts& from = maker->from->facts;
  const ObjectKey key{Kind::fleet_resource_claim, id.first, id.second};
  PatchIntended intent = hub_intent(Verb::create, key, kVersion);
  Json body = object_head(key.kind, kVersion, id.first, id.second, "", "");
  Json& metadata = body["metadata"];
  if (!from.labels.empty()) metadata["labels"] = from.labels;
  if (!from.annotations.empty()) metadata["annotations"] = from.annotations;
  metadata["ownerReferences"] =
      Json::array({owner_reference(state, maker->workload, *maker->record)});
  body["spec"] = spec_json(from.spec);
  intent.body = to_text(body);
  intent.reason = {rule::kFleetClaimCreate, deciding({maker->record->seen.seq, maker->from->seq}),
                   "Workload " + maker->workload.second + " waits for it"};
  FleetResourceClaimFacts expected;
  expected.spec = from.spec;
  expected.workload_owners = {maker->record->seen.uid};
  expected.created = whole_seconds(state.now);
  intent.expected = std::move(expected);
  if (may_write(state, intent, Direction::other))
    proposals.push_back({Rank::worker, std::move(intent)});
}

// ---- status ----

std::vector<Seq> seqs_of_users(const State& state, const NamespacedName& id,
                               const FleetClaimRecord& claim) {
  std::vector<Seq> because{claim.seen.seq};
  for (const NamespacedName& holder : claim.holders)
    if (const WorkloadRecord* record = find_workload(state, holder))
      because.push_back(record->seen.seq);
  for (const ClaimConsumer& entry : claim.seen.facts.reserved_for)
    if (const WorkloadRecord* record = find_workload(state, {id.first, entry.name});
        record && is_workload(entry))
      because.push_back(record->seen.seq);
  return because;
}

std::string status_text(const FleetResourceClaimFacts& wished) {
  if (wished.deallocation_requested) return "no cluster that fits has it in reach";
  std::string names;
  for (const ClaimConsumer& one : wished.reserved_for) names += " " + one.name;
  return names.empty() ? "reserved for nobody" : "reserved for" + names;
}

void write_status(const State& state, const NamespacedName& id, const FleetClaimRecord& claim,
                  std::vector<Proposal>& proposals) {
  const auto& seen = claim.seen;
  FleetResourceClaimFacts wished = seen.facts;
  wished.reserved_for = wished_consumers(state, id, claim);
  wished.deallocation_requested =
      seen.facts.allocation && (seen.facts.deallocation_requested || claim.release);
  if (wished == seen.facts) return;
  const ObjectKey key{Kind::fleet_resource_claim, id.first, id.second};
  PatchIntended intent =
      hub_intent(Verb::apply_status, key, seen.version, seen.uid, seen.resource_version);
  intent.force = true;
  Json body =
      object_head(key.kind, seen.version, id.first, id.second, seen.uid, seen.resource_version);
  Json& status = body["status"];
  status["reservedFor"] = Json::array();
  for (const ClaimConsumer& one : wished.reserved_for)
    status["reservedFor"].push_back(consumer_json(one));
  status["deallocationRequested"] = wished.deallocation_requested;
  intent.body = to_text(body);
  intent.reason = {rule::kFleetClaimStatus, deciding(seqs_of_users(state, id, claim)),
                   status_text(wished)};
  intent.expected = std::move(wished);
  if (may_write(state, intent, Direction::lowers))
    proposals.push_back({Rank::status, std::move(intent)});
}

// ---- end ----

// Deletes a claim that was made for a Workload which is Finished. That of a Workload that is gone
// is left to the garbage collector.
void remove_claim(const State& state, const NamespacedName& id, const FleetClaimRecord& claim,
                  std::vector<Proposal>& proposals) {
  const auto users = state.fleet.users.find(id);
  if (users == state.fleet.users.end() || claim.seen.facts.deleting) return;
  for (const NamespacedName& user : users->second) {
    const WorkloadRecord& record = state.multikueue.workloads.at(user);
    if (!record.seen.facts.finished || !is_made_for(claim, record.seen.uid)) continue;
    const ObjectKey key{Kind::fleet_resource_claim, id.first, id.second};
    PatchIntended intent = hub_intent(Verb::remove, key, claim.seen.version, claim.seen.uid, "");
    intent.reason = {rule::kFleetClaimRemove, deciding({record.seen.seq, claim.seen.seq}),
                     "Workload " + user.second + " is Finished"};
    if (may_write(state, intent, Direction::other))
      proposals.push_back({Rank::release, std::move(intent)});
    return;
  }
}

}  // namespace

void emit_fleet_claim(const State& state, const NamespacedName& id,
                      std::vector<Proposal>& proposals) {
  if (!writes_fleet_claims(state)) return;
  const FleetClaimRecord* claim = find_claim(state, id);
  if (!claim) return create_claim(state, id, proposals);
  write_status(state, id, *claim, proposals);
  remove_claim(state, id, *claim, proposals);
}

void emit_fleet_scheduling(const State& state, const NamespacedName& id,
                           std::vector<Proposal>& proposals) {
  const WorkloadRecord* record = find_workload(state, id);
  if (!record || !writes_fleet_claims(state)) return;
  const FleetWait& wait = record->devices.fleet;
  if (!wait.asks_drivers || !record->nominates || record->seen.facts.deleting) return;
  const ObjectKey key{Kind::fleet_scheduling, id.first, id.second};
  FleetSchedulingFacts wished;
  std::string uid, version;
  std::vector<Seq> because{record->seen.seq};
  if (const auto at = state.fleet.schedulings.find(id); at != state.fleet.schedulings.end()) {
    wished = at->second.facts;
    if (!is_owned(wished, record->seen.uid)) return;  // the garbage collector deletes it
    if (wished.potential == wait.potential && wished.selected == wait.selected) return;
    uid = at->second.uid;
    version = at->second.resource_version;
    because.push_back(at->second.seq);
  }
  wished.potential = wait.potential;
  wished.selected = wait.selected;
  wished.workload_owners = {record->seen.uid};
  PatchIntended intent = hub_intent(Verb::apply, key, kVersion, uid, version);
  intent.force = true;
  Json body = object_head(key.kind, kVersion, id.first, id.second, uid, version);
  body["metadata"]["ownerReferences"] = Json::array({owner_reference(state, id, *record)});
  body["spec"]["potentialClusters"] = wait.potential;
  if (!wait.selected.empty()) body["spec"]["selectedCluster"] = wait.selected;
  intent.body = to_text(body);
  intent.reason = {rule::kFleetScheduling, deciding(std::move(because)), record->devices.about};
  intent.expected = std::move(wished);
  if (may_write(state, intent, Direction::other))
    proposals.push_back({Rank::worker_list, std::move(intent)});
}

}  // namespace fairlead
