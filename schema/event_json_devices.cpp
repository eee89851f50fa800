#include "schema/event_json_devices.h"

#include <charconv>

#include "engine/base/time.h"

namespace fairlead {

void put_text(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

namespace {

// Adds a member where there is something to say.
void put_texts(Json& json, const char* key, const std::vector<std::string>& texts) {
  if (!texts.empty()) json[key] = texts;
}
void put_quantity(Json& json, const char* key, const std::optional<Quantity>& quantity) {
  if (quantity) json[key] = quantity->text();
}
void put_flag(Json& json, const char* key, bool flag) {
  if (flag) json[key] = true;
}
template <class Items, class Print>
void put_items(Json& json, const char* key, const Items& items, const Print& print) {
  if (items.empty()) return;
  Json list = Json::array();
  for (const auto& item : items) list.push_back(print(item));
  json[key] = std::move(list);
}
void put_quantities(Json& json, const char* key, const std::map<std::string, Quantity>& map) {
  for (const auto& [name, quantity] : map) json[key][name] = quantity.text();
}

// ---- which nodes ----

Json print_requirement(const NodeRequirement& requirement) {
  Json json{{"key", requirement.key}, {"operator", requirement.op}};
  put_texts(json, "values", requirement.values);
  return json;
}
Json print_node_selector(const NodeSelector& selector) {
  Json terms = Json::array();
  for (const NodeSelectorTerm& term : selector.terms) {
    Json json = Json::object();
    put_items(json, "matchExpressions", term.expressions, print_requirement);
    put_items(json, "matchFields", term.fields, print_requirement);
    terms.push_back(std::move(json));
  }
  return {{"nodeSelectorTerms", std::move(terms)}};
}
void put_reach(Json& json, const NodeReach& reach) {
  switch (reach.kind) {
    case NodeReachKind::none: return;
    case NodeReachKind::node: json["nodeName"] = reach.node; return;
    case NodeReachKind::selector:
      json["nodeSelector"] = print_node_selector(reach.selector);
      return;
    case NodeReachKind::all: json["allNodes"] = true; return;
    case NodeReachKind::devices: json["perDeviceNodeSelection"] = true; return;
  }
}

// ---- devices ----

Json print_taint(const Taint& taint) {
  Json json{{"key", taint.key}, {"effect", taint.effect}};
  put_text(json, "value", taint.value);
  return json;
}
Json print_counter_set(const CounterSet& set) {
  Json json{{"name", set.name}};
  put_quantities(json, "counters", set.counters);
  return json;
}

// {"int": 3}: the type of the attribute and its value.
Json print_attribute(std::string_view value) {
  if (value.empty()) return nullptr;
  const std::string text(value.substr(1));
  switch (value.front()) {
    case kIntAttribute: {
      std::int64_t number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      return {{"int", number}};
    }
    case kBoolAttribute: return {{"bool", text == "true"}};
    case kVersionAttribute: return {{"version", text}};
    case kStringAttribute: return {{"string", text}};
  }
  return nullptr;
}

Json print_policy(const CapacityPolicy& policy) {
  Json json = Json::object();
  put_quantity(json, "default", policy.standard);
  put_items(json, "validValues", policy.values, [](const Quantity& value) { return value.text(); });
  Json range = Json::object();
  put_quantity(range, "min", policy.min);
  put_quantity(range, "max", policy.max);
  put_quantity(range, "step", policy.step);
  if (!range.empty()) json["validRange"] = std::move(range);
  return json;
}
Json print_device(const DeviceFacts& device) {
  Json json{{"name", device.name}};
  for (const auto& [name, value] : device.attributes)
    json["attributes"][std::string(name)] = print_attribute(value);
  for (const DeviceCapacity& capacity : device.capacity) {
    Json& of = json["capacity"][capacity.name];
    of = {{"value", capacity.value.text()}};
    if (capacity.policy) of["requestPolicy"] = print_policy(*capacity.policy);
  }
  if (!device.extras) return json;
  put_reach(json, device.extras->reach);
  put_items(json, "taints", device.extras->taints, print_taint);
  put_items(json, "consumesCounters", device.extras->consumes, print_counter_set);
  put_flag(json, "allowMultipleAllocations", device.extras->shared);
  put_flag(json, "bindingConditions", device.extras->binds);
  return json;
}

// ---- requests ----

Json print_selector(const DeviceSelector& selector) {
  if (!selector.cel) return Json::object();
  return {{"cel", {{"expression", *selector.cel}}}};
}
std::string_view mode_word(AllocationMode mode) {
  switch (mode) {
    case AllocationMode::exact: return "ExactCount";
    case AllocationMode::all: return "All";
    case AllocationMode::unknown: return "Unknown";
  }
  return "";
}
Json print_toleration(const Toleration& toleration) {
  Json json{{"operator", toleration.op}};
  put_text(json, "key", toleration.key);
  put_text(json, "value", toleration.value);
  put_text(json, "effect", toleration.effect);
  return json;
}
Json print_ask(const DeviceAsk& ask) {
  Json json{{"deviceClassName", ask.device_class}, {"allocationMode", mode_word(ask.mode)}};
  put_text(json, "name", ask.name);
  put_items(json, "selectors", ask.selectors, print_selector);
  if (ask.mode == AllocationMode::exact) json["count"] = ask.count;
  put_flag(json, "adminAccess", ask.admin);
  put_items(json, "tolerations", ask.tolerations, print_toleration);
  put_quantities(json, "capacity", ask.capacity);
  return json;
}
Json print_request(const DeviceRequest& request) {
  Json json{{"name", request.name}};
  if (request.alternatives)
    put_items(json, "firstAvailable", request.asks, print_ask);
  else if (!request.asks.empty())
    json["exactly"] = print_ask(request.asks.front());
  return json;
}
Json print_constraint(const DeviceConstraint& constraint) {
  Json json = Json::object();
  put_texts(json, "requests", constraint.requests);
  put_text(json, "matchAttribute", constraint.match);
  put_text(json, "distinctAttribute", constraint.distinct);
  return json;
}
void put_spec(Json& json, const DeviceClaimSpec& spec) {
  put_items(json, "requests", spec.requests, print_request);
  put_items(json, "constraints", spec.constraints, print_constraint);
}

// ---- claims ----

Json print_allocated(const AllocatedDevice& device) {
  Json json{{"request", device.request},
            {"driver", device.driver},
            {"pool", device.pool},
            {"device", device.device}};
  put_flag(json, "adminAccess", device.admin);
  put_text(json, "shareID", device.share);
  put_quantities(json, "consumedCapacity", device.consumed);
  return json;
}
Json print_allocation(const ClaimAllocation& allocation) {
  Json json{{"devices", Json::array()}};
  put_items(json, "devices", allocation.devices, print_allocated);
  if (allocation.selector) json["nodeSelector"] = print_node_selector(*allocation.selector);
  return json;
}

}  // namespace

Json json_of(const ClaimConsumer& consumer) {
  Json json{{"resource", consumer.resource}, {"name", consumer.name}, {"uid", consumer.uid}};
  put_text(json, "apiGroup", consumer.api_group);
  return json;
}

Json json_of(const PodClaim& claim) {
  Json json{{"name", claim.name}};
  put_text(json, "resourceClaimName", claim.claim);
  put_text(json, "resourceClaimTemplateName", claim.template_);
  return json;
}

Json json_of(const ResourceSliceFacts& slice) {
  Json json{{"driver", slice.driver},
            {"pool",
             {{"name", slice.pool},
              {"generation", slice.generation},
              {"resourceSliceCount", slice.slice_count}}}};
  put_reach(json, slice.reach);
  put_items(json, "devices", slice.devices, print_device);
  put_items(json, "sharedCounters", slice.counters, print_counter_set);
  return json;
}

Json json_of(const DeviceClassFacts& of) {
  // The stored seconds may be any number: the product is bounded instead of overflowing.
  const LogTime created{saturate(Int128{of.created} * seconds(1).ns)};
  Json json{{"created", to_rfc3339(created)}};
  put_items(json, "selectors", of.selectors, print_selector);
  put_text(json, "extendedResourceName", of.extended_resource);
  return json;
}

Json json_of(const ResourceClaimFacts& claim) {
  Json json{{"deleting", claim.deleting}};
  put_spec(json, claim.spec);
  if (claim.allocation) json["allocation"] = print_allocation(*claim.allocation);
  put_items(json, "reservedFor", claim.reserved_for,
            [](const auto& item) { return json_of(item); });
  put_texts(json, "podOwners", claim.pod_owners);
  put_text(json, "podClaim", claim.pod_claim);
  put_flag(json, "extendedResourceClaim", claim.extended);
  return json;
}

Json json_of(const ResourceClaimTemplateFacts& of) {
  Json json = Json::object();
  put_spec(json, of.spec);
  return json;
}

Json json_of(const PodDeviceFacts& pod) {
  Json json = Json::object();
  put_items(json, "resourceClaims", pod.claims, [](const auto& item) { return json_of(item); });
  if (!pod.extended.empty()) json["extendedResources"] = pod.extended;
  if (!pod.node_selector.empty()) json["nodeSelector"] = pod.node_selector;
  if (pod.affinity) json["nodeAffinity"] = print_node_selector(*pod.affinity);
  put_items(json, "tolerations", pod.tolerations, print_toleration);
  return json;
}

Json json_of(const DeviceTaintRuleFacts& rule) {
  Json json{{"taint", print_taint(rule.taint)}};
  if (!rule.selects) return json;
  Json& selector = json["deviceSelector"] = Json::object();
  if (rule.driver) selector["driver"] = *rule.driver;
  if (rule.pool) selector["pool"] = *rule.pool;
  if (rule.device) selector["device"] = *rule.device;
  return json;
}

}  // namespace fairlead
