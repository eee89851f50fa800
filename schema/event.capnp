@0xd3b1f0a2c45e6978;
# The stored form of one record of the log: one message per event, in canonical form (one segment, no
# segment table). schema/event.h has the same shape in C++ and says what each field means; this file says only
# how it is stored.
#
# Rules of change (see CHANGELOG.md):
# - numbers (@n) are for ever: fields, enumerants and union members are only ever added, with the next number;
# - an absent text, list or struct and an empty one are the same, so that old records read as the default;
#   where "absent" means something of its own there is a union or a Bool beside it;
# - maps are lists sorted bytewise by key, without duplicates; sets are sorted lists;
# - every addition raises kSchemaVersion in codec.h and adds golden records.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("fairlead::stored");

enum Kind {
  node @0;
  clusterMetrics @1;
  managedCluster @2;
  clusterProfile @3;
  resourceFlavor @4;
  clusterQueue @5;
  localQueue @6;
  admissionCheck @7;
  multikueueConfig @8;
  manifestWork @9;
  claim @10;
  multikueueCluster @11;
  placement @12;
  placementDecision @13;
  addonPlacementScore @14;
  workload @15;
  secret @16;
  customResourceDefinition @17;
  bindingPolicy @18;
  cohort @19;
  mutatingAdmissionPolicy @20;
  virtualCluster @21;
  namespace @22;
  resourceQuota @23;
  pod @24;
  configMap @25;
  resourceSlice @26;
  deviceClass @27;
  resourceClaim @28;
  resourceClaimTemplate @29;
  deviceTaintRule @30;
  fleetResourceClass @31;
  fleetResourceClaim @32;
  fleetResourceClaimTemplate @33;
  fleetScheduling @34;
  topology @35;
}

struct TextPair {
  key @0 :Text;
  value @1 :Text;
}

struct AmountPair {
  key @0 :Text;
  value @1 :Int64;
}

struct Quantity {
  # A 128-bit two's complement number of nano units, in two words.
  high @0 :Int64;
  low @1 :UInt64;
  format @2 :Format;
  text @3 :Text;  # as it was read, where that is not the canonical text

  enum Format {
    decimalSi @0;
    binarySi @1;
  }
}

struct ObjectKey {
  kind @0 :Kind;
  namespace @1 :Text;
  name @2 :Text;
}

# ---- projected facts, one struct a kind ----

struct Taint {
  key @0 :Text;
  value @1 :Text;
  effect @2 :Text;
}

struct Toleration {
  key @0 :Text;
  op @1 :Text;
  value @2 :Text;
  effect @3 :Text;
}

enum ConditionStatus {
  absent @0;
  yes @1;
  no @2;
  unknown @3;
}

struct Condition {
  status @0 :ConditionStatus;
  reason @1 :Text;
  observedGeneration @2 :Int64;
}

struct Node {
  labels @0 :List(TextPair);
  taints @1 :List(Taint);
  unschedulable @2 :Bool;
  ready @3 :Bool;
  allocatable @4 :List(AmountPair);
  # Since version 2 the two maps are stored as PackedMap keeps them (packed_map.h), and the lists are absent: there is
  # more of nodes than of anything else, and this is half the bytes and a copy to read.
  packedLabels @5 :Data;
  packedAllocatable @6 :Data;
}

struct ClusterMetrics {
  nodes @0 :List(NamedNode);
  struct NamedNode {
    name @0 :Text;
    node @1 :Node;
  }
}

struct ManagedCluster {
  allocatable @0 :List(AmountPair);
  available @1 :Condition;
  deleting @2 :Bool;
  labelled @3 :Bool;
}

struct ClusterProfile {
  cluster @0 :Text;
  labelled @1 :Bool;
  accessProviders @2 :List(Text);
}

struct ResourceFlavor {
  nodeLabels @0 :List(TextPair);
  nodeTaints @1 :List(Taint);
  tolerations @2 :List(Toleration);
  topologyName @3 :Text;
}

