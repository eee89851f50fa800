#include "tests/unit/schema/samples/sample_events.h"

#include <span>

#include "tests/unit/schema/samples/sample_devices.h"
#include "tests/unit/schema/samples/sample_fleet.h"
#include "tests/unit/schema/samples/sample_members.h"
#include "tests/unit/schema/samples/sample_queues.h"
#include "tests/unit/schema/samples/sample_workloads.h"

namespace fairlead::samples {
namespace {

using Texts = std::map<std::string, std::string>;

Digest digest_of(std::uint8_t first) {
  Digest digest;
  for (std::uint8_t& byte : digest.bytes) byte = first++;
  return digest;
}

NodeFacts node() {
  NodeFacts facts;
  facts.labels = {
      {"kubernetes.io/hostname", "gpu-1"}, {"nvidia.com/gpu.product", "H100"}, {"empty", ""}};
  facts.taints = {{"dedicated", "training", "NoSchedule"}, {"gone", "", "NoExecute"}};
  facts.unschedulable = true;
  facts.ready = true;
  facts.allocatable = {{"cpu", 63500}, {"memory", 270582939648}, {"nvidia.com/gpu", 8}};
  return facts;
}

ConditionFacts condition(ConditionStatus status) { return {status, "BecauseOfTests", 3}; }

ClusterProfileFacts cluster_profile() {
  ClusterProfileFacts facts;
  facts.cluster = "cluster1";
  return facts;
}

AdmissionCheckFacts admission_check() {
  AdmissionCheckFacts facts;
  facts.controller_name = "kueue.x-k8s.io/multikueue";
  facts.parameters_api_group = "kueue.x-k8s.io";
  facts.parameters_kind = "MultiKueueConfig";
  facts.parameters_name = "fleet";
  return facts;
}

MultiKueueConfigFacts multikueue_config() {
  MultiKueueConfigFacts facts;
  facts.clusters = {"cluster2", "cluster1"};
  facts.quota_management = "Automated";
  return facts;
}

MultiKueueClusterFacts multikueue_cluster() {
  MultiKueueClusterFacts facts;
  facts.secret = "kueue-admin-cluster1-kubeconfig";
  facts.path = "/etc/workers/cluster1";
  facts.cluster_profile = "cluster1";
  facts.mark = {true, "placement/gpu"};
  facts.active = condition(ConditionStatus::no);
  facts.deleting = true;
  return facts;
}

ClaimFacts claim() {
  ClaimFacts facts;
  facts.spec.cluster_name = "cluster1";
  facts.spec.nominal_resources = {{"cpu", "8"}, {"memory", "not a quantity"}};
  facts.spec.assignments = {
      {"queue-a", "default-flavor", Texts{{"cpu", "4"}}, Texts{{"cpu", "1"}}, -7},
      {"queue-b", "default-flavor", {}, {}, std::nullopt},
  };
  facts.spec.nominal_policy = "TrackCapacity";
  facts.spec.shrink_policy = "Priority";
  facts.spec.flavor_capacity = "Strict";
  facts.spec.headroom.percent.emplace();
  facts.spec.headroom.reserved = Texts{{"cpu", "500m"}};
  facts.spec.malformed = "spec.headroom: a number where an object was expected";
  facts.created = LogTime{1'767'225'600'000'000'000};
  facts.deleting = true;
  facts.finalizers = {"fairlead.io/claim", "other.io/keep"};
  facts.debounce = Texts{{"growWindow", "10s"}};
  facts.status_grants = {{"queue-a", "default-flavor", "cpu", "4"}};
  return facts;
}

Configuration configuration() {
  Configuration value;
  value.kueue_namespace = "kueue";
  value.resource_aliases = {{"gpu", "nvidia.com/gpu"}, {"tpu", "google.com/tpu"}};
  value.capacity_sources = {CapacitySource::managed_cluster, CapacitySource::nodes};
  value.headroom = {{{"cpu", 10}}, Texts{{"memory", "1Gi"}}};
  value.overbook_percent = 120;
  value.create_claims = false;
  value.member_mode = MemberMode::binding_policy;
  value.member_kubeconfigs = {{"cluster1", "fairlead/cluster1", "", ""},
                              {"cluster2", "", "/etc/fairlead/cluster2", ""},
                              {"cluster3", "", "", "fleet/cluster3"}};
  value.debounce.grow_window = seconds(0);
  value.debounce.flap_reuse = 900;
  value.multikueue.profile = NamingProfile::cluster;
  value.multikueue.adopt_ocm_addon = true;
  value.multikueue.access_providers = {"google", "secretreader"};
  value.multikueue.dispatcher = true;
  value.multikueue.cleared_by = ClearedBy::unasked;  // this and three more came with version 4
  value.status_interval = {};
  value.member_nodes_max = 0;
  value.member_changes_per_minute = 0;
  value.export_before_upgrade = false;  // came with version 5
  value.writes = {8, 20, 40};
  value.snapshot_every = 1000;
  value.raw_retention = hours(24);
  return value;
}

PatchIntended intent() {
  PatchIntended fact;
  fact.cluster = "hub";
  fact.verb = Verb::apply_status;
  fact.target = {Kind::cluster_queue, "", "queue-a"};
  fact.version = "v1beta2";
  fact.field_manager = "fairlead";
  fact.force = true;
  fact.uid = "7a1b";
  fact.resource_version = "812";
  fact.body = R"({"spec":{"cohortName":"research"}})";
  fact.reason = {"claims/shrink", {{3}, {5}}, "cluster2 usable cpu 1000 -> 900"};
  fact.contributions = {{"cluster1", "default-flavor", "cpu", 4000},
                        {"cluster2", "default-flavor", "cpu", -1}};
  fact.overlaid = {resource_group()};
  fact.expected = cluster_queue();
  fact.direction = Direction::lowers;  // as older records of this rule read
  fact.rank = Rank::shrink;
  return fact;
}

/// Gives facts their place: dense seqs, times a second apart.
class Numbered {
 public:
  void add(std::string name, SourceName source, Fact fact) {
    const auto seq = static_cast<std::uint64_t>(samples_.size() + 1);
    const LogTime time{1'767'225'600'000'000'000 + static_cast<std::int64_t>(seq) * 1'000'000'001};
    samples_.push_back({std::move(name), Event{Seq{seq}, time, Epoch{2}, std::move(source),
                                               Seq{seq / 2}, std::move(fact)}});
  }
  std::vector<Sample> take() { return std::move(samples_); }

 private:
  std::vector<Sample> samples_;
};

ObjectObserved observed(Kind kind) {
  ObjectObserved fact;
  fact.key = {kind, is_namespaced(kind) ? "team-a" : "", "the-" + std::string(info(kind).resource)};
  // DeviceTaintRules came as v1 later than their record.
  fact.version = kind == Kind::device_taint_rule
                     ? "v1beta2"
                     : std::string(info(kind).versions.substr(0, info(kind).versions.find(',')));
  fact.uid = "00000000-0000-0000-0000-00000000000" + std::to_string(static_cast<int>(kind) % 10);
  fact.resource_version = "41";
  fact.generation = 3;
  fact.facts = facts(kind);
  fact.raw_digest = digest_of(static_cast<std::uint8_t>(kind));
  return fact;
}

/// Kinds come last in kind.h, and records keep their place: what came later is shown at the end.
constexpr std::size_t kKindsOfVersion2 = 11;
constexpr std::size_t kKindsOfMultiKueue = 7;

void add_version_3(Numbered& samples) {
  for (const KindInfo& row : std::span(kKinds).subspan(kKindsOfVersion2, kKindsOfMultiKueue))
    samples.add("observed_" + std::string(row.resource), "hub", observed(row.kind));
  const auto add_again = [&](Kind kind, Facts facts) {
    ObjectObserved fact = observed(kind);
    fact.facts = std::move(facts);
    samples.add("observed_" + std::string(info(kind).resource) + "_3", "hub", std::move(fact));
  };
  ClusterProfileFacts profile = cluster_profile();
  profile.labelled = true;
  profile.access_providers = {"google", "secretreader"};
  add_again(Kind::cluster_profile, profile);
  ClusterQueueFacts queue = cluster_queue();
  queue.worker_quota = {"workers", "110", R"({"default-flavor":{"cpu":"2"}})"};
  add_again(Kind::cluster_queue, queue);
  AdmissionCheckFacts check = admission_check();
  check.settings = {{"moveWindow", "30s"}, {"settle", "not a duration"}};
  check.finalizers = {"other.io/keep", "fairlead.io/admissioncheck"};
  check.active = condition(ConditionStatus::yes);
  check.all_clusters_used = condition(ConditionStatus::no);
  check.deleting = true;
  add_again(Kind::admission_check, check);
  MultiKueueConfigFacts config = multikueue_config();
  config.mark = {true, "placement/gpu"};
  config.deleting = true;
  add_again(Kind::multikueue_config, config);
  samples.add("observed_addonplacementscores_endless", "hub", [] {
    ObjectObserved fact = observed(Kind::addon_placement_score);
    fact.facts = AddOnPlacementScoreFacts{};
    return fact;
  }());
  samples.add("observed_bindingpolicies", "hub", observed(Kind::binding_policy));
  ManagedClusterFacts cluster = std::get<ManagedClusterFacts>(facts(Kind::managed_cluster));
  cluster.labelled = true;
  add_again(Kind::managed_cluster, cluster);
}

void add_version_4(Numbered& samples) {
  Configuration value = configuration();
  value.multikueue.cleared_by = ClearedBy::merge_patch;
  value.status_interval = minutes(10);
  value.member_nodes_max = 20'000;
  samples.add("config_changed_4", "self", ConfigChanged{value});
  samples.add("observed_cohorts", "hub", observed(Kind::cohort));
  const auto add_again = [&](const char* name, Kind kind, Facts facts) {
    ObjectObserved fact = observed(kind);
    fact.facts = std::move(facts);
    samples.add(name, "hub", std::move(fact));
  };
  add_again("observed_cohorts_plain", Kind::cohort, CohortFacts{});
  ClusterQueueFacts queue = cluster_queue();
  queue.effective = effective_quotas();
  add_again("observed_clusterqueues_4", Kind::cluster_queue, queue);
  queue.effective = EffectiveQuotas{{"example.com", "Divider", "nothing"}, {}};
  add_again("observed_clusterqueues_4_nothing", Kind::cluster_queue, queue);
  ManifestWorkFacts work = manifest_work();
  work.flavors = {{"default-flavor", true}, {"spot", false}};
  work.finalizers = {"cluster.open-cluster-management.io/manifest-work-cleanup"};
  add_again("observed_manifestworks_4", Kind::manifest_work, work);
  samples.add("observed_mutatingadmissionpolicies", "hub",
              observed(Kind::mutating_admission_policy));
  AdmissionCheckFacts check = admission_check();
  check.dispatcher_ready = condition(ConditionStatus::no);
  add_again("observed_admissionchecks_4", Kind::admission_check, check);
  ClaimFacts claimed = claim();
  claimed.status_digest = digest_of(11);
  add_again("observed_clusterresourceclaims_4", Kind::claim, claimed);
  value.member_changes_per_minute = 3000;
  samples.add("config_changed_4_changes", "self", ConfigChanged{value});
  samples.add("source_stale_4_objects", "cluster1",
              SourceStale{Kind::node, "", StaleCause::too_many});
  samples.add("source_stale_4_changes", "cluster1",
              SourceStale{Kind::node, "", StaleCause::too_many_changes});
}

PoolSettings pool_settings() {
  return {.clusters = {{"cluster1", 50, {{{"cpu", 10}}}, {{{"memory", "1Gi"}}}, true},
                       {"*", 100, {}, {}, false}},
          .tenants = {{"acme", "", "/etc/acme.kubeconfig"}, {"bolt", "fairlead-system/bolt", ""}},
          .policy = PoolPolicy::spread,
          .partial = true,
          .quotas = PoolQuotas::max,
          .tenant_limit = {{"cpu", 100'000}},
          .tolerations = {{"dedicated", "Exists", "", "NoSchedule"}},
          .lost_grace = minutes(5),
          .settle = seconds(1),
          .slices_max = 500,
          .tenant_objects_max = 1000};
}

void add_version_5(Numbered& samples) {
  Configuration value = configuration();
  value.webhook_rules = {{AdmissionRule::over_capacity, RuleAction::deny},
                         {AdmissionRule::owned_quota, RuleAction::off}};
  value.record = true;
  value.export_before_upgrade = true;
  samples.add("config_changed_5", "self", ConfigChanged{value});
  ObjectObserved queue = observed(Kind::cluster_queue);
  queue.writers = {{"kubectl-edit", "Update", "", "2026-01-01T00:00:00Z"},
                   {"argocd-controller", "Apply", "scale", ""}};
  samples.add("observed_clusterqueues_5", "hub", std::move(queue));
  samples.add("admission_decided", "self",
              AdmissionDecided{"5e0c",
                               "jane@example.com",
                               AdmissionOperation::update,
                               {Kind::cluster_queue, "", "queue-a"},
                               {AdmissionRule::owned_quota, AdmissionRule::bad_base},
                               AdmissionOutcome::overridden,
                               "rack 7 is being moved"});
  samples.add("admission_decided_denied", "self",
              AdmissionDecided{"5e0d",
                               "system:serviceaccount:argocd:sync",
                               AdmissionOperation::remove,
                               {Kind::claim, "", "cluster1"},
                               {AdmissionRule::claim_in_use},
                               AdmissionOutcome::denied,
                               ""});
  for (const Kind kind :
       {Kind::virtual_cluster, Kind::namespace_, Kind::resource_quota, Kind::pod, Kind::config_map})
    samples.add("observed_" + std::string(info(kind).resource), "hub", observed(kind));
  value.pool = pool_settings();
  samples.add("config_changed_5_pool", "self", ConfigChanged{value});
  for (const Kind kind : {Kind::resource_slice, Kind::device_class, Kind::resource_claim,
                          Kind::resource_claim_template, Kind::device_taint_rule})
    samples.add("observed_" + std::string(info(kind).resource), "cluster1", observed(kind));
  value.dra = dra_settings();
  samples.add("config_changed_5_dra", "self", ConfigChanged{value});
  ObjectObserved workload = observed(Kind::workload);
  workload.facts = workload_with_devices();
  samples.add("observed_workloads_5", "hub", std::move(workload));
  ObjectObserved pod = observed(Kind::pod);
  pod.facts = pod_with_devices();
  samples.add("observed_pods_5", "cluster1", std::move(pod));
  ObjectObserved of_tenant = observed(Kind::pod);
  PodFacts made_for_tenant;
  made_for_tenant.set_origin({"", "", "0d5e2a4c-tenant"});
  of_tenant.facts = std::move(made_for_tenant);
  samples.add("observed_pods_5_tenant", "cluster1", std::move(of_tenant));
  for (const Kind kind : {Kind::fleet_resource_class, Kind::fleet_resource_claim,
                          Kind::fleet_resource_claim_template, Kind::fleet_scheduling})
    samples.add("observed_" + std::string(info(kind).resource), "hub", observed(kind));
  ObjectObserved with_claims = observed(Kind::workload);
  with_claims.facts = workload_with_fleet_claims();
  samples.add("observed_workloads_5_fleet", "hub", std::move(with_claims));
  ObjectObserved work = observed(Kind::manifest_work);
  std::get<ManifestWorkFacts>(work.facts).feedback_digest = digest_of(8);
  samples.add("observed_manifestworks_5", "hub", std::move(work));
  ObjectObserved policy = observed(Kind::binding_policy);
  std::get<BindingPolicyFacts>(policy.facts).flavors = {"default-flavor", "spot"};
  samples.add("observed_bindingpolicies_5", "hub", std::move(policy));
}

void add_version_6(Numbered& samples) {
  samples.add("observed_topologies", "hub", observed(Kind::topology));
  ObjectObserved work = observed(Kind::manifest_work);
  auto& facts = std::get<ManifestWorkFacts>(work.facts);
  facts.feedback[0].reason = "TopologyNotFound";
  facts.feedback[0].synced = ConditionStatus::yes;
  facts.topologies = {{"racks", true}};
  samples.add("observed_manifestworks_6", "hub", std::move(work));
  ObjectObserved policy = observed(Kind::binding_policy);
  std::get<BindingPolicyFacts>(policy.facts).topologies = {"racks"};
  samples.add("observed_bindingpolicies_6", "hub", std::move(policy));
  ObjectObserved queue = observed(Kind::cluster_queue);
  std::get<ClusterQueueFacts>(queue.facts).sharing = sharing_terms();
  queue.writers = {{"kubectl-edit", "Update", "", "2026-01-01T00:00:00Z",
                    bit_of(SpecField::stop_policy) | bit_of(SpecField::quota_reserve)}};
  samples.add("observed_clusterqueues_6", "hub", std::move(queue));
  for (const CohortTerms& terms : {cohort_terms(), CohortTerms{}}) {
    ObjectObserved cohort = observed(Kind::cohort);
    std::get<CohortFacts>(cohort.facts).terms = terms;
    samples.add(terms.groups.empty() ? "observed_cohorts_6_nothing" : "observed_cohorts_6", "hub",
                std::move(cohort));
  }
  ObjectObserved local = observed(Kind::local_queue);
  local.facts = LocalQueueFacts{"queue-a", "Hold", {ConditionStatus::no, "Stopped", 0}};
  samples.add("observed_localqueues_6", "cluster1", std::move(local));
  ObjectObserved spelled = observed(Kind::cluster_queue);
  std::get<ClusterQueueFacts>(spelled.facts).groups = {spelled_group()};
  samples.add("observed_clusterqueues_6_spelled", "hub", std::move(spelled));
  for (const auto cause : {RejectionCause::outage, RejectionCause::rights})
    samples.add("patch_rejected_6_" + std::to_string(static_cast<int>(cause)), "self",
                PatchRejected{{22}, 500, "InternalError: failed calling webhook", cause});
}

void add_version_7(Numbered& samples) {
  PatchIntended fact = intent();  // its fields say otherwise than its rule
  fact.direction = Direction::other;
  fact.rank = Rank::release;
  samples.add("patch_intended_7", "self", std::move(fact));
}

void add_version_8(Numbered& samples) {
  for (const WorkloadProgress& progress : {workload_progress(), WorkloadProgress{}}) {
    ObjectObserved workload = observed(Kind::workload);
    std::get<WorkloadFacts>(workload.facts).progress = progress;
    samples.add(progress.queue.empty() ? "observed_workloads_8_nothing" : "observed_workloads_8",
                "cluster1", std::move(workload));
  }
  ObjectObserved queue = observed(Kind::cluster_queue);
  auto& facts = std::get<ClusterQueueFacts>(queue.facts);
  facts.reserved = {{"default-flavor", "cpu", 9000}, {"default-flavor", "memory", 1 << 30}};
  facts.borrowed = {{"default-flavor", "cpu", 500}};
  queue.read = LogTime{1'767'225'600'000'000'000};
  samples.add("observed_clusterqueues_8", "hub", std::move(queue));
  samples.add("config_changed_8", "self", ConfigChanged{configuration_of_workloads()});
}

}  // namespace

Facts facts(Kind kind) {
  switch (kind) {
    case Kind::node: return node();
    case Kind::cluster_metrics:
      return ClusterMetricsFacts{{{"gpu-1", node()}, {"gpu-2", NodeFacts{}}}};
    case Kind::managed_cluster:
      return ManagedClusterFacts{{{"cpu", 64000}}, condition(ConditionStatus::no), true};
    case Kind::cluster_profile: return cluster_profile();
    case Kind::resource_flavor:
      return ResourceFlavorFacts{Texts{{"pool", "a100"}},
                                 {{"dedicated", "training", "NoSchedule"}},
                                 {{"dedicated", "Exists", "", "NoSchedule"}},
                                 "racks"};
    case Kind::cluster_queue: return cluster_queue();
    case Kind::local_queue: return LocalQueueFacts{"queue-a", {}, {}};
    case Kind::admission_check: return admission_check();
    case Kind::multikueue_config: return multikueue_config();
    case Kind::manifest_work: return manifest_work();
    case Kind::claim: return claim();
    case Kind::multikueue_cluster: return multikueue_cluster();
    case Kind::placement:
      return PlacementFacts{{{"gpu-score", "gpuClusterAvailable", -3}, {"other", "free", 1}}, true};
    case Kind::placement_decision: return PlacementDecisionFacts{"gpu", {"cluster1", "cluster2"}};
    case Kind::addon_placement_score:
      return AddOnPlacementScoreFacts{{{"gpuClusterAvailable", 90}, {"spare", -100}},
                                      LogTime{1'767'225'600'000'000'001}};
    case Kind::workload: return workload();
    case Kind::secret: return SecretFacts{{"ca", "kubeconfig"}, digest_of(9)};
    case Kind::custom_resource_definition: return CustomResourceDefinitionFacts{20, true};
    case Kind::binding_policy: return binding_policy();
    case Kind::cohort: return CohortFacts{"research", effective_quotas()};
    case Kind::mutating_admission_policy: return MutatingAdmissionPolicyFacts{true, true};
    case Kind::virtual_cluster:
      return VirtualClusterFacts{"Running", "default-1a2b3c-acme", "own", R"({"cpu":"100"})"};
    case Kind::namespace_:
      return NamespaceFacts{
          R"({"cpu":"1","memory":"2Gi"})", "", "spread", "BadSlice", "acme", "web", "77aa", true};
    case Kind::resource_quota:
      return ResourceQuotaFacts{{{"cpu", 12'000}, {"requests.memory", 1 << 30}}, true};
    case Kind::pod:
      return PodFacts{"r1", "DoesNotFit: cpu 1", {{"cpu", 1000}}, true, true, true, true, true, {},
                      {}};
    case Kind::config_map: return ConfigMapFacts{"r1"};
    case Kind::resource_slice: return resource_slice();
    case Kind::device_class: return device_class();
    case Kind::resource_claim: return resource_claim();
    case Kind::resource_claim_template: return resource_claim_template();
    case Kind::device_taint_rule: return device_taint_rule();
    case Kind::fleet_resource_class: return fleet_resource_class();
    case Kind::fleet_resource_claim: return fleet_resource_claim();
    case Kind::fleet_resource_claim_template: return fleet_resource_claim_template();
    case Kind::fleet_scheduling: return fleet_scheduling();
    case Kind::topology: return TopologyFacts{{"example.com/block", "kubernetes.io/hostname"}};
  }
  return NodeFacts{};
}

std::vector<Sample> all() {
  Numbered samples;
  samples.add("epoch_started", "self", EpochStarted{"hub-0", "0.1.0", 4, 1});
  samples.add("config_changed", "self", ConfigChanged{configuration()});
  samples.add("source_synced", "cluster1", SourceSynced{Kind::node, "", "900"});
  samples.add("source_synced_cluster", "hub", SourceSynced{std::nullopt, "cluster2", ""});
  samples.add("source_stale", "cluster1", SourceStale{Kind::claim, ""});
  samples.add("source_stale_cluster", "hub", SourceStale{std::nullopt, "cluster2"});
  samples.add("source_lost", "cluster1", SourceLost{Kind::cluster_metrics, ""});
  samples.add("source_lost_cluster", "hub", SourceLost{std::nullopt, "cluster2"});
  for (const KindInfo& row : std::span(kKinds).first(kKindsOfVersion2))
    samples.add("observed_" + std::string(row.resource), "hub", observed(row.kind));
  samples.add("object_gone", "hub",
              ObjectGone{{Kind::local_queue, "team-a", "jobs"}, "12ab", "77"});
  samples.add("timer_fired", "self", TimerFired{LogTime{1'767'225'700'000'000'000}});
  samples.add("patch_intended", "self", intent());
  samples.add("patch_intended_delete", "self",
              PatchIntended{.cluster = "cluster1",
                            .verb = Verb::remove,
                            .target = {Kind::manifest_work, "cluster1", "fairlead-quotas"},
                            .version = "v1",
                            .field_manager = "",
                            .uid = "9f",
                            .resource_version = "5",
                            .body = "",
                            .reason = {"members/gone", {}, ""},
                            .contributions = {},
                            .overlaid = {},
                            .expected = std::nullopt,
                            .rank = Rank::member});
  samples.add("patch_accepted", "self", PatchAccepted{{22}, 200, "7a1b", "813"});
  samples.add("patch_rejected", "self",
              PatchRejected{{22}, 409, "Conflict: please apply your changes"});
  samples.add("patch_unknown", "self", PatchUnknown{{23}, "connection reset"});
  samples.add("checkpoint", "self", Checkpoint{digest_of(1), 26, digest_of(100)});
  add_version_3(samples);
  add_version_4(samples);
  add_version_5(samples);
  add_version_6(samples);
  add_version_7(samples);
  add_version_8(samples);
  return samples.take();
}

EventDraft node_draft(int number) {
  ObjectObserved fact;
  fact.key = {Kind::node, "", "node-" + std::to_string(number % 10)};
  fact.version = "v1";
  fact.uid = "uid-" + std::to_string(number % 10);
  fact.resource_version = std::to_string(1000 + number);
  NodeFacts facts;
  facts.ready = number % 2 == 0;
  facts.allocatable = {{"cpu", 1000 + number}, {"memory", 1 << 30}};
  fact.facts = std::move(facts);
  return {"cluster1", {}, std::move(fact)};
}

}  // namespace fairlead::samples
