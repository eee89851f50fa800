#include "engine/plan/fleet_claims/fleet_claims.h"

#include <algorithm>

#include "engine/fold/devices/search_index.h"
#include "engine/fold/fleet_claims/bookings.h"
#include "engine/fold/fleet_claims/needs.h"
#include "schema/fleet_driver.h"

namespace fairlead {

namespace {

constexpr const char* kVersion = "v1alpha1";

bool writes_fleet_claims(const Configuration& configuration) {
  return configuration.dra.fleet_claims && dispatches_by_devices(configuration);
}

const WorkloadRecord* find_workload(const MultiKueue& multikueue, const NamespacedName& id) {
  const auto at = multikueue.workloads.find(id);
  return at == multikueue.workloads.end() ? nullptr : &at->second;
}

// The owner reference of an object that a Workload owns: the garbage collector deletes the object
// with its owner.
Json owner_reference(const State& state, const NamespacedName& id, const WorkloadRecord& record) {
  const auto seen = record.seen.read();
  const std::string version = seen->version.empty() ? kueue_version(state) : seen->version;
  return {{"apiVersion", api_version(Kind::workload, version)},
          {"kind", "Workload"},
          {"name", id.second},
          {"uid", seen->uid},
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
    const WorkloadRecord* record = find_workload(state.multikueue, id);
    if (!record || !record->decision->nominates || record->seen->facts.deleting) continue;
    for (const FleetNeed& need : fleet_needs(state.configuration, id, record->seen->facts).all) {
      if (need.claim != claim || need.template_.empty()) continue;
      const auto from = state.fleet.templates.find({claim.first, need.template_});
      if (from != state.fleet.templates.end()) return Maker{id, record, &from->second};
    }
  }
  return std::nullopt;
}

void create_claim(const State& state, const NamespacedName& id,
                  std::vector<PatchIntended>& proposals) {
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
  intent.reason = {rule::kFleetClaimCreate, deciding({maker->record->seen->seq, maker->from->seq}),
                   "Workload " + maker->workload.second + " waits for it"};
  FleetResourceClaimFacts expected;
  expected.spec = from.spec;
  expected.workload_owners = {maker->record->seen->uid};
  expected.created = whole_seconds(state.now);
  intent.expected = std::move(expected);
  add(proposed(state, Rank::worker, std::move(intent)), proposals);
}

// ---- status ----

std::vector<Seq> seqs_of_users(const State& state, const NamespacedName& id,
                               const FleetClaimRecord& claim) {
  std::vector<Seq> causes{claim.seen.seq};
  if (claim.booking)
    causes.insert(causes.end(), claim.booking->causes.begin(), claim.booking->causes.end());
  for (const NamespacedName& holder : claim.holders)
    if (const WorkloadRecord* record = find_workload(state.multikueue, holder))
      causes.push_back(record->seen->seq);
  for (const ClaimConsumer& entry : claim.seen.facts.reserved_for)
    if (const WorkloadRecord* record = find_workload(state.multikueue, {id.first, entry.name});
        record && is_workload(entry))
      causes.push_back(record->seen->seq);
  return causes;
}

// We are the driver of the claim: its allocation is what is booked, and none once that was given
// up. What another driver wrote is left alone.
void put_booking(const FleetClaimRecord& claim, FleetResourceClaimFacts& wished) {
  if (wished.allocation && wished.driver != kBookingDriver) return;
  const bool ends = wished.deallocation_requested || claim.release;
  wished.deallocation_requested = false;
  if (ends) wished.allocation.reset();
  if (ends) wished.driver.clear();
  if (!claim.booking) return;
  wished.driver = kBookingDriver;
  FleetAllocation& allocation = wished.allocation.emplace();
  allocation.clusters = {claim.booking->cluster};
  allocation.booked.emplace();
  for (const FitDevice& device : claim.booking->devices)
    allocation.booked->push_back(text(device.device));
}

void put_allocation(const FleetResourceClaimFacts& wished, Json& status) {
  status["driverName"] = wished.driver;
  status["allocation"] = {{"availableOnClusters", *wished.allocation->clusters},
                          {"resourceHandle", to_text(Json(*wished.allocation->booked))},
                          {"shareable", false}};
}

std::string status_text(const FleetResourceClaimFacts& wished) {
  if (wished.deallocation_requested) return "no cluster that fits has it in reach";
  std::string names;
  for (const ClaimConsumer& one : wished.reserved_for) names += " " + one.name;
  return names.empty() ? "no consumer" : "reserved for" + names;
}

void write_status(const State& state, const NamespacedName& id, const FleetClaimRecord& claim,
                  std::vector<PatchIntended>& proposals) {
  const auto& seen = claim.seen;
  FleetResourceClaimFacts wished = seen.facts;
  wished.reserved_for = wished_consumers(state.multikueue, id, claim);
  wished.deallocation_requested =
      seen.facts.allocation && (seen.facts.deallocation_requested || claim.release);
  const bool booking = is_booking(state, claim);
  if (booking) put_booking(claim, wished);
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
  if (booking && wished.allocation) put_allocation(wished, status);
  intent.body = to_text(body);
  intent.reason = {rule::kFleetClaimStatus, deciding(seqs_of_users(state, id, claim)),
                   status_text(wished)};
  intent.expected = std::move(wished);
  add(proposed(state, Rank::status, std::move(intent), Pacing::at_once), proposals);
}

// ---- end ----

// Returns the Workload that the claim was made for, if it is Finished: the claim is deleted with
// it. The claim of a Workload that is gone is left to the garbage collector.
const NamespacedName* finished_owner(const State& state, const NamespacedName& id,
                                     const FleetClaimRecord& claim) {
  const auto users = state.fleet.users.find(id);
  if (users == state.fleet.users.end()) return nullptr;
  for (const NamespacedName& user : users->second) {
    // `users` is filled and emptied together with the Workloads' records.
    const WorkloadRecord& record = state.multikueue.workloads.at(user);
    if (record.seen->facts.finished && is_made_for(claim, record.seen.head().uid)) return &user;
  }
  return nullptr;
}

void remove_claim(const State& state, const NamespacedName& id, const FleetClaimRecord& claim,
                  const NamespacedName& owner, std::vector<PatchIntended>& proposals) {
  const ObjectKey key{Kind::fleet_resource_claim, id.first, id.second};
  // By uid alone: a driver that writes its status meanwhile must not keep the claim, and another
  // claim of this name must not go.
  PatchIntended intent = hub_intent(Verb::remove, key, claim.seen.version, claim.seen.uid, "");
  intent.reason = {rule::kFleetClaimRemove,
                   deciding({find_workload(state.multikueue, owner)->seen->seq, claim.seen.seq}),
                   "Workload " + owner.second + " is Finished"};
  add(proposed(state, Rank::release, std::move(intent)), proposals);
}

}  // namespace

void emit_fleet_claim(const State& state, const NamespacedName& id,
                      std::vector<PatchIntended>& proposals) {
  if (!writes_fleet_claims(state.configuration)) return;
  const FleetClaimRecord* claim = find_claim(state.fleet, id);
  if (!claim) return create_claim(state, id, proposals);
  // A finalizer of the driver may keep a claim that is being deleted: it waits for reservedFor.
  const NamespacedName* owner = finished_owner(state, id, *claim);
  if (owner && !claim->seen.facts.deleting)
    remove_claim(state, id, *claim, *owner, proposals);
  else
    write_status(state, id, *claim, proposals);
}

static bool asks_drivers(DeviceVerdict verdict) {
  return verdict == DeviceVerdict::waiting_for_drivers ||
         verdict == DeviceVerdict::no_suitable_cluster;
}

void emit_fleet_scheduling(const State& state, const NamespacedName& id,
                           std::vector<PatchIntended>& proposals) {
  const WorkloadRecord* record = find_workload(state.multikueue, id);
  if (!record || !writes_fleet_claims(state.configuration)) return;
  const FleetQuestion& asked = record->devices().asked;
  if (!asks_drivers(record->devices().verdict) || !record->decision->nominates ||
      record->seen->facts.deleting)
    return;
  const ObjectKey key{Kind::fleet_scheduling, id.first, id.second};
  FleetSchedulingFacts wished;
  std::string uid, version;
  std::vector<Seq> causes{record->seen->seq};
  if (const auto at = state.fleet.schedulings.find(id); at != state.fleet.schedulings.end()) {
    wished = at->second.facts;
    if (!is_owned(wished, record->seen->uid)) return;  // the garbage collector deletes it
    if (wished.potential == asked.potential && wished.selected == asked.selected) return;
    uid = at->second.uid;
    version = at->second.resource_version;
    causes.push_back(at->second.seq);
  }
  wished.potential = asked.potential;
  wished.selected = asked.selected;
  wished.workload_owners = {record->seen->uid};
  PatchIntended intent = hub_intent(Verb::apply, key, kVersion, uid, version);
  intent.force = true;
  Json body = object_head(key.kind, kVersion, id.first, id.second, uid, version);
  body["metadata"]["ownerReferences"] = Json::array({owner_reference(state, id, *record)});
  body["spec"]["potentialClusters"] = asked.potential;
  if (!asked.selected.empty()) body["spec"]["selectedCluster"] = asked.selected;
  intent.body = to_text(body);
  intent.reason = {rule::kFleetScheduling, deciding(std::move(causes)), record->devices().about};
  intent.expected = std::move(wished);
  add(proposed(state, Rank::worker_list, std::move(intent)), proposals);
}

}  // namespace fairlead