struct ResourceQuota {
  name @0 :Text;
  nominal @1 :Quantity;
  borrowingLimit :union {
    none @2 :Void;
    limit @3 :Quantity;
  }
  lendingLimit :union {
    none @4 :Void;
    limit @5 :Quantity;
  }
}

struct FlavorQuotas {
  name @0 :Text;
  resources @1 :List(ResourceQuota);
}

struct ResourceGroup {
  coveredResources @0 :List(Text);
  flavors @1 :List(FlavorQuotas);
}

struct FlavorUsage {
  flavor @0 :Text;
  resource @1 :Text;
  total @2 :Int64;
}

struct ClusterQueue {
  groups @0 :List(ResourceGroup);
  cohort @1 :Text;
  namespaceSelector @2 :Text;
  queueingStrategy @3 :Text;
  preemption @4 :Text;
  stopPolicy @5 :Text;
  admissionChecks @6 :List(Text);
  baseQuota @7 :Text;
  extendResourceGroups @8 :Bool;
  usage @9 :List(FlavorUsage);
  active @10 :Condition;
  deleting @11 :Bool;
  workerQuota @12 :WorkerQuotaTerms;
  effective @13 :EffectiveQuotas;
  sharing @14 :SharingTerms;
  reserved @15 :List(FlavorUsage);
  borrowed @16 :List(FlavorUsage);
}

# A record without it has nothing that is given: not known.
struct SharingTerms {
  given @0 :Bool;
  weight :union {
    none @1 :Void;
    value @2 :Quantity;
  }
  flavorFungibility @3 :Text;
  admissionScope @4 :Text;
  concurrentAdmission @5 :Text;
  checkFlavors @6 :Text;
}

# status.effectiveQuotas of a ClusterQueue or Cohort. An override of nothing is not an absent one.
struct EffectiveQuotas {
  given @0 :Bool;
  apiGroup @1 :Text;
  kind @2 :Text;
  name @3 :Text;
  groups @4 :List(ResourceGroup);
}

struct WorkerQuotaTerms {
  from @0 :Text;
  percent @1 :Text;
  reserve @2 :Text;
}

struct LocalQueue {
  clusterQueue @0 :Text;
  stopPolicy @1 :Text;
  active @2 :Condition;
}

struct AdmissionCheck {
  controllerName @0 :Text;
  parametersApiGroup @1 :Text;
  parametersKind @2 :Text;
  parametersName @3 :Text;
  settings @4 :List(TextPair);
  finalizers @5 :List(Text);
  active @6 :Condition;
  allClustersUsed @7 :Condition;
  deleting @8 :Bool;
  dispatcherReady @9 :Condition;
}

struct OwnerMark {
  managed @0 :Bool;
  owner @1 :Text;
}

struct MultiKueueConfig {
  clusters @0 :List(Text);
  quotaManagement @1 :Text;
  mark @2 :OwnerMark;
  deleting @3 :Bool;
}

struct WorkQuota {
  clusterQueue @0 :Text;
  flavor @1 :Text;
  resource @2 :Text;
  nominal @3 :Int64;
}

struct WorkLocalQueue {
  namespace @0 :Text;
  name @1 :Text;
  clusterQueue @2 :Text;
}

struct WorkFlavor {
  name @0 :Text;
  orphaned @1 :Bool;
}

struct WorkFeedback {
  clusterQueue @0 :Text;
  active @1 :ConditionStatus;
  hasUsage @2 :Bool;
  usage @3 :List(FlavorUsage);
  reason @4 :Text;
  synced @5 :ConditionStatus;
}

struct ManifestWork {
  specDigest @0 :Data;
  quotas @1 :List(WorkQuota);
  localQueues @2 :List(WorkLocalQueue);
  applied @3 :Condition;
  available @4 :Condition;
  feedback @5 :List(WorkFeedback);
  deleting @6 :Bool;
  flavors @7 :List(WorkFlavor);
  finalizers @8 :List(Text);
  feedbackDigest @9 :Data;
  topologies @10 :List(WorkFlavor);
}

struct ClaimAssignment {
  clusterQueue @0 :Text;
  flavor @1 :Text;
  resources @2 :List(TextPair);
  minResources @3 :List(TextPair);
  priority :union {
    none @4 :Void;
    value @5 :Int32;
  }
}

