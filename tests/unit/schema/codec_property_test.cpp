// Random events: rapidcheck makes them, and the codec must give them back.
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "schema/codec.h"

namespace fairlead {
namespace {

rc::Gen<Quantity> any_quantity() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::arbitrary<std::int64_t>(), rc::gen::arbitrary<std::uint64_t>(),
                     rc::gen::arbitrary<bool>()),
      [](const std::tuple<std::int64_t, std::uint64_t, bool>& parts) {
        const Int128 nano = static_cast<Int128>(std::get<0>(parts)) * (Int128{1} << 62) +
                            static_cast<Int128>(std::get<1>(parts));
        return Quantity{
            nano, std::get<2>(parts) ? QuantityFormat::binary_si : QuantityFormat::decimal_si};
      });
}

template <class T>
T any() {
  return *rc::gen::arbitrary<T>();
}

ConditionFacts any_condition() {
  return {*rc::gen::element(ConditionStatus::absent, ConditionStatus::yes, ConditionStatus::no,
                            ConditionStatus::unknown),
          any<std::string>(), any<std::int64_t>()};
}

NodeFacts any_node() {
  NodeFacts node;
  node.labels = any<std::map<std::string, std::string>>();
  node.unschedulable = any<bool>();
  node.ready = any<bool>();
  node.allocatable = any<std::map<std::string, std::int64_t>>();
  for (const std::string& key : any<std::vector<std::string>>())
    node.taints.push_back({key, any<std::string>(), any<std::string>()});
  return node;
}

std::vector<ResourceGroup> any_groups() {
  FlavorQuotas flavor{any<std::string>(), {}};
  for (const std::string& name : any<std::vector<std::string>>()) {
    ResourceQuota quota;
    quota.name = name;
    quota.nominal = *any_quantity();
    if (any<bool>()) quota.borrowing_limit = *any_quantity();
    if (any<bool>()) quota.lending_limit = *any_quantity();
    flavor.resources.push_back(quota);
  }
  return {{any<std::vector<std::string>>(), {flavor}}};
}

std::optional<Quantity> any_weight() {
  return any<bool>() ? std::optional(*any_quantity()) : std::nullopt;
}

CohortFacts any_cohort() {
  CohortFacts cohort{any<std::string>()};
  if (any<bool>()) cohort.terms = CohortTerms{any_groups(), any_weight()};
  return cohort;
}

ClusterQueueFacts any_cluster_queue() {
  ClusterQueueFacts queue;
  queue.groups = any_groups();
  queue.cohort = any<std::string>();
  queue.admission_checks = any<std::vector<std::string>>();
  queue.active = any_condition();
  queue.deleting = any<bool>();
  if (any<bool>())
    queue.sharing = SharingTerms{any_weight(), any<std::string>(), any<std::string>(),
                                 any<std::string>(), any<std::string>()};
  return queue;
}

using Texts = std::vector<std::string>;

OwnerMark any_mark() { return {any<bool>(), any<std::string>()}; }

AdmissionCheckFacts any_admission_check() {
  return {any<std::string>(),
          any<std::string>(),
          any<std::string>(),
          any<std::string>(),
          any<std::map<std::string, std::string>>(),
          any<Texts>(),
          any_condition(),
          any_condition(),
          any<bool>(),
          any_condition()};
}

PlacementFacts any_placement() {
  PlacementFacts placement{{}, any<bool>()};
  for (const std::string& name : any<Texts>())
    placement.prioritizers.push_back({name, any<std::string>(), any<std::int64_t>()});
  return placement;
}

AddOnPlacementScoreFacts any_score() {
  AddOnPlacementScoreFacts score{any<std::map<std::string, std::int64_t>>(), std::nullopt};
  if (any<bool>()) score.valid_until = LogTime{any<std::int64_t>()};
  return score;
}

using AnyAmounts = std::map<std::string, Amount>;

/// Absent, empty or a text: a tenant's annotation may be each of them.
std::optional<std::string> any_annotation() {
  if (any<bool>()) return std::nullopt;
  return any<bool>() ? any<std::string>() : std::string();
}

NamespaceFacts any_namespace() {
  return {any_annotation(),   any_annotation(),   any_annotation(),   any_annotation(),
          any<std::string>(), any<std::string>(), any<std::string>(), any<bool>()};
}

PodDeviceFacts any_pod_devices();

PodFacts any_pod() {
  PodFacts pod{any_annotation(), any_annotation(), any<AnyAmounts>(), any<bool>(), any<bool>(),
               any<bool>(),      any<bool>(),      any<bool>(),       {},          {}};
  if (any<bool>()) pod.devices = any_pod_devices();
  pod.set_origin({any<std::string>(), any<std::string>(), any<std::string>()});
  return pod;
}

