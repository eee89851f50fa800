// Encodes and decodes the projected facts of each kind.
#include "schema/codec_parts.h"

namespace fairlead::stored {

template <class Value, class Stored>
static constexpr bool same(Value value, Stored stored) {
  return static_cast<unsigned>(value) == static_cast<unsigned>(stored);
}
static_assert(std::variant_size_v<value::Facts::Base> == kKindCount);
static_assert(same(value::ConditionStatus::absent, ConditionStatus::ABSENT) &&
              same(value::ConditionStatus::yes, ConditionStatus::YES) &&
              same(value::ConditionStatus::no, ConditionStatus::NO) &&
              same(value::ConditionStatus::unknown, ConditionStatus::UNKNOWN));
static_assert(same(value::QuantityFormat::binary_si, Quantity::Format::BINARY_SI));
constexpr unsigned kConditionStatusCount = 4;
constexpr unsigned kQuantityFormatCount = 2;

__extension__ using Uint128 = unsigned __int128;

value::ConditionStatus read(ConditionStatus status) {
  return read_enum<value::ConditionStatus>(status, kConditionStatusCount, "a condition status");
}

void write(const value::Quantity& quantity, Quantity::Builder out) {
  // Two's complement in both halves: unsigned shifts are defined for negative amounts too.
  const auto bits = static_cast<Uint128>(quantity.nano());
  out.setHigh(static_cast<std::int64_t>(bits >> 64));
  out.setLow(static_cast<std::uint64_t>(bits));
  out.setFormat(static_cast<Quantity::Format>(quantity.format()));
}
value::Quantity read(Quantity::Reader in) {
  const Uint128 high = static_cast<std::uint64_t>(in.getHigh());
  return {
      static_cast<Int128>(high << 64 | in.getLow()),
      read_enum<value::QuantityFormat>(in.getFormat(), kQuantityFormatCount, "a quantity format")};
}

void write(const value::Taint& taint, Taint::Builder out) {
  using Out = Taint::Builder;
  put(out, &Out::setKey, taint.key);
  put(out, &Out::setValue, taint.value);
  put(out, &Out::setEffect, taint.effect);
}
value::Taint read(Taint::Reader in) {
  return {read(in.getKey()), read(in.getValue()), read(in.getEffect())};
}

void write(const value::Toleration& toleration, Toleration::Builder out) {
  using Out = Toleration::Builder;
  put(out, &Out::setKey, toleration.key);
  put(out, &Out::setOp, toleration.op);
  put(out, &Out::setValue, toleration.value);
  put(out, &Out::setEffect, toleration.effect);
}
value::Toleration read(Toleration::Reader in) {
  return {read(in.getKey()), read(in.getOp()), read(in.getValue()), read(in.getEffect())};
}

void write(const value::ConditionFacts& condition, Condition::Builder out) {
  out.setStatus(static_cast<ConditionStatus>(condition.status));
  put(out, &Condition::Builder::setReason, condition.reason);
  out.setObservedGeneration(condition.observed_generation);
}
value::ConditionFacts read(Condition::Reader in) {
  return {read(in.getStatus()), read(in.getReason()), in.getObservedGeneration()};
}

static void write(const value::NodeFacts& node, Node::Builder out) {
  using Out = Node::Builder;
  put_packed(out, &Out::setPackedLabels, node.labels);
  put_list(out, &Out::initTaints, node.taints);
  out.setUnschedulable(node.unschedulable);
  out.setReady(node.ready);
  put_packed(out, &Out::setPackedAllocatable, node.allocatable);
}
static value::NodeFacts read(Node::Reader in) {
  // Records of version 1 have lists. A node without labels has neither, in any version, and reads
  // as empty from the list.
  return {in.hasPackedLabels() ? read_packed_bytes<Labels>(in.getPackedLabels())
                               : read_packed<Labels>(in.getLabels()),
          read_list(in.getTaints()), in.getUnschedulable(), in.getReady(),
          in.hasPackedAllocatable() ? read_packed_bytes<ResourceAmounts>(in.getPackedAllocatable())
                                    : read_packed<ResourceAmounts>(in.getAllocatable())};
}

static void write(const std::pair<const std::string, value::NodeFacts>& node,
                  ClusterMetrics::NamedNode::Builder out) {
  put(out, &ClusterMetrics::NamedNode::Builder::setName, node.first);
  write(node.second, out.initNode());
}
static std::pair<std::string, value::NodeFacts> read(ClusterMetrics::NamedNode::Reader in) {
  return {read(in.getName()), read(in.getNode())};
}
static void write(const value::ClusterMetricsFacts& metrics, ClusterMetrics::Builder out) {
  put_list(out, &ClusterMetrics::Builder::initNodes, metrics.nodes);
}
static value::ClusterMetricsFacts read(ClusterMetrics::Reader in) {
  return {read_map(in.getNodes())};
}

static void write(const value::ManagedClusterFacts& cluster, ManagedCluster::Builder out) {
  put_list(out, &ManagedCluster::Builder::initAllocatable, cluster.allocatable);
  write(cluster.available, out.initAvailable());
  out.setDeleting(cluster.deleting);
  out.setLabelled(cluster.labelled);
}
static value::ManagedClusterFacts read(ManagedCluster::Reader in) {
  return {read_packed<ResourceAmounts>(in.getAllocatable()), read(in.getAvailable()),
          in.getDeleting(), in.getLabelled()};
}

static void write(const value::ClusterProfileFacts& profile, ClusterProfile::Builder out) {
  put(out, &ClusterProfile::Builder::setCluster, profile.cluster);
  out.setLabelled(profile.labelled);
  put_texts(out, &ClusterProfile::Builder::initAccessProviders, profile.access_providers);
}
static value::ClusterProfileFacts read(ClusterProfile::Reader in) {
  return {read(in.getCluster()), in.getLabelled(), read_texts(in.getAccessProviders())};
}

static void write(const value::ResourceFlavorFacts& flavor, ResourceFlavor::Builder out) {
  using Out = ResourceFlavor::Builder;
  put_list(out, &Out::initNodeLabels, flavor.node_labels);
  put_list(out, &Out::initNodeTaints, flavor.node_taints);
  put_list(out, &Out::initTolerations, flavor.tolerations);
  put(out, &Out::setTopologyName, flavor.topology_name);
}
static value::ResourceFlavorFacts read(ResourceFlavor::Reader in) {
  return {read_map(in.getNodeLabels()), read_list(in.getNodeTaints()),
          read_list(in.getTolerations()), read(in.getTopologyName())};
}

static void write_spelled(const value::SpelledQuantity& quantity, Quantity::Builder out) {
  write(quantity, out);
  put(out, &Quantity::Builder::setText, quantity.spelling());
}
static value::SpelledQuantity read_spelled(Quantity::Reader in) {
  return {read(in), read(in.getText())};
}

/// BorrowingLimit and LendingLimit have the same shape.
template <class Limit>
static void write_limit(const std::optional<value::SpelledQuantity>& limit, Limit out) {
  if (limit)
    write_spelled(*limit, out.initLimit());
  else
    out.setNone();
}
template <class Limit>
static std::optional<value::SpelledQuantity> read_limit(Limit in) {
  if (in.isNone()) return std::nullopt;
  if (!in.isLimit()) throw Malformed{"a limit is neither none nor a quantity"};
  return read_spelled(in.getLimit());
}

static void write(const value::ResourceQuota& quota, ResourceQuota::Builder out) {
  put(out, &ResourceQuota::Builder::setName, quota.name);
  write_spelled(quota.nominal, out.initNominal());
  write_limit(quota.borrowing_limit, out.getBorrowingLimit());
  write_limit(quota.lending_limit, out.getLendingLimit());
}
static value::ResourceQuota read(ResourceQuota::Reader in) {
  return {read(in.getName()), read_spelled(in.getNominal()), read_limit(in.getBorrowingLimit()),
          read_limit(in.getLendingLimit())};
}

static void write(const value::FlavorQuotas& flavor, FlavorQuotas::Builder out) {
  put(out, &FlavorQuotas::Builder::setName, flavor.name);
  put_list(out, &FlavorQuotas::Builder::initResources, flavor.resources);
}
static value::FlavorQuotas read(FlavorQuotas::Reader in) {
  return {read(in.getName()), read_list(in.getResources())};
}

void write(const value::FlavorUsage& usage, FlavorUsage::Builder out) {
  put(out, &FlavorUsage::Builder::setFlavor, usage.flavor);
  put(out, &FlavorUsage::Builder::setResource, usage.resource);
  out.setTotal(usage.total);
}
value::FlavorUsage read(FlavorUsage::Reader in) {
  return {read(in.getFlavor()), read(in.getResource()), in.getTotal()};
}

static void write(const value::WorkerQuotaTerms& terms, WorkerQuotaTerms::Builder out) {
  put(out, &WorkerQuotaTerms::Builder::setFrom, terms.from);
  put(out, &WorkerQuotaTerms::Builder::setPercent, terms.percent);
  put(out, &WorkerQuotaTerms::Builder::setReserve, terms.reserve);
}
static value::WorkerQuotaTerms read(WorkerQuotaTerms::Reader in) {
  return {read(in.getFrom()), read(in.getPercent()), read(in.getReserve())};
}

void write(const value::EffectiveQuotas& quotas, EffectiveQuotas::Builder out) {
  using Out = EffectiveQuotas::Builder;
  // An empty list and an absent one have the same stored form: the flag keeps quotas without groups
  // apart from none.
  out.setGiven(true);
  put(out, &Out::setApiGroup, quotas.orchestrator.api_group);
  put(out, &Out::setKind, quotas.orchestrator.kind);
  put(out, &Out::setName, quotas.orchestrator.name);
  put_list(out, &Out::initGroups, quotas.groups);
}
std::optional<value::EffectiveQuotas> read(EffectiveQuotas::Reader in) {
  if (!in.getGiven()) return std::nullopt;
  return value::EffectiveQuotas{{read(in.getApiGroup()), read(in.getKind()), read(in.getName())},
                                read_list(in.getGroups())};
}

static void write(const value::ClusterQueueFacts& queue, ClusterQueue::Builder out) {
  using Out = ClusterQueue::Builder;
  put_list(out, &Out::initGroups, queue.groups);
  put(out, &Out::setCohort, queue.cohort);
  put(out, &Out::setNamespaceSelector, queue.namespace_selector);
  put(out, &Out::setQueueingStrategy, queue.queueing_strategy);
  put(out, &Out::setPreemption, queue.preemption);
  put(out, &Out::setStopPolicy, queue.stop_policy);
  put_texts(out, &Out::initAdmissionChecks, queue.admission_checks);
  put(out, &Out::setBaseQuota, queue.base_quota);
  out.setExtendResourceGroups(queue.extend_resource_groups);
  put_list(out, &Out::initUsage, queue.usage);
  write(queue.active, out.initActive());
  out.setDeleting(queue.deleting);
  if (queue.worker_quota != value::WorkerQuotaTerms{})
    write(queue.worker_quota, out.initWorkerQuota());
  if (queue.effective) write(*queue.effective, out.initEffective());
  if (queue.sharing) write(*queue.sharing, out.initSharing());
}
static value::ClusterQueueFacts read(ClusterQueue::Reader in) {
  return {read_list(in.getGroups()),
          read(in.getCohort()),
          read(in.getNamespaceSelector()),
          read(in.getQueueingStrategy()),
          read(in.getPreemption()),
          read(in.getStopPolicy()),
          read_texts(in.getAdmissionChecks()),
          read(in.getBaseQuota()),
          in.getExtendResourceGroups(),
          read(in.getWorkerQuota()),
          read_list(in.getUsage()),
          read(in.getActive()),
          in.getDeleting(),
          read(in.getEffective()),
          read(in.getSharing())};
}

static void write(const value::LocalQueueFacts& queue, LocalQueue::Builder out) {
  put(out, &LocalQueue::Builder::setClusterQueue, queue.cluster_queue);
  put(out, &LocalQueue::Builder::setStopPolicy, queue.stop_policy);
  if (queue.active != value::ConditionFacts{}) write(queue.active, out.initActive());
}
static value::LocalQueueFacts read(LocalQueue::Reader in) {
  return {read(in.getClusterQueue()), read(in.getStopPolicy()), read(in.getActive())};
}

static void write(const value::ClaimAssignment& row, ClaimAssignment::Builder out) {
  using Out = ClaimAssignment::Builder;
  put(out, &Out::setClusterQueue, row.cluster_queue);
  put(out, &Out::setFlavor, row.flavor);
  put_list(out, &Out::initResources, row.resources);
  put_list(out, &Out::initMinResources, row.min_resources);
  if (row.priority) out.getPriority().setValue(*row.priority);
}
static value::ClaimAssignment read(ClaimAssignment::Reader in) {
  value::ClaimAssignment row{read(in.getClusterQueue()), read(in.getFlavor()),
                             read_map(in.getResources()), read_map(in.getMinResources()),
                             std::nullopt};
  if (in.getPriority().isValue())
    row.priority = in.getPriority().getValue();
  else if (!in.getPriority().isNone())
    throw Malformed{"a priority is neither none nor a number"};
  return row;
}

static void write(const value::ClaimHeadroom& headroom, ClaimHeadroom::Builder out) {
  using Out = ClaimHeadroom::Builder;
  // The flag keeps an empty map, which replaces the configured one, apart from no map.
  out.setPercentGiven(headroom.percent.has_value());
  if (headroom.percent) put_list(out, &Out::initPercent, *headroom.percent);
  out.setReservedGiven(headroom.reserved.has_value());
  if (headroom.reserved) put_list(out, &Out::initReserved, *headroom.reserved);
}
static value::ClaimHeadroom read(ClaimHeadroom::Reader in) {
  value::ClaimHeadroom headroom;
  if (in.getPercentGiven()) headroom.percent = read_map(in.getPercent());
  if (in.getReservedGiven()) headroom.reserved = read_map(in.getReserved());
  return headroom;
}

static void write(const value::ClaimSpec& spec, ClaimSpec::Builder out) {
  using Out = ClaimSpec::Builder;
  put(out, &Out::setClusterName, spec.cluster_name);
  put_list(out, &Out::initNominalResources, spec.nominal_resources);
  put_list(out, &Out::initAssignments, spec.assignments);
  put(out, &Out::setNominalPolicy, spec.nominal_policy);
  put(out, &Out::setShrinkPolicy, spec.shrink_policy);
  put(out, &Out::setFlavorCapacity, spec.flavor_capacity);
  write(spec.headroom, out.initHeadroom());
  put(out, &Out::setMalformed, spec.malformed);
}
static value::ClaimSpec read(ClaimSpec::Reader in) {
  return {read(in.getClusterName()),      read_map(in.getNominalResources()),
          read_list(in.getAssignments()), read(in.getNominalPolicy()),
          read(in.getShrinkPolicy()),     read(in.getFlavorCapacity()),
          read(in.getHeadroom()),         read(in.getMalformed())};
}

static void write(const value::ClaimGrant& grant, ClaimGrant::Builder out) {
  using Out = ClaimGrant::Builder;
  put(out, &Out::setClusterQueue, grant.cluster_queue);
  put(out, &Out::setFlavor, grant.flavor);
  put(out, &Out::setResource, grant.resource);
  put(out, &Out::setGranted, grant.granted);
}
static value::ClaimGrant read(ClaimGrant::Reader in) {
  return {read(in.getClusterQueue()), read(in.getFlavor()), read(in.getResource()),
          read(in.getGranted())};
}

static void write(const value::ClaimFacts& claim, Claim::Builder out) {
  using Out = Claim::Builder;
  write(claim.spec, out.initSpec());
  out.setCreated(claim.created.ns);
  out.setDeleting(claim.deleting);
  put_texts(out, &Out::initFinalizers, claim.finalizers);
  put_list(out, &Out::initDebounce, claim.debounce);
  put_list(out, &Out::initStatusGrants, claim.status_grants);
  put(out, &Out::setStatusDigest, claim.status_digest);
}
static value::ClaimFacts read(Claim::Reader in) {
  return {read(in.getSpec()),
          LogTime{in.getCreated()},
          in.getDeleting(),
          read_texts(in.getFinalizers()),
          read_map(in.getDebounce()),
          read_list(in.getStatusGrants()),
          read_digest(in.getStatusDigest())};
}

using FactsBuilder = Facts::Builder;

/// One overload for each kind: initialises its member of the union.
static Node::Builder member(const value::NodeFacts&, FactsBuilder out) { return out.initNode(); }
static auto member(const value::ClusterMetricsFacts&, FactsBuilder out) {
  return out.initClusterMetrics();
}
static auto member(const value::ManagedClusterFacts&, FactsBuilder out) {
  return out.initManagedCluster();
}
static auto member(const value::ClusterProfileFacts&, FactsBuilder out) {
  return out.initClusterProfile();
}
static auto member(const value::ResourceFlavorFacts&, FactsBuilder out) {
  return out.initResourceFlavor();
}
static auto member(const value::ClusterQueueFacts&, FactsBuilder out) {
  return out.initClusterQueue();
}
static auto member(const value::LocalQueueFacts&, FactsBuilder out) { return out.initLocalQueue(); }
static auto member(const value::AdmissionCheckFacts&, FactsBuilder out) {
  return out.initAdmissionCheck();
}
static auto member(const value::MultiKueueConfigFacts&, FactsBuilder out) {
  return out.initMultikueueConfig();
}
static auto member(const value::ManifestWorkFacts&, FactsBuilder out) {
  return out.initManifestWork();
}
static auto member(const value::ClaimFacts&, FactsBuilder out) { return out.initClaim(); }
static auto member(const value::MultiKueueClusterFacts&, FactsBuilder out) {
  return out.initMultikueueCluster();
}
static auto member(const value::PlacementFacts&, FactsBuilder out) { return out.initPlacement(); }
static auto member(const value::PlacementDecisionFacts&, FactsBuilder out) {
  return out.initPlacementDecision();
}
static auto member(const value::AddOnPlacementScoreFacts&, FactsBuilder out) {
  return out.initAddonPlacementScore();
}
static auto member(const value::WorkloadFacts&, FactsBuilder out) { return out.initWorkload(); }
static auto member(const value::SecretFacts&, FactsBuilder out) { return out.initSecret(); }
static auto member(const value::CustomResourceDefinitionFacts&, FactsBuilder out) {
  return out.initCustomResourceDefinition();
}
static auto member(const value::BindingPolicyFacts&, FactsBuilder out) {
  return out.initBindingPolicy();
}
static auto member(const value::CohortFacts&, FactsBuilder out) { return out.initCohort(); }
static auto member(const value::MutatingAdmissionPolicyFacts&, FactsBuilder out) {
  return out.initMutatingAdmissionPolicy();
}

static auto member(const value::VirtualClusterFacts&, FactsBuilder out) {
  return out.initVirtualCluster();
}
static auto member(const value::NamespaceFacts&, FactsBuilder out) { return out.initNamespace(); }
static auto member(const value::ResourceQuotaFacts&, FactsBuilder out) {
  return out.initResourceQuota();
}
static auto member(const value::PodFacts&, FactsBuilder out) { return out.initPod(); }
static auto member(const value::ConfigMapFacts&, FactsBuilder out) { return out.initConfigMap(); }

static auto member(const value::ResourceSliceFacts&, FactsBuilder out) {
  return out.initResourceSlice();
}
static auto member(const value::DeviceClassFacts&, FactsBuilder out) {
  return out.initDeviceClass();
}
static auto member(const value::ResourceClaimFacts&, FactsBuilder out) {
  return out.initResourceClaim();
}
static auto member(const value::ResourceClaimTemplateFacts&, FactsBuilder out) {
  return out.initResourceClaimTemplate();
}
static auto member(const value::DeviceTaintRuleFacts&, FactsBuilder out) {
  return out.initDeviceTaintRule();
}

static auto member(const value::FleetResourceClassFacts&, FactsBuilder out) {
  return out.initFleetResourceClass();
}
static auto member(const value::FleetResourceClaimFacts&, FactsBuilder out) {
  return out.initFleetResourceClaim();
}
static auto member(const value::FleetResourceClaimTemplateFacts&, FactsBuilder out) {
  return out.initFleetResourceClaimTemplate();
}
static auto member(const value::FleetSchedulingFacts&, FactsBuilder out) {
  return out.initFleetScheduling();
}
static auto member(const value::TopologyFacts&, FactsBuilder out) { return out.initTopology(); }

void write(const value::ResourceGroup& group, ResourceGroup::Builder out) {
  put_texts(out, &ResourceGroup::Builder::initCoveredResources, group.covered_resources);
  put_list(out, &ResourceGroup::Builder::initFlavors, group.flavors);
}
value::ResourceGroup read(ResourceGroup::Reader in) {
  return {read_texts(in.getCoveredResources()), read_list(in.getFlavors())};
}

void write(const value::Facts& facts, FactsBuilder out) {
  std::visit([out](const auto& of_kind) { write(of_kind, member(of_kind, out)); }, facts);
}

value::Facts read(Facts::Reader in) {
  using Which = Facts::Which;
  switch (in.which()) {
    case Which::NODE: return read(in.getNode());
    case Which::CLUSTER_METRICS: return read(in.getClusterMetrics());
    case Which::MANAGED_CLUSTER: return read(in.getManagedCluster());
    case Which::CLUSTER_PROFILE: return read(in.getClusterProfile());
    case Which::RESOURCE_FLAVOR: return read(in.getResourceFlavor());
    case Which::CLUSTER_QUEUE: return read(in.getClusterQueue());
    case Which::LOCAL_QUEUE: return read(in.getLocalQueue());
    case Which::ADMISSION_CHECK: return read(in.getAdmissionCheck());
    case Which::MULTIKUEUE_CONFIG: return read(in.getMultikueueConfig());
    case Which::MANIFEST_WORK: return read(in.getManifestWork());
    case Which::CLAIM: return read(in.getClaim());
    case Which::MULTIKUEUE_CLUSTER: return read(in.getMultikueueCluster());
    case Which::PLACEMENT: return read(in.getPlacement());
    case Which::PLACEMENT_DECISION: return read(in.getPlacementDecision());
    case Which::ADDON_PLACEMENT_SCORE: return read(in.getAddonPlacementScore());
    case Which::WORKLOAD: return read(in.getWorkload());
    case Which::SECRET: return read(in.getSecret());
    case Which::CUSTOM_RESOURCE_DEFINITION: return read(in.getCustomResourceDefinition());
    case Which::BINDING_POLICY: return read(in.getBindingPolicy());
    case Which::COHORT: return read(in.getCohort());
    case Which::MUTATING_ADMISSION_POLICY: return read(in.getMutatingAdmissionPolicy());
    case Which::VIRTUAL_CLUSTER: return read(in.getVirtualCluster());
    case Which::NAMESPACE: return read(in.getNamespace());
    case Which::RESOURCE_QUOTA: return read(in.getResourceQuota());
    case Which::POD: return read(in.getPod());
    case Which::CONFIG_MAP: return read(in.getConfigMap());
    case Which::RESOURCE_SLICE: return read(in.getResourceSlice());
    case Which::DEVICE_CLASS: return read(in.getDeviceClass());
    case Which::RESOURCE_CLAIM: return read(in.getResourceClaim());
    case Which::RESOURCE_CLAIM_TEMPLATE: return read(in.getResourceClaimTemplate());
    case Which::DEVICE_TAINT_RULE: return read(in.getDeviceTaintRule());
    case Which::FLEET_RESOURCE_CLASS: return read(in.getFleetResourceClass());
    case Which::FLEET_RESOURCE_CLAIM: return read(in.getFleetResourceClaim());
    case Which::FLEET_RESOURCE_CLAIM_TEMPLATE: return read(in.getFleetResourceClaimTemplate());
    case Which::FLEET_SCHEDULING: return read(in.getFleetScheduling());
    case Which::TOPOLOGY: return read(in.getTopology());
  }
  throw Malformed{"the facts are of an unknown kind"};
}

}  // namespace fairlead::stored