struct ClaimHeadroom {
  percentGiven @0 :Bool;
  percent @1 :List(TextPair);
  reservedGiven @2 :Bool;
  reserved @3 :List(TextPair);
}

struct ClaimSpec {
  clusterName @0 :Text;
  nominalResources @1 :List(TextPair);
  assignments @2 :List(ClaimAssignment);
  nominalPolicy @3 :Text;
  shrinkPolicy @4 :Text;
  flavorCapacity @5 :Text;
  headroom @6 :ClaimHeadroom;
  malformed @7 :Text;
}

struct ClaimGrant {
  clusterQueue @0 :Text;
  flavor @1 :Text;
  resource @2 :Text;
  granted @3 :Text;
}

struct Claim {
  spec @0 :ClaimSpec;
  created @1 :Int64;
  deleting @2 :Bool;
  finalizers @3 :List(Text);
  debounce @4 :List(TextPair);
  statusGrants @5 :List(ClaimGrant);
  statusDigest @6 :Data;
}

struct MultiKueueCluster {
  secret @0 :Text;
  path @1 :Text;
  clusterProfile @2 :Text;
  mark @3 :OwnerMark;
  active @4 :Condition;
  deleting @5 :Bool;
}

struct ScorePrioritizer {
  resourceName @0 :Text;
  scoreName @1 :Text;
  weight @2 :Int64;
}

struct Placement {
  prioritizers @0 :List(ScorePrioritizer);
  deleting @1 :Bool;
}

struct PlacementDecision {
  placement @0 :Text;
  clusters @1 :List(Text);
}

struct AddOnPlacementScore {
  scores @0 :List(AmountPair);
  validUntil :union {
    none @1 :Void;
    time @2 :Int64;
  }
}

struct WorkloadCheck {
  name @0 :Text;
  state @1 :Text;
}

struct Workload {
  checks @0 :List(WorkloadCheck);
  clusterName @1 :Text;
  nominatedClusters @2 :List(Text);
  quotaReserved @3 :Bool;
  finished @4 :Bool;
  evicted @5 :Bool;
  deleting @6 :Bool;
  priority @7 :Int64;
  created @8 :Int64;
  podSets @9 :List(WorkloadPodSet);
  devicesReserved @10 :Condition;
  progress @11 :WorkloadProgress;
}

# A record without it has nothing that is given: not known.
struct WorkloadProgress {
  given @0 :Bool;
  queue @1 :Text;
  deactivated @2 :Bool;
  requests @3 :List(AmountPair);
  conditions @4 :List(WorkloadCondition);
  quotaSince :union {
    none @5 :Void;
    time @6 :Int64;
  }
  finishedAt :union {
    none @7 :Void;
    time @8 :Int64;
  }
  clusterQueue @9 :Text;
  assigned @10 :List(AssignedPodSet);
  requeues @11 :Int64;
  requeueAt :union {
    none @12 :Void;
    time @13 :Int64;
  }
  ownerKind @14 :Text;
  ownerName @15 :Text;
  labels @16 :List(TextPair);
  origin @17 :Text;
}

struct WorkloadCondition {
  type @0 :Text;
  status @1 :ConditionStatus;
  reason @2 :Text;
  message @3 :Text;
}

struct AssignedPodSet {
  name @0 :Text;
  count @1 :Int64;
  reclaimable @2 :Int64;
  usage @3 :List(FlavorUsage);
}

struct WorkloadPodSet {
  name @0 :Text;
  count @1 :Int64;
  admitted :union {
    none @2 :Void;
    pods @3 :Int64;
  }
  pod @4 :PodDevices;
  fleetClaims @5 :List(PodClaim);
  fleetFault @6 :Text;
}

struct Secret {
  keys @0 :List(Text);
  content @1 :Data;
}

struct CustomResourceDefinition {
  clustersMax :union {
    none @0 :Void;
    items @1 :Int64;
  }
  clusterProfileRef @2 :Bool;
}