/// Of the kinds of the super cluster pool.
Facts any_pool_facts() {
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return VirtualClusterFacts{any<std::string>(), any<std::string>(), any<std::string>(),
                                 any_annotation()};
    case 1: return any_namespace();
    case 2: return ResourceQuotaFacts{any<AnyAmounts>(), any<bool>()};
    case 3: return any_pod();
    default: return ConfigMapFacts{any_annotation()};
  }
}

/// A few of them: facts of devices are deep, and lists of the usual size would make them large.
template <class Make>
auto few(const Make& make) {
  std::vector<decltype(make())> items;
  for (int count = *rc::gen::inRange(0, 3); count > 0; --count) items.push_back(make());
  return items;
}
template <class T, class Make>
std::optional<T> perhaps(const Make& make) {
  return any<bool>() ? std::optional<T>(make()) : std::nullopt;
}

/// What a text can say: within 64 bits of nano.
Quantity any_device_quantity() {
  return {any<std::int64_t>(),
          any<bool>() ? QuantityFormat::binary_si : QuantityFormat::decimal_si};
}
std::map<std::string, Quantity> any_quantities() {
  std::map<std::string, Quantity> map;
  for (const std::string& name : few(any<std::string>)) map[name] = any_device_quantity();
  return map;
}
CounterSet any_counter_set() { return {any<std::string>(), any_quantities()}; }
Taint any_device_taint() { return {any<std::string>(), any<std::string>(), any<std::string>()}; }

NodeSelector any_node_selector() {
  const auto requirement = [] {
    return NodeRequirement{any<std::string>(), any<std::string>(), few(any<std::string>)};
  };
  return {few([&] { return NodeSelectorTerm{few(requirement), few(requirement)}; })};
}
NodeReach any_reach() {
  return {*rc::gen::element(NodeReachKind::none, NodeReachKind::node, NodeReachKind::selector,
                            NodeReachKind::all, NodeReachKind::devices),
          any<std::string>(), any_node_selector()};
}

DeviceCapacity any_device_capacity() {
  DeviceCapacity capacity{any<std::string>(), any_device_quantity(), {}};
  if (any<bool>())
    capacity.policy = CapacityPolicy{
        perhaps<Quantity>(any_device_quantity), few(any_device_quantity),
        perhaps<Quantity>(any_device_quantity), perhaps<Quantity>(any_device_quantity),
        perhaps<Quantity>(any_device_quantity)};
  return capacity;
}
DeviceFacts any_device() {
  DeviceFacts device;
  device.name = any<std::string>();
  device.attributes = any<std::map<std::string, std::string>>();
  device.capacity = few(any_device_capacity);
  if (any<bool>())
    device.extras = DeviceExtras{any_reach(), few(any_device_taint), few(any_counter_set),
                                 any<bool>(), any<bool>()};
  return device;
}

std::vector<DeviceSelector> any_selectors() {
  return few([] { return DeviceSelector{any_annotation()}; });
}
Toleration any_toleration() {
  return {any<std::string>(), any<std::string>(), any<std::string>(), any<std::string>()};
}
DeviceAsk any_ask() {
  return {any<std::string>(),
          any<std::string>(),
          any_selectors(),
          *rc::gen::element(AllocationMode::exact, AllocationMode::all, AllocationMode::unknown),
          any<std::int64_t>(),
          any<bool>(),
          few(any_toleration),
          any_quantities()};
}
DeviceClaimSpec any_claim_spec() {
  return {few([] { return DeviceRequest{any<std::string>(), any<bool>(), few(any_ask)}; }), few([] {
            return DeviceConstraint{few(any<std::string>), any<std::string>(), any<std::string>()};
          })};
}
ClaimAllocation any_allocation() {
  const auto device = [] {
    return AllocatedDevice{any<std::string>(), any<std::string>(), any<std::string>(),
                           any<std::string>(), any<bool>(),        any<std::string>(),
                           any_quantities()};
  };
  return {few(device), perhaps<NodeSelector>(any_node_selector)};
}
ClaimConsumer any_consumer() {
  return {any<std::string>(), any<std::string>(), any<std::string>(), any<std::string>()};
}
ResourceClaimFacts any_resource_claim() {
  return {any_claim_spec(),   perhaps<ClaimAllocation>(any_allocation),
          few(any_consumer),  few(any<std::string>),
          any<std::string>(), any<bool>(),
          any<bool>()};
}

