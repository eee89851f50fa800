// What asks for devices: classes, claims and templates of claims. Opaque parameters (`config`) are
// never read.
//
// Source: as projection_devices.cpp. In v1beta1 the fields of `exactly` are in the request
// itself.
#include <array>
#include <set>
#include <string>
#include <utility>

#include "connectors/kube/projection/projection_fields.h"

namespace fairlead::projection {

namespace {

// The limits of k8s.io/api/resource, the same in all versions that have the field.
constexpr std::size_t kRequestsMax = 32;
constexpr std::size_t kConstraintsMax = 32;
constexpr std::size_t kSelectorsMax = 32;
constexpr std::size_t kAlternativesMax = 8;
constexpr std::size_t kTolerationsMax = 16;
constexpr std::size_t kResultsMax = 32;
constexpr std::size_t kConsumersMax = 256;

std::vector<DeviceSelector> device_selectors(JsonView list, ObjectRefusal& refused) {
  expect_at_most(kSelectorsMax, list, "selectors", refused);
  std::vector<DeviceSelector> out;
  for (JsonView item : list) {
    JsonView expression = item["cel"]["expression"];
    DeviceSelector& selector = out.emplace_back();
    if (item["cel"].given()) selector.cel = std::string(expression.string());
  }
  return out;
}

AllocationMode allocation_mode(std::string_view word) {
  if (word.empty() || word == "ExactCount") return AllocationMode::exact;
  return word == "All" ? AllocationMode::all : AllocationMode::unknown;
}

// A missing count and 0 are 1, as API servers fill in; other modes have no count.
std::int64_t device_count(AllocationMode mode, JsonView value, ObjectRefusal& refused) {
  if (!value.given()) return 1;
  const auto count = value.integer();
  if (!count || *count < 0) refused.note("count", "no integer of 64 bits, or negative");
  return mode == AllocationMode::exact && count && *count > 0 ? *count : 1;
}

DeviceAsk device_ask(JsonView object, ObjectRefusal& refused) {
  const auto [device_class, selectors, mode, count, admin, tolerated, capacity] =
      object.members("deviceClassName", "selectors", "allocationMode", "count", "adminAccess",
                     "tolerations", "capacity");
  DeviceAsk out;
  out.device_class = expect_text(device_class, "deviceClassName", refused);
  out.selectors = device_selectors(selectors, refused);
  out.mode = allocation_mode(mode.string());
  out.count = device_count(out.mode, count, refused);
  out.admin = admin.is_true();
  expect_at_most(kTolerationsMax, tolerated, "tolerations", refused);
  out.tolerations = tolerations(tolerated);
  out.capacity = quantities(capacity["requests"], "capacity.requests", refused);
  return out;
}

// Of v1beta1: whether the request says anything of its own, as the conversion to v1 asks.
bool asks_itself(JsonView request) {
  const auto [device_class, selectors, mode, count, admin, tolerated, capacity] =
      request.members("deviceClassName", "selectors", "allocationMode", "count", "adminAccess",
                      "tolerations", "capacity");
  return !device_class.string().empty() || selectors.given() || !mode.string().empty() ||
         count.integer().value_or(0) != 0 || admin.given() || tolerated.given() || capacity.given();
}

DeviceRequest device_request(JsonView object, ApiReading& api) {
  DeviceRequest out;
  out.name = expect_text(object["name"], "requests.name", api.refused);
  JsonView first = object["firstAvailable"];
  const bool flat = api.version == kFlatDeviceApi;
  JsonView exact = flat ? object : object["exactly"];
  const bool exactly = flat ? asks_itself(object) : exact.given();
  expect_at_most(kAlternativesMax, first, "firstAvailable", api.refused);
  out.alternatives = first.size() > 0;
  if (out.alternatives && exactly)
    api.refused.note("requests", "one request and alternatives of it");
  if (exactly) out.asks.push_back(device_ask(exact, api.refused));
  std::set<std::string_view> names;
  for (JsonView item : first) {
    DeviceAsk& ask = out.asks.emplace_back(device_ask(item, api.refused));
    ask.name = expect_text(item["name"], "firstAvailable.name", api.refused);
    ask.admin = false;  // alternatives have no such field
    if (!names.insert(item["name"].string()).second)
      api.refused.note("firstAvailable", "two of one name");
  }
  return out;
}

// matchAttribute counts where both are set, as the allocator of Kubernetes looks for it first.
DeviceConstraint device_constraint(JsonView object, ObjectRefusal& refused) {
  const auto [requests, match, distinct] =
      object.members("requests", "matchAttribute", "distinctAttribute");
  expect_at_most(kRequestsMax, requests, "constraints.requests", refused);
  DeviceConstraint out{string_items(requests), std::string(match.string()), ""};
  if (out.match.empty()) out.distinct = distinct.string();
  return out;
}

DeviceClaimSpec device_claim_spec(JsonView devices, ApiReading& api) {
  const auto [requests, constraints] = devices.members("requests", "constraints");
  DeviceClaimSpec out;
  expect_at_most(kRequestsMax, requests, "requests", api.refused);
  expect_at_most(kConstraintsMax, constraints, "constraints", api.refused);
  if (api.refused) return out;  // what is too long is not walked through
  std::set<std::string_view> names;
  for (JsonView item : requests) {
    out.requests.push_back(device_request(item, api));
    if (!names.insert(item["name"].string()).second)
      api.refused.note("requests", "two of one name");
  }
  for (JsonView item : constraints) out.constraints.push_back(device_constraint(item, api.refused));
  return out;
}

ClaimAllocation claim_allocation(JsonView object, ObjectRefusal& refused) {
  ClaimAllocation out;
  JsonView results = object["devices"]["results"];
  expect_at_most(kResultsMax, results, "status.allocation.devices.results", refused);
  for (JsonView item : results) {
    const auto [request, driver, pool, device] =
        item.members("request", "driver", "pool", "device");
    const auto [admin, share, consumed] =
        item.members("adminAccess", "shareID", "consumedCapacity");
    out.devices.push_back({std::string(request.string()), std::string(driver.string()),
                           std::string(pool.string()), std::string(device.string()),
                           admin.is_true(), std::string(share.string()),
                           quantities(consumed, "consumedCapacity", refused)});
  }
  if (JsonView selector = object["nodeSelector"]; selector.given())
    out.selector = node_selector(selector);
  return out;
}

}  // namespace

std::vector<ClaimConsumer> claim_consumers(JsonView array) {
  std::vector<ClaimConsumer> out;
  for (JsonView item : array) {
    const auto [group, resource, name, uid] = item.members("apiGroup", "resource", "name", "uid");
    out.push_back({std::string(group.string()), std::string(resource.string()),
                   std::string(name.string()), std::string(uid.string())});
  }
  return out;
}

std::vector<std::string> owner_uids(JsonView metadata, std::string_view group,
                                    std::string_view kind) {
  std::vector<std::string> out;
  for (JsonView owner : metadata["ownerReferences"]) {
    const auto [api, of_kind, uid] = owner.members("apiVersion", "kind", "uid");
    const std::string_view version = api.string();
    const std::size_t slash = version.find('/');
    const std::string_view of_group =
        slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
    if (of_group == group && of_kind.string() == kind && !uid.string().empty())
      out.emplace_back(uid.string());
  }
  make_set(out);
  return out;
}

template <>
DeviceClassFacts facts_of(JsonView object, ApiReading& api) {
  const auto [metadata, spec] = object.members("metadata", "spec");
  DeviceClassFacts out;
  out.selectors = device_selectors(spec["selectors"], api.refused);
  out.extended_resource = spec["extendedResourceName"].string();
  if (const auto created = parse_rfc3339(metadata["creationTimestamp"].string()))
    out.created = created->ns / seconds(1).ns;
  return out;
}

template <>
ResourceClaimFacts facts_of(JsonView object, ApiReading& api) {
  const auto [metadata, spec, status] = object.members("metadata", "spec", "status");
  JsonView annotations = metadata["annotations"];
  ResourceClaimFacts out;
  out.spec = device_claim_spec(spec["devices"], api);
  if (JsonView allocation = status["allocation"]; allocation.given())
    out.allocation = claim_allocation(allocation, api.refused);
  JsonView consumers = status["reservedFor"];
  expect_at_most(kConsumersMax, consumers, "status.reservedFor", api.refused);
  out.reserved_for = claim_consumers(consumers);
  out.pod_owners = owner_uids(metadata, "", "Pod");
  out.pod_claim = annotations["resource.kubernetes.io/pod-claim-name"].string();
  out.extended = annotations["resource.kubernetes.io/extended-resource-claim"].string() == "true";
  out.deleting = deleting(object);
  return out;
}

template <>
ResourceClaimTemplateFacts facts_of(JsonView object, ApiReading& api) {
  return {device_claim_spec(object["spec"]["spec"]["devices"], api)};
}

std::span<const KindProjection> device_claim_projections() {
  static constexpr std::array kAll{
      projection_of<DeviceClassFacts>("metadata.{labels,annotations} spec.config"),
      // Drivers report the health of allocated devices in status.devices.
      projection_of<ResourceClaimFacts>(
          "metadata.labels spec.devices.config status.devices "
          "status.allocation.{allocationTimestamp,devices.config} "
          "status.allocation.devices.results.*.{tolerations,bindingConditions} "
          "status.allocation.devices.results.*.bindingFailureConditions"),
      projection_of<ResourceClaimTemplateFacts>(
          "metadata.{labels,annotations} spec.{metadata,spec.devices.config}")};
  return kAll;
}

}  // namespace fairlead::projection