struct BindingPolicy {
  specDigest @0 :Data;
  namespaces @1 :List(Text);
  ours @2 :Bool;
  observedGeneration @3 :Int64;
  synced @4 :Condition;
  error @5 :Text;
  deleting @6 :Bool;
  flavors @7 :List(Text);
  topologies @8 :List(Text);
}

struct Topology {
  levels @0 :List(Text);
}

struct Cohort {
  parent @0 :Text;
  effective @1 :EffectiveQuotas;
  terms @2 :CohortTerms;
}

# A record without it has nothing that is given: not known.
struct CohortTerms {
  given @0 :Bool;
  groups @1 :List(ResourceGroup);
  weight :union {
    none @2 :Void;
    value @3 :Quantity;
  }
}

struct MutatingAdmissionPolicy {
  clearsNominations @0 :Bool;
  deleting @1 :Bool;
}

# A text that may be absent, which is not the same as empty.
struct OptionalText {
  present @0 :Bool;
  text @1 :Text;
}
struct VirtualCluster {
  phase @0 :Text;
  clusterNamespace @1 :Text;
  secret @2 :Text;
  poolLimit @3 :OptionalText;
}
struct Namespace {
  slice @0 :OptionalText;
  placements @1 :OptionalText;
  policy @2 :OptionalText;
  reason @3 :OptionalText;
  tenant @4 :Text;
  tenantNamespace @5 :Text;
  tenantUid @6 :Text;
  deleting @7 :Bool;
}
struct TenantQuota {
  hard @0 :List(AmountPair);
  scoped @1 :Bool;
}
struct Pod {
  superCluster @0 :OptionalText;
  reason @1 :OptionalText;
  requests @2 :List(AmountPair);
  bound @3 :Bool;
  gated @4 :Bool;
  resourceClaims @5 :Bool;
  over @6 :Bool;
  deleting @7 :Bool;
  workload @8 :Text;
  podSet @9 :Text;
  devices @10 :PodDevices;
  tenantUid @11 :Text;
}
struct ConfigMap {
  id @0 :OptionalText;
}