PodClaim any_pod_claim() { return {any<std::string>(), any<std::string>(), any<std::string>()}; }
PodDeviceFacts any_pod_devices() {
  return {few(any_pod_claim), any<AnyAmounts>(), any<std::map<std::string, std::string>>(),
          perhaps<NodeSelector>(any_node_selector), few(any_toleration)};
}
FleetClaimEntries any_fleet_entries() { return {few(any_pod_claim), any<std::string>()}; }

WorkloadFacts any_workload() {
  const auto pod_set = [] {
    return WorkloadPodSet{any<std::string>(), any<std::int64_t>(),
                          perhaps<std::int64_t>(any<std::int64_t>), any_pod_devices(),
                          any_fleet_entries()};
  };
  WorkloadFacts workload{{},           any<std::string>(),  any<Texts>(),
                         any<bool>(),  any<bool>(),         any<bool>(),
                         any<bool>(),  any<std::int64_t>(), LogTime{any<std::int64_t>()},
                         few(pod_set), any_condition()};
  for (const std::string& name : any<Texts>())
    workload.checks.push_back({name, any<std::string>()});
  return workload;
}

/// Of the kinds of Dynamic Resource Allocation.
Facts any_device_facts() {
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return ResourceSliceFacts{any<std::string>(),  any<std::string>(), any<std::int64_t>(),
                                any<std::int64_t>(), any_reach(),        few(any_device),
                                few(any_counter_set)};
    case 1: return DeviceClassFacts{any_selectors(), any<std::string>(), any<std::int64_t>()};
    case 2: return any_resource_claim();
    case 3: return ResourceClaimTemplateFacts{any_claim_spec()};
    default:
      return DeviceTaintRuleFacts{any<bool>(), any_annotation(), any_annotation(), any_annotation(),
                                  any_device_taint()};
  }
}

FleetParameters any_parameters() {
  if (any<bool>()) return {};
  return {any<std::string>(), any<std::string>(), any<std::string>()};
}
FleetClaimSpec any_fleet_spec() { return {any<std::string>(), any_parameters(), any<bool>()}; }
FleetAllocation any_fleet_allocation() {
  return {perhaps<std::vector<std::string>>(any<Texts>), any<bool>(),
          perhaps<std::vector<std::string>>(any<Texts>)};
}
/// Of the kinds of fleet claims.
Facts any_fleet_facts() {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return FleetResourceClassFacts{any<std::string>(), any_parameters(),
                                     perhaps<std::vector<std::string>>(any<Texts>)};
    case 1:
      return FleetResourceClaimFacts{any_fleet_spec(),
                                     any<std::string>(),
                                     perhaps<FleetAllocation>(any_fleet_allocation),
                                     few(any_consumer),
                                     any<bool>(),
                                     any<Texts>(),
                                     LogTime{any<std::int64_t>()},
                                     any<bool>()};
    case 2:
      return FleetResourceClaimTemplateFacts{any<std::map<std::string, std::string>>(),
                                             any<std::map<std::string, std::string>>(),
                                             any_fleet_spec()};
    default:
      return FleetSchedulingFacts{any<Texts>(), any<std::string>(),
                                  any<std::map<std::string, Texts>>(), any<Texts>()};
  }
}

Facts any_facts() {
  switch (*rc::gen::inRange(0, 18)) {
    case 17: return any_cohort();
    case 16: return TopologyFacts{any<Texts>()};
    case 15: return any_fleet_facts();
    case 9:
    case 10:
    case 11: return any_pool_facts();
    case 12:
    case 13:
    case 14: return any_device_facts();
    case 0: return any_node();
    case 1: return any_cluster_queue();
    case 2: return any_admission_check();
    case 3: return MultiKueueConfigFacts{any<Texts>(), any<std::string>(), any_mark(), any<bool>()};
    case 4:
      return MultiKueueClusterFacts{any<std::string>(), any<std::string>(), any<std::string>(),
                                    any_mark(),         any_condition(),    any<bool>()};
    case 5: return any_placement();
    case 6: return any_score();
    case 7: return any_workload();
    default: {
      ClaimFacts claim;
      claim.spec.nominal_resources = any<std::map<std::string, std::string>>();
      if (any<bool>()) claim.spec.headroom.percent = any<std::map<std::string, std::string>>();
      ClaimAssignment row;
      if (any<bool>()) row.priority = any<std::int32_t>();
      claim.spec.assignments.assign(static_cast<std::size_t>(*rc::gen::inRange(0, 3)), row);
      claim.created = LogTime{any<std::int64_t>()};
      claim.finalizers = any<std::vector<std::string>>();
      return claim;
    }
  }
}

/// Often empty: what is absent at the end of a struct takes no place.
std::string any_text() { return any<bool>() ? any<std::string>() : std::string(); }

