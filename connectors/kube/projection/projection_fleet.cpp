// Fleet claims: the kinds of dra.fairlead.io, and the annotation by which pods name such claims.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "connectors/kube/projection/projection_fields.h"
#include "schema/fleet_driver.h"

namespace fairlead::projection {

namespace {

constexpr std::string_view kWorkloadGroup = "kueue.x-k8s.io";
constexpr std::size_t kEntriesMax = 32;  // as many as the claims of a pod

FleetParameters parameters(JsonView object) {
  const auto [group, kind, name] = object.members("apiGroup", "kind", "name");
  return {std::string(group.string()), std::string(kind.string()), std::string(name.string())};
}

FleetClaimSpec claim_spec(JsonView spec) {
  const auto [of_class, parameters_ref, mode] =
      spec.members("resourceClassName", "parametersRef", "allocationMode");
  return {std::string(of_class.string()), parameters(parameters_ref), mode.string() == "Immediate"};
}

std::vector<std::string> sorted_names(JsonView array) {
  std::vector<std::string> names = string_items(array);
  make_set(names);
  return names;
}

// Reads what Fairlead wrote as the driver of a booking.
std::optional<std::vector<std::string>> booked(std::string_view handle) {
  JsonFault fault;
  const auto document = parse_json(handle, fault);
  if (!document || !document->root().is(JsonKind::array)) return std::nullopt;
  std::vector<std::string> devices = string_items(document->root());
  if (devices.size() != document->root().size()) return std::nullopt;
  return devices;
}

std::string fault_of(const PodClaim& entry, std::set<std::string>& names) {
  if (entry.name.empty()) return "an entry has no name";
  if (!names.insert(entry.name).second) return "two entries are called " + entry.name;
  if (entry.claim.empty() == entry.template_.empty())
    return "entry " + entry.name +
           " must have one of resourceClaimName and resourceClaimTemplateName";
  return "";
}

}  // namespace

template <>
FleetResourceClassFacts facts_of(JsonView object, ApiReading&) {
  FleetResourceClassFacts out;
  out.driver = object["driverName"].string();
  out.parameters = parameters(object["parametersRef"]);
  if (JsonView suitable = object["suitableClusters"]; suitable.is(JsonKind::array))
    out.suitable = sorted_names(suitable);
  return out;
}

template <>
FleetResourceClaimFacts facts_of(JsonView object, ApiReading&) {
  const auto [metadata, spec, status] = object.members("metadata", "spec", "status");
  FleetResourceClaimFacts out;
  out.spec = claim_spec(spec);
  out.driver = status["driverName"].string();
  if (JsonView allocation = status["allocation"]; allocation.is(JsonKind::object)) {
    const auto [handle, clusters, shareable] =
        allocation.members("resourceHandle", "availableOnClusters", "shareable");
    FleetAllocation& of = out.allocation.emplace();
    if (clusters.is(JsonKind::array)) of.clusters = sorted_names(clusters);
    of.shareable = shareable.is_true();
    if (out.driver == kBookingDriver) of.booked = booked(handle.string());
  }
  out.reserved_for = claim_consumers(status["reservedFor"]);
  out.deallocation_requested = status["deallocationRequested"].is_true();
  out.workload_owners = owner_uids(metadata, kWorkloadGroup, "Workload");
  out.created = parse_rfc3339(metadata["creationTimestamp"].string()).value_or(LogTime{});
  out.deleting = deleting(object);
  return out;
}

template <>
FleetResourceClaimTemplateFacts facts_of(JsonView object, ApiReading&) {
  const auto [metadata, spec] = object["spec"].members("metadata", "spec");
  return {strings(metadata["labels"]), strings(metadata["annotations"]), claim_spec(spec)};
}

template <>
FleetSchedulingFacts facts_of(JsonView object, ApiReading&) {
  const auto [metadata, spec, status] = object.members("metadata", "spec", "status");
  FleetSchedulingFacts out;
  out.potential = string_items(spec["potentialClusters"]);
  out.selected = spec["selectedCluster"].string();
  for (JsonView claim : status["resourceClaims"])
    out.unsuitable[std::string(claim["name"].string())] = sorted_names(claim["unsuitableClusters"]);
  out.workload_owners = owner_uids(metadata, kWorkloadGroup, "Workload");
  return out;
}

FleetClaimEntries fleet_claim_entries(std::string_view annotation) {
  FleetClaimEntries out;
  if (annotation.empty()) return out;
  JsonFault fault;
  const auto document = parse_json(annotation, fault);
  if (!document || !document->root().is(JsonKind::array)) {
    out.fault = "no JSON list";
    return out;
  }
  if (document->root().size() > kEntriesMax) {
    out.fault = "more than " + std::to_string(kEntriesMax) + " entries";
    return out;
  }
  std::set<std::string> names;
  for (JsonView item : document->root()) {
    const auto [name, claim, made] =
        item.members("name", "resourceClaimName", "resourceClaimTemplateName");
    out.entries.push_back(
        {std::string(name.string()), std::string(claim.string()), std::string(made.string())});
    if (out.fault.empty()) out.fault = fault_of(out.entries.back(), names);
  }
  if (!out.fault.empty()) out.entries.clear();
  return out;
}

std::span<const KindProjection> fleet_projections() {
  static constexpr std::array kAll{
      projection_of<FleetResourceClassFacts>(), projection_of<FleetResourceClaimFacts>(),
      projection_of<FleetResourceClaimTemplateFacts>(), projection_of<FleetSchedulingFacts>()};
  return kAll;
}

}  // namespace fairlead::projection