# Dynamic Resource Allocation. A quantity is its canonical text, which is never empty: an empty one is absent.
struct NodeRequirement {
  key @0 :Text;
  op @1 :Text;
  values @2 :List(Text);
}
struct NodeSelectorTerm {
  expressions @0 :List(NodeRequirement);
  fields @1 :List(NodeRequirement);
}
struct NodeReach {
  kind @0 :ReachKind;
  node @1 :Text;
  terms @2 :List(NodeSelectorTerm);
  enum ReachKind {
    none @0;
    node @1;
    selector @2;
    all @3;
    devices @4;
  }
}
struct CounterSet {
  name @0 :Text;
  counters @1 :List(TextPair);
}
struct CapacityPolicy {
  standard @0 :Text;
  values @1 :List(Text);
  min @2 :Text;
  max @3 :Text;
  step @4 :Text;
}
struct DeviceCapacity {
  name @0 :Text;
  value @1 :Text;
  policy @2 :CapacityPolicy;
}
struct DeviceExtras {
  reach @0 :NodeReach;
  taints @1 :List(Taint);
  consumes @2 :List(CounterSet);
  shared @3 :Bool;
  binds @4 :Bool;
}
struct Device {
  name @0 :Text;
  attributes @1 :Data;  # as PackedMap keeps them (packed_map.h)
  capacity @2 :List(DeviceCapacity);
  extras @3 :DeviceExtras;
}
struct ResourceSlice {
  driver @0 :Text;
  pool @1 :Text;
  generation @2 :Int64;
  sliceCount @3 :Int64;
  reach @4 :NodeReach;
  devices @5 :List(Device);
  counters @6 :List(CounterSet);
}
struct DeviceSelector {
  cel @0 :OptionalText;
}
struct DeviceClass {
  selectors @0 :List(DeviceSelector);
  extendedResource @1 :Text;
  created @2 :Int64;  # seconds
}
struct DeviceAsk {
  name @0 :Text;
  deviceClass @1 :Text;
  selectors @2 :List(DeviceSelector);
  mode @3 :AllocationMode;
  count @4 :Int64;
  admin @5 :Bool;
  tolerations @6 :List(Toleration);
  capacity @7 :List(TextPair);
  enum AllocationMode {
    exact @0;
    all @1;
    unknown @2;
  }
}
struct DeviceRequest {
  name @0 :Text;
  alternatives @1 :Bool;
  asks @2 :List(DeviceAsk);
}
struct DeviceConstraint {
  requests @0 :List(Text);
  match @1 :Text;
  distinct @2 :Text;
}
struct DeviceClaimSpec {
  requests @0 :List(DeviceRequest);
  constraints @1 :List(DeviceConstraint);
}
struct AllocatedDevice {
  request @0 :Text;
  driver @1 :Text;
  pool @2 :Text;
  device @3 :Text;
  admin @4 :Bool;
  share @5 :Text;
  consumed @6 :List(TextPair);
}
struct ClaimConsumer {
  apiGroup @0 :Text;
  resource @1 :Text;
  name @2 :Text;
  uid @3 :Text;
}
struct ResourceClaim {
  spec @0 :DeviceClaimSpec;
  allocated @1 :Bool;
  devices @2 :List(AllocatedDevice);
  selected @3 :Bool;  # nodeTerms are set, perhaps to an empty list
  nodeTerms @4 :List(NodeSelectorTerm);
  reservedFor @5 :List(ClaimConsumer);
  podOwners @6 :List(Text);
  podClaim @7 :Text;
  extended @8 :Bool;
  deleting @9 :Bool;
}
struct ResourceClaimTemplate {
  spec @0 :DeviceClaimSpec;
}
struct PodClaim {
  name @0 :Text;
  claim @1 :Text;
  template @2 :Text;
}
struct PodDevices {
  claims @0 :List(PodClaim);
  extended @1 :List(AmountPair);
  nodeSelector @2 :List(TextPair);
  affine @3 :Bool;  # nodeTerms are set, perhaps to an empty list
  nodeTerms @4 :List(NodeSelectorTerm);
  tolerations @5 :List(Toleration);
}
struct DeviceTaintRule {
  selects @0 :Bool;
  driver @1 :OptionalText;
  pool @2 :OptionalText;
  device @3 :OptionalText;
  taint @4 :Taint;
}

# ---- fleet claims ----

struct FleetParameters {
  apiGroup @0 :Text;
  kind @1 :Text;
  name @2 :Text;
}
struct FleetResourceClass {
  driver @0 :Text;
  parameters @1 :FleetParameters;
  bounded @2 :Bool;  # suitable is set, perhaps to an empty list
  suitable @3 :List(Text);
}
struct FleetClaimSpec {
  resourceClass @0 :Text;
  parameters @1 :FleetParameters;
  immediate @2 :Bool;
}
struct FleetAllocation {
  bounded @0 :Bool;  # clusters is set, perhaps to an empty list
  clusters @1 :List(Text);
  shareable @2 :Bool;
  booking @3 :Bool;  # booked is set, perhaps to an empty list
  booked @4 :List(Text);
}
struct FleetResourceClaim {
  spec @0 :FleetClaimSpec;
  driver @1 :Text;
  allocated @2 :Bool;
  allocation @3 :FleetAllocation;
  reservedFor @4 :List(ClaimConsumer);
  deallocationRequested @5 :Bool;
  workloadOwners @6 :List(Text);
  created @7 :Int64;
  deleting @8 :Bool;
}
struct FleetResourceClaimTemplate {
  labels @0 :List(TextPair);
  annotations @1 :List(TextPair);
  spec @2 :FleetClaimSpec;
}
struct FleetUnsuitable {
  entry @0 :Text;
  clusters @1 :List(Text);
}
struct FleetScheduling {
  potential @0 :List(Text);
  selected @1 :Text;
  unsuitable @2 :List(FleetUnsuitable);
  workloadOwners @3 :List(Text);
}

