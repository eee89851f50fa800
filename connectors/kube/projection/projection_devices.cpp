// Devices: what drivers publish in ResourceSlices, and the taints that DeviceTaintRules add.
//
// Source: k8s.io/api/resource v1, v1beta2 and v1beta1 as of Kubernetes 1.36. v1 and v1beta2 differ
// in no field that is read; in v1beta1 the fields of a device are in `basic`. Of DeviceTaintRule
// also v1 (1.37) and v1alpha3, which differ from v1beta2 in the two fields of v1alpha3 that are
// refused below.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "connectors/kube/projection/projection_fields.h"

namespace fairlead::projection {

// The most that some version of an API server lets pass. Later ones allow fewer in some cases (64
// devices where one has taints), but what an older server serves has to be read.
constexpr std::size_t kDevicesMax = 128;
constexpr std::size_t kAttributesAndCapacitiesMax = 32;  // of one device
constexpr std::size_t kCounterSetsMax = 32;              // of a slice, or that a device consumes
constexpr std::size_t kCountersMax = 32;                 // of one set

void expect_at_most(std::size_t most, JsonView list, std::string_view field,
                    ObjectRefusal& refused) {
  if (list.given() && !list.is(JsonKind::array)) refused.note(field, "no list");
  if (list.size() > most) refused.note(field, "more than " + std::to_string(most) + " entries");
}

std::string_view expect_text(JsonView value, std::string_view field, ObjectRefusal& refused) {
  if (value.string().empty()) refused.note(field, "missing or no text");
  return value.string();
}

Quantity quantity_or_zero(JsonView value, std::string_view field, ObjectRefusal& refused) {
  if (!value.given()) return {};
  return optional_quantity(value, field, refused).value_or(Quantity{});
}

std::optional<Quantity> optional_quantity(JsonView value, std::string_view field,
                                          ObjectRefusal& refused) {
  if (!value.given()) return std::nullopt;
  auto amount = quantity(value);
  if (!amount) refused.note(field, "no quantity");
  return amount;
}

std::map<std::string, Quantity> quantities(JsonView object, std::string_view field,
                                           ObjectRefusal& refused) {
  std::map<std::string, Quantity> out;
  if (object.given() && !object.is(JsonKind::object)) refused.note(field, "no map");
  if (!object.is(JsonKind::object)) return out;
  for (JsonView member : object)
    out.insert_or_assign(std::string(member.key()), quantity_or_zero(member, field, refused));
  return out;
}

NodeSelector node_selector(JsonView object) {
  const auto requirements = [](JsonView list) {
    std::vector<NodeRequirement> out;
    for (JsonView item : list) {
      const auto [key, op, values] = item.members("key", "operator", "values");
      out.push_back({std::string(key.string()), std::string(op.string()), string_items(values)});
    }
    return out;
  };
  NodeSelector out;
  for (JsonView term : object["nodeSelectorTerms"]) {
    const auto [expressions, fields] = term.members("matchExpressions", "matchFields");
    out.terms.push_back({requirements(expressions), requirements(fields)});
  }
  return out;
}

namespace {

std::int64_t integer_or_zero(JsonView value, std::string_view field, ObjectRefusal& refused) {
  if (!value.given()) return 0;
  const auto number = value.integer();
  if (!number) refused.note(field, "no integer of 64 bits");
  return number.value_or(0);
}

// Of a slice or of a device; an API server lets exactly one of these fields pass.
NodeReach node_reach(JsonView of, std::string_view field, ObjectRefusal& refused) {
  const auto [node, selector, all, devices] =
      of.members("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection");
  NodeReach out;
  int given = 0;
  const auto is = [&](NodeReachKind kind) {
    out.kind = kind;
    ++given;
  };
  if (!node.string().empty()) {
    is(NodeReachKind::node);
    out.node = node.string();
  }
  if (selector.given()) {
    is(NodeReachKind::selector);
    out.selector = node_selector(selector);
  }
  if (all.is_true()) is(NodeReachKind::all);
  if (devices.is_true()) is(NodeReachKind::devices);
  if (given > 1) refused.note(field, "reaches nodes in more than one way");
  return out;
}

CounterSet counter_set(std::string_view name, JsonView counters, ObjectRefusal& refused) {
  constexpr std::string_view kField = "counters";
  CounterSet out{std::string(name), {}};
  if (name.empty()) refused.note(kField, "of a set without a name");
  if (counters.given() && !counters.is(JsonKind::object)) refused.note(kField, "no map");
  if (counters.size() > kCountersMax) refused.note(kField, "more than 32 in one set");
  for (JsonView counter : counters)
    out.counters.insert_or_assign(std::string(counter.key()),
                                  quantity_or_zero(counter["value"], kField, refused));
  return out;
}

// Empty for a list of values and for a type that is not known: as if the device lacked it.
std::string attribute_text(JsonView attribute, ObjectRefusal& refused) {
  const auto [number, flag, text, version] = attribute.members("int", "bool", "string", "version");
  const auto expect = [&](JsonView value, JsonKind kind) {
    if (!value.is(kind)) refused.note("attributes", "a value is not of its type");
    return value.text();
  };
  if (number.given())
    return kIntAttribute + std::to_string(integer_or_zero(number, "attributes", refused));
  if (flag.given()) return kBoolAttribute + std::string(expect(flag, JsonKind::boolean));
  if (text.given()) return kStringAttribute + std::string(expect(text, JsonKind::string));
  if (version.given()) return kVersionAttribute + std::string(expect(version, JsonKind::string));
  return "";
}

DeviceAttributes device_attributes(JsonView object, ObjectRefusal& refused) {
  std::map<std::string, std::string> out;
  if (object.given() && !object.is(JsonKind::object)) refused.note("attributes", "no map");
  for (JsonView attribute : object)
    if (std::string text = attribute_text(attribute, refused); !text.empty())
      out.insert_or_assign(std::string(attribute.key()), std::move(text));
  return out;
}

CapacityPolicy capacity_policy(JsonView object, ObjectRefusal& refused) {
  constexpr std::string_view kField = "requestPolicy";
  const auto [standard, values, range] = object.members("default", "validValues", "validRange");
  CapacityPolicy out;
  out.standard = optional_quantity(standard, kField, refused);
  for (JsonView value : values) out.values.push_back(quantity_or_zero(value, kField, refused));
  if (!range.given()) return out;
  if (!out.values.empty()) refused.note(kField, "values and a range");
  const auto [min, max, step] = range.members("min", "max", "step");
  out.min = quantity_or_zero(min, kField, refused);
  out.max = optional_quantity(max, kField, refused);
  out.step = optional_quantity(step, kField, refused);
  return out;
}

std::vector<DeviceCapacity> device_capacity(JsonView object, ObjectRefusal& refused) {
  std::map<std::string, DeviceCapacity> sorted;
  if (object.given() && !object.is(JsonKind::object)) refused.note("capacity", "no map");
  for (JsonView capacity : object) {
    if (!capacity.is(JsonKind::object)) refused.note("capacity", "an entry is no object");
    const auto [value, policy] = capacity.members("value", "requestPolicy");
    DeviceCapacity of{
        std::string(capacity.key()), quantity_or_zero(value, "capacity", refused), {}};
    CapacityPolicy read = capacity_policy(policy, refused);
    if (read != CapacityPolicy{}) of.policy = std::move(read);
    sorted.insert_or_assign(of.name, std::move(of));
  }
  std::vector<DeviceCapacity> out;
  out.reserve(sorted.size());
  for (auto& [name, of] : sorted) out.push_back(std::move(of));
  return out;
}

DeviceExtras device_extras(JsonView of, NodeReachKind slice_reach, ObjectRefusal& refused) {
  const auto [taints, consumes, shared, binding] =
      of.members("taints", "consumesCounters", "allowMultipleAllocations", "bindingConditions");
  DeviceExtras out;
  if (slice_reach == NodeReachKind::devices) out.reach = node_reach(of, "devices", refused);
  out.taints = repelling_taints(taints);
  expect_at_most(kCounterSetsMax, consumes, "consumesCounters", refused);
  for (JsonView item : consumes) {
    const auto [name, counters] = item.members("counterSet", "counters");
    out.consumes.push_back(counter_set(name.string(), counters, refused));
  }
  out.shared = shared.is_true();
  out.binds = binding.size() > 0;
  return out;
}

DeviceFacts device(JsonView object, NodeReachKind slice_reach, ApiReading& api) {
  DeviceFacts out;
  out.name = expect_text(object["name"], "devices.name", api.refused);
  JsonView of = api.version == kFlatDeviceApi ? object["basic"] : object;
  const auto [attributes, capacity] = of.members("attributes", "capacity");
  if (attributes.size() + capacity.size() > kAttributesAndCapacitiesMax)
    api.refused.note("devices", "more than 32 attributes and capacities of one device");
  out.attributes = device_attributes(attributes, api.refused);
  out.capacity = device_capacity(capacity, api.refused);
  DeviceExtras extras = device_extras(of, slice_reach, api.refused);
  if (extras != DeviceExtras{}) out.extras = std::move(extras);
  return out;
}

}  // namespace

template <>
ResourceSliceFacts facts_of(JsonView object, ApiReading& api) {
  JsonView spec = object["spec"];
  const auto [driver, pool, devices, counters] =
      spec.members("driver", "pool", "devices", "sharedCounters");
  ResourceSliceFacts out;
  out.driver = expect_text(driver, "spec.driver", api.refused);
  out.pool = expect_text(pool["name"], "spec.pool.name", api.refused);
  out.generation = integer_or_zero(pool["generation"], "spec.pool.generation", api.refused);
  out.slice_count =
      integer_or_zero(pool["resourceSliceCount"], "spec.pool.resourceSliceCount", api.refused);
  if (out.generation < 0) api.refused.note("spec.pool.generation", "negative");
  if (out.slice_count <= 0) api.refused.note("spec.pool.resourceSliceCount", "not above zero");
  out.reach = node_reach(spec, "spec", api.refused);
  expect_at_most(kDevicesMax, devices, "spec.devices", api.refused);
  expect_at_most(kCounterSetsMax, counters, "spec.sharedCounters", api.refused);
  if (api.refused) return out;  // what is too long is not walked through
  out.devices.reserve(devices.size());
  for (JsonView item : devices) out.devices.push_back(device(item, out.reach.kind, api));
  for (JsonView set : counters)
    out.counters.push_back(counter_set(set["name"].string(), set["counters"], api.refused));
  return out;
}

template <>
DeviceTaintRuleFacts facts_of(JsonView object, ApiReading& api) {
  const auto [selector, taint] = object["spec"].members("deviceSelector", "taint");
  const auto text = [&](JsonView value) -> std::optional<std::string> {
    if (!value.given()) return std::nullopt;
    return std::string(expect_text(value, "spec.deviceSelector", api.refused));
  };
  DeviceTaintRuleFacts out;
  // Of v1alpha3 before Kubernetes 1.35. Without them the rule would select more than it says.
  for (const char* field : {"deviceClassName", "selectors"})
    if (selector[field].given())
      api.refused.note("spec.deviceSelector", "selects by a class or by CEL");
  out.selects = selector.given();
  out.driver = text(selector["driver"]);
  out.pool = text(selector["pool"]);
  out.device = text(selector["device"]);
  out.taint.key = expect_text(taint["key"], "spec.taint.key", api.refused);
  out.taint.value = taint["value"].string();
  out.taint.effect = expect_text(taint["effect"], "spec.taint.effect", api.refused);
  return out;
}

std::span<const KindProjection> device_projections() {
  static constexpr std::array kAll{
      // A driver writes its slices again where nothing of a device changed; in v1beta1 a device's
      // fields are in `basic`.
      projection_of<ResourceSliceFacts>(
          "metadata.{labels,annotations,ownerReferences} "
          "spec.devices.*.{bindsToNode,bindingFailureConditions} "
          "spec.devices.*.{nodeAllocatableResourceMappings,taints.*.timeAdded} "
          "spec.devices.*.basic.{bindsToNode,bindingFailureConditions} "
          "spec.devices.*.basic.{nodeAllocatableResourceMappings,taints.*.timeAdded}"),
      projection_of<DeviceTaintRuleFacts>(
          "metadata.{labels,annotations} spec.taint.timeAdded status")};
  return kAll;
}

}  // namespace fairlead::projection