/// A node of which anything may be absent.
Event any_sparse_node() {
  Event event;
  const auto number = [] { return any<bool>() ? any<std::uint64_t>() : 0; };
  event.seq = Seq{number()};
  event.log_time = LogTime{static_cast<std::int64_t>(number())};
  event.epoch = Epoch{number()};
  event.cause = Seq{number()};
  event.source = any_text();
  NodeFacts node;
  if (any<bool>()) node = any_node();
  if (any<bool>()) node.labels = {};
  if (any<bool>()) node.allocatable = {};
  node.taints.resize(static_cast<std::size_t>(*rc::gen::inRange(0, 4)));
  const bool keys = any<bool>(), values = any<bool>(), effects = any<bool>();
  for (Taint& taint : node.taints)
    taint = {keys ? any_text() : "", values ? any_text() : "", effects ? any_text() : ""};
  ObjectObserved observed;
  observed.key = {Kind::node, any_text(), any_text()};
  observed.version = any_text();
  observed.uid = any_text();
  observed.resource_version = any_text();
  observed.generation = static_cast<std::int64_t>(number());
  observed.facts = node;
  if (any<bool>()) observed.raw_digest = sha256(any<std::string>());
  event.fact = observed;
  return event;
}

/// One to three words of `bytes` changed: by a bit, into another of them, or into zeros; or fewer
/// words or more.
std::string damaged(std::string bytes) {
  constexpr std::size_t kWord = 8;
  const auto below = [](std::size_t end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, end));
  };
  const std::size_t words = bytes.size() / kWord;
  for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
    char* const word = bytes.data() + below(words) * kWord;
    switch (below(3)) {
      case 0: word[below(kWord)] ^= static_cast<char>(1 << below(8)); break;
      case 1: std::copy_n(bytes.data() + below(words) * kWord, kWord, word); break;
      default: std::fill_n(word, kWord, '\0');
    }
  }
  if (below(8) == 0) bytes.resize((words + below(3)) * kWord);
  if (below(8) == 0) bytes.resize(below(words) * kWord);
  return bytes;
}

Event any_event() {
  Event event;
  event.seq = Seq{any<std::uint64_t>()};
  event.log_time = LogTime{any<std::int64_t>()};
  event.epoch = Epoch{any<std::uint64_t>()};
  event.source = any<std::string>();
  event.cause = Seq{any<std::uint64_t>()};
  ObjectObserved observed;
  observed.facts = any_facts();
  observed.key = {static_cast<Kind>(observed.facts.index()), any<std::string>(),
                  any<std::string>()};
  observed.uid = any<std::string>();
  observed.generation = any<std::int64_t>();
  event.fact = observed;
  return event;
}

TEST_CASE("Any event survives the codec, and its bytes are canonical") {
  CHECK(rc::check([] {
    const Event event = any_event();
    const std::string bytes = encode(event);
    const auto decoded = decode(bytes);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == event);
    RC_ASSERT(encode(*decoded) == bytes);
    std::string message;
    encode_as_message(event, message);
    RC_ASSERT(message == bytes);
  }));
}

TEST_CASE("A node is encoded as its message is, whatever is absent") {
  CHECK(rc::check([] {
    const Event event = any_sparse_node();
    std::string bytes(16, 'x');
    std::string message = bytes;
    encode_to(event, bytes);
    encode_as_message(event, message);
    RC_ASSERT(bytes == message);
    RC_ASSERT(*decode(std::string_view(bytes).substr(16)) == event);
  }));
}

TEST_CASE("A record of a node is read in place as its message is, whole or damaged") {
  CHECK(rc::check([] {
    const Event event = any_sparse_node();
    const std::string bytes = encode(event);
    Event read = any_sparse_node();
    RC_ASSERT(decode_into(bytes, read).has_value());
    RC_ASSERT(read == event);
    for (int i = 0; i < 20; ++i) {
      const std::string wrong = damaged(bytes);
      const auto judged = decode(wrong);
      const auto into = decode_into(wrong, read);
      RC_ASSERT(into.has_value() == judged.has_value());
      if (judged) RC_ASSERT(read == *judged);
      if (!judged) RC_ASSERT(into.error().message == judged.error().message);
    }
  }));
}

TEST_CASE("No bytes make the reader crash") {
  CHECK(rc::check([] {
    std::string bytes = any<std::string>();
    bytes.resize((bytes.size() + 7) / 8 * 8);
    const auto decoded = decode(bytes);
    if (decoded.has_value()) {
      RC_ASSERT(decode(encode(*decoded)).has_value());
    }
  }));
}

}  // namespace
}  // namespace fairlead