# The projected facts of one object; the member names the kind, in the order of Kind.
struct Facts {
  union {
    node @0 :Node;
    clusterMetrics @1 :ClusterMetrics;
    managedCluster @2 :ManagedCluster;
    clusterProfile @3 :ClusterProfile;
    resourceFlavor @4 :ResourceFlavor;
    clusterQueue @5 :ClusterQueue;
    localQueue @6 :LocalQueue;
    admissionCheck @7 :AdmissionCheck;
    multikueueConfig @8 :MultiKueueConfig;
    manifestWork @9 :ManifestWork;
    claim @10 :Claim;
    multikueueCluster @11 :MultiKueueCluster;
    placement @12 :Placement;
    placementDecision @13 :PlacementDecision;
    addonPlacementScore @14 :AddOnPlacementScore;
    workload @15 :Workload;
    secret @16 :Secret;
    customResourceDefinition @17 :CustomResourceDefinition;
    bindingPolicy @18 :BindingPolicy;
    cohort @19 :Cohort;
    mutatingAdmissionPolicy @20 :MutatingAdmissionPolicy;
    virtualCluster @21 :VirtualCluster;
    namespace @22 :Namespace;
    resourceQuota @23 :TenantQuota;
    pod @24 :Pod;
    configMap @25 :ConfigMap;
    resourceSlice @26 :ResourceSlice;
    deviceClass @27 :DeviceClass;
    resourceClaim @28 :ResourceClaim;
    resourceClaimTemplate @29 :ResourceClaimTemplate;
    deviceTaintRule @30 :DeviceTaintRule;
    fleetResourceClass @31 :FleetResourceClass;
    fleetResourceClaim @32 :FleetResourceClaim;
    fleetResourceClaimTemplate @33 :FleetResourceClaimTemplate;
    fleetScheduling @34 :FleetScheduling;
    topology @35 :Topology;
  }
}

# ---- admission ----

enum AdmissionRule {
  claimInvalid @0;
  clusterTaken @1;
  overCapacity @2;
  nominalAboveCapacity @3;
  unknownTarget @4;
  belowUsage @5;
  claimInUse @6;
  ownedQuota @7;
  badBase @8;
  queueInUse @9;
  flavorInUse @10;
  clusterInUse @11;
}

struct RuleSetting {
  rule @0 :AdmissionRule;
  action @1 :Action;
  enum Action {
    deny @0;
    warn @1;
    off @2;
  }
}

# ---- configuration ----

struct Configuration {
  kueueNamespace @0 :Text;
  resourceAliases @1 :List(TextPair);
  capacitySources @2 :List(CapacitySource);
  headroomPercent @3 :List(AmountPair);
  headroomReserved @4 :List(TextPair);
  overbookPercent @5 :Int64;
  createClaims @6 :Bool;
  memberMode @7 :MemberMode;
  memberKubeconfigs @8 :List(MemberKubeconfig);
  debounce @9 :Debounce;
  multikueue @10 :MultiKueue;
  inflightMax @11 :Int64;
  qps @12 :Int64;
  burst @13 :Int64;
  snapshotEvery @14 :Int64;
  rawRetention @15 :Int64;
  claimStatusInterval @16 :Int64;  # nanoseconds
  memberNodesMax @17 :Int64;
  memberChangesPerMinute @18 :Int64;
  webhookRules @19 :List(RuleSetting);  # ascending by rule, each once
  record @20 :Bool;
  exportBeforeUpgrade @21 :Bool;
  pool @22 :Pool;
  dra @23 :Dra;
  workloads @24 :Workloads;
  usage @25 :Usage;

  enum CapacitySource {
    nodes @0;
    clusterMetrics @1;
    managedCluster @2;
  }
  enum MemberMode {
    automatic @0;
    manifestWork @1;
    bindingPolicy @2;
    none @3;
  }
  struct MemberKubeconfig {
    cluster @0 :Text;
    secretRef @1 :Text;
    file @2 :Text;
    clusterProfile @3 :Text;
  }
  # Durations are nanoseconds.
  struct Debounce {
    ingestCoalesce @0 :Int64;
    shrinkWindow @1 :Int64;
    growWindow @2 :Int64;
    firstQuiet @3 :Int64;
    minGrowInterval @4 :Int64;
    growDeadbandPercent @5 :Int64;
    deadbandMaxAge @6 :Int64;
    flapPenalty @7 :Int64;
    flapSuppress @8 :Int64;
    flapReuse @9 :Int64;
    flapHalfLife @10 :Int64;
    flapSuppressMax @11 :Int64;
    massShrinkPercent @12 :Int64;
    massShrinkHold @13 :Int64;
    staleAfter @14 :Int64;
    lostAfter @15 :Int64;
    writeInterval @16 :Int64;
  }
  struct PoolCluster {
    name @0 :Text;
    percent @1 :Int64;
    ownPercents @2 :Bool;  # headroomPercent is set, perhaps to an empty map
    headroomPercent @3 :List(AmountPair);
    ownReserved @4 :Bool;  # likewise headroomReserved
    headroomReserved @5 :List(TextPair);
    drain @6 :Bool;
  }
  struct PoolTenant {
    name @0 :Text;
    secretRef @1 :Text;
    file @2 :Text;
  }
  struct PoolToleration {
    key @0 :Text;
    op @1 :Text;
    value @2 :Text;
    effect @3 :Text;
  }
  enum PoolPolicy {
    pack @0;
    spread @1;
  }
  enum PoolQuotas {
    min @0;
    max @1;
  }
  struct Pool {
    clusters @0 :List(PoolCluster);
    tenants @1 :List(PoolTenant);
    policy @2 :PoolPolicy;
    partial @3 :Bool;
    quotas @4 :PoolQuotas;
    tenantLimit @5 :List(AmountPair);
    tolerations @6 :List(PoolToleration);
    lostGrace @7 :Int64;
    settle @8 :Int64;
    slicesMax @9 :Int64;
    tenantObjectsMax @10 :Int64;
  }
  struct DeviceSource {
    kind @0 :DeviceSourceKind;
    name @1 :Text;
    driver @2 :Text;
    expression @3 :Text;
  }
  enum DeviceSourceKind {
    counter @0;
    capacity @1;
  }
  struct DeviceClassMapping {
    name @0 :Text;
    deviceClassNames @1 :List(Text);
    sources @2 :List(DeviceSource);
  }
  enum DraPolicy {
    order @0;
    pack @1;
    spread @2;
  }
  struct Dra {
    quota @0 :Bool;
    dispatch @1 :Bool;
    fleetClaims @2 :Bool;
    deviceClassMappings @3 :List(DeviceClassMapping);
    policy @4 :DraPolicy;
    poolHold @5 :Int64;
    admitTimeout @6 :Int64;
    placeTimeout @7 :Int64;
    stepsMax @8 :Int64;
  }
  struct MultiKueue {
    profile @0 :Text;
    settle @1 :Int64;
    moveWindow @2 :Int64;
    drainTimeout @3 :Int64;
    emptyGrace @4 :Int64;
    credentialGrace @5 :Int64;
    adoptOcmAddon @6 :Bool;
    accessProviders @7 :List(Text);
    dispatcher @8 :Bool;
    clearedBy @9 :Text;
  }
  enum MemberWorkloads {
    automatic @0;
    yes @1;
    no @2;
  }
  struct Workloads {
    ofMembers @0 :MemberWorkloads;
    max @1 :Int64;
    keepFinished @2 :Int64;  # nanoseconds
  }
  struct UsagePrice {
    flavor @0 :Text;
    resource @1 :Text;
    perHour @2 :Text;
    currency @3 :Text;
  }
  enum UsageAllocation {
    grantedHours @0;
    usedHours @1;
  }
  struct Usage {
    interval @0 :Int64;  # nanoseconds
    labels @1 :List(Text);
    prices @2 :List(UsagePrice);
    allocation @3 :UsageAllocation;
  }
}

# ---- the facts of the log ----

struct EpochStarted {
  identity @0 :Text;
  programVersion @1 :Text;
  foldVersion @2 :UInt32;
  schemaVersion @3 :UInt32;
}

struct SourceState {
  # SourceSynced, SourceStale, SourceLost: of one kind, or of every capacity source of a cluster.
  of :union {
    cluster @0 :Text;
    kind @1 :Kind;
  }
  resourceVersion @2 :Text;
  staleCause @3 :StaleCause;  # of SourceStale

  enum StaleCause {
    silence @0;
    tooMany @1;  # objects
    tooManyChanges @2;
  }
}

struct ObjectObserved {
  key @0 :ObjectKey;
  version @1 :Text;
  uid @2 :Text;
  resourceVersion @3 :Text;
  generation @4 :Int64;
  rawDigest @5 :Data;
  facts @6 :Facts;  # of the kind that key names
  writers @7 :List(FieldWriter);
  read @8 :Int64;  # nanoseconds; 0: at the time of the event

  struct FieldWriter {
    manager @0 :Text;
    operation @1 :Text;
    subresource @2 :Text;
    time @3 :Text;
    fields @4 :UInt32;  # bits of SpecField (spec_field.h); 0: of resourceGroups alone
  }
}

struct ObjectGone {
  key @0 :ObjectKey;
  uid @1 :Text;
  resourceVersion @2 :Text;
}

struct Contribution {
  cluster @0 :Text;
  flavor @1 :Text;
  resource @2 :Text;
  amount @3 :Int64;
}

struct PatchIntended {
  cluster @0 :Text;
  verb @1 :Verb;
  target @2 :ObjectKey;
  version @3 :Text;
  fieldManager @4 :Text;
  force @5 :Bool;
  uid @6 :Text;
  resourceVersion @7 :Text;
  body @8 :Text;
  reasonRule @9 :Text;
  reasonBecause @10 :List(UInt64);
  reasonText @11 :Text;
  contributions @12 :List(Contribution);
  overlaid @13 :List(ResourceGroup);
  expected @14 :Facts;  # absent: none; facts are never empty
  direction @15 :Direction;  # this and the next: schema version 7
  rank @16 :Rank;

  enum Direction {
    lowers @0;
    other @1;
  }

  enum Rank {
    shrink @0;
    claimLife @1;
    member @2;
    grow @3;
    worker @4;
    workerList @5;
    status @6;
    pod @7;
    release @8;
  }

  enum Verb {
    apply @0;
    applyStatus @1;
    create @2;
    patch @3;
    remove @4;
  }
}

struct PatchAccepted {
  intent @0 :UInt64;
  httpCode @1 :Int32;
  uid @2 :Text;
  resourceVersion @3 :Text;
}

struct PatchRejected {
  intent @0 :UInt64;
  httpCode @1 :Int32;
  reason @2 :Text;
  cause @3 :Cause;

  enum Cause {
    content @0;
    outage @1;
    rights @2;
  }
}

struct PatchUnknown {
  intent @0 :UInt64;
  reason @1 :Text;
}

struct Checkpoint {
  state @0 :Data;
  events @1 :UInt64;
  log @2 :Data;
}

struct AdmissionDecided {
  requestUid @0 :Text;
  user @1 :Text;
  operation @2 :Operation;
  object @3 :ObjectKey;
  rules @4 :List(AdmissionRule);
  outcome @5 :Outcome;
  reason @6 :Text;

  enum Operation {
    create @0;
    update @1;
    remove @2;
  }
  enum Outcome {
    denied @0;
    overridden @1;
  }
}

struct Event {
  schemaVersion @0 :UInt16;
  seq @1 :UInt64;
  logTime @2 :Int64;
  epoch @3 :UInt64;
  cause @4 :UInt64;
  source @5 :Text;
  # In the order of the alternatives of fairlead::Fact.
  fact :union {
    epochStarted @6 :EpochStarted;
    configChanged @7 :Configuration;
    sourceSynced @8 :SourceState;
    sourceStale @9 :SourceState;
    sourceLost @10 :SourceState;
    objectObserved @11 :ObjectObserved;
    objectGone @12 :ObjectGone;
    timerFired @13 :Int64;
    patchIntended @14 :PatchIntended;
    patchAccepted @15 :PatchAccepted;
    patchRejected @16 :PatchRejected;
    patchUnknown @17 :PatchUnknown;
    checkpoint @18 :Checkpoint;
    admissionDecided @19 :AdmissionDecided;
  }
}
