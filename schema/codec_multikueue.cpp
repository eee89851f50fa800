// Encodes and decodes the projected facts of the kinds between a Placement and a running Workload.
#include "schema/codec_parts.h"

namespace fairlead::stored {

static void write(const value::OwnerMark& mark, OwnerMark::Builder out) {
  out.setManaged(mark.managed);
  put(out, &OwnerMark::Builder::setOwner, mark.owner);
}
static value::OwnerMark read(OwnerMark::Reader in) {
  return {in.getManaged(), read(in.getOwner())};
}

void write(const value::AdmissionCheckFacts& check, AdmissionCheck::Builder out) {
  using Out = AdmissionCheck::Builder;
  put(out, &Out::setControllerName, check.controller_name);
  put(out, &Out::setParametersApiGroup, check.parameters_api_group);
  put(out, &Out::setParametersKind, check.parameters_kind);
  put(out, &Out::setParametersName, check.parameters_name);
  put_list(out, &Out::initSettings, check.settings);
  put_texts(out, &Out::initFinalizers, check.finalizers);
  write(check.active, out.initActive());
  write(check.all_clusters_used, out.initAllClustersUsed());
  out.setDeleting(check.deleting);
  // Added with a later version: left out while it is absent, so that older checks keep their bytes.
  if (check.dispatcher_ready != value::ConditionFacts{})
    write(check.dispatcher_ready, out.initDispatcherReady());
}
value::AdmissionCheckFacts read(AdmissionCheck::Reader in) {
  return {read(in.getControllerName()),
          read(in.getParametersApiGroup()),
          read(in.getParametersKind()),
          read(in.getParametersName()),
          read_map(in.getSettings()),
          read_texts(in.getFinalizers()),
          read(in.getActive()),
          read(in.getAllClustersUsed()),
          in.getDeleting(),
          read(in.getDispatcherReady())};
}

void write(const value::MultiKueueConfigFacts& config, MultiKueueConfig::Builder out) {
  put_texts(out, &MultiKueueConfig::Builder::initClusters, config.clusters);
  put(out, &MultiKueueConfig::Builder::setQuotaManagement, config.quota_management);
  write(config.mark, out.initMark());
  out.setDeleting(config.deleting);
}
value::MultiKueueConfigFacts read(MultiKueueConfig::Reader in) {
  return {read_texts(in.getClusters()), read(in.getQuotaManagement()), read(in.getMark()),
          in.getDeleting()};
}

void write(const value::MultiKueueClusterFacts& cluster, MultiKueueCluster::Builder out) {
  using Out = MultiKueueCluster::Builder;
  put(out, &Out::setSecret, cluster.secret);
  put(out, &Out::setPath, cluster.path);
  put(out, &Out::setClusterProfile, cluster.cluster_profile);
  write(cluster.mark, out.initMark());
  write(cluster.active, out.initActive());
  out.setDeleting(cluster.deleting);
}
value::MultiKueueClusterFacts read(MultiKueueCluster::Reader in) {
  return {read(in.getSecret()), read(in.getPath()),   read(in.getClusterProfile()),
          read(in.getMark()),   read(in.getActive()), in.getDeleting()};
}

static void write(const value::ScorePrioritizer& prioritizer, ScorePrioritizer::Builder out) {
  put(out, &ScorePrioritizer::Builder::setResourceName, prioritizer.resource_name);
  put(out, &ScorePrioritizer::Builder::setScoreName, prioritizer.score_name);
  out.setWeight(prioritizer.weight);
}
static value::ScorePrioritizer read(ScorePrioritizer::Reader in) {
  return {read(in.getResourceName()), read(in.getScoreName()), in.getWeight()};
}

void write(const value::PlacementFacts& placement, Placement::Builder out) {
  put_list(out, &Placement::Builder::initPrioritizers, placement.prioritizers);
  out.setDeleting(placement.deleting);
}
value::PlacementFacts read(Placement::Reader in) {
  return {read_list(in.getPrioritizers()), in.getDeleting()};
}

void write(const value::PlacementDecisionFacts& decision, PlacementDecision::Builder out) {
  put(out, &PlacementDecision::Builder::setPlacement, decision.placement);
  put_texts(out, &PlacementDecision::Builder::initClusters, decision.clusters);
}
value::PlacementDecisionFacts read(PlacementDecision::Reader in) {
  return {read(in.getPlacement()), read_texts(in.getClusters())};
}

void write(const value::AddOnPlacementScoreFacts& score, AddOnPlacementScore::Builder out) {
  put_list(out, &AddOnPlacementScore::Builder::initScores, score.scores);
  if (score.valid_until) out.getValidUntil().setTime(score.valid_until->ns);
}
value::AddOnPlacementScoreFacts read(AddOnPlacementScore::Reader in) {
  value::AddOnPlacementScoreFacts score{read_map(in.getScores()), std::nullopt};
  if (in.getValidUntil().isTime())
    score.valid_until = LogTime{in.getValidUntil().getTime()};
  else if (!in.getValidUntil().isNone())
    throw Malformed{"the end of a score is neither none nor a time"};
  return score;
}

static void write(const value::WorkloadCheck& check, WorkloadCheck::Builder out) {
  put(out, &WorkloadCheck::Builder::setName, check.name);
  put(out, &WorkloadCheck::Builder::setState, check.state);
}
static value::WorkloadCheck read(WorkloadCheck::Reader in) {
  return {read(in.getName()), read(in.getState())};
}

static void write(const value::WorkloadPodSet& pod_set, WorkloadPodSet::Builder out) {
  put(out, &WorkloadPodSet::Builder::setName, pod_set.name);
  out.setCount(pod_set.count);
  if (pod_set.admitted) out.getAdmitted().setPods(*pod_set.admitted);
  write(pod_set.pod, out.initPod());
  put_list(out, &WorkloadPodSet::Builder::initFleetClaims, pod_set.fleet.entries);
  put(out, &WorkloadPodSet::Builder::setFleetFault, pod_set.fleet.fault);
}
static value::WorkloadPodSet read(WorkloadPodSet::Reader in) {
  value::WorkloadPodSet pod_set{read(in.getName()), in.getCount(), {}, read(in.getPod()), {}};
  pod_set.fleet = {read_list(in.getFleetClaims()), read(in.getFleetFault())};
  if (in.getAdmitted().isPods())
    pod_set.admitted = in.getAdmitted().getPods();
  else if (!in.getAdmitted().isNone())
    throw Malformed{"the admitted pods are neither none nor a number"};
  return pod_set;
}

void write(const value::WorkloadFacts& workload, Workload::Builder out) {
  using Out = Workload::Builder;
  put_list(out, &Out::initChecks, workload.checks);
  put(out, &Out::setClusterName, workload.cluster_name);
  put_texts(out, &Out::initNominatedClusters, workload.nominated_clusters);
  out.setQuotaReserved(workload.quota_reserved);
  out.setFinished(workload.finished);
  out.setEvicted(workload.evicted);
  out.setDeleting(workload.deleting);
  out.setPriority(workload.priority);
  out.setCreated(workload.created.ns);
  put_list(out, &Out::initPodSets, workload.pod_sets);
  if (workload.devices_reserved != value::ConditionFacts{})
    write(workload.devices_reserved, out.initDevicesReserved());
}
value::WorkloadFacts read(Workload::Reader in) {
  return {read_list(in.getChecks()),
          read(in.getClusterName()),
          read_texts(in.getNominatedClusters()),
          in.getQuotaReserved(),
          in.getFinished(),
          in.getEvicted(),
          in.getDeleting(),
          in.getPriority(),
          LogTime{in.getCreated()},
          read_list(in.getPodSets()),
          read(in.getDevicesReserved())};
}

void write(const value::SecretFacts& secret, Secret::Builder out) {
  put_texts(out, &Secret::Builder::initKeys, secret.keys);
  put(out, &Secret::Builder::setContent, secret.content);
}
value::SecretFacts read(Secret::Reader in) {
  return {read_texts(in.getKeys()), read_digest(in.getContent())};
}

void write(const value::CustomResourceDefinitionFacts& crd, CustomResourceDefinition::Builder out) {
  if (crd.clusters_max) out.getClustersMax().setItems(*crd.clusters_max);
  out.setClusterProfileRef(crd.cluster_profile_ref);
}
value::CustomResourceDefinitionFacts read(CustomResourceDefinition::Reader in) {
  value::CustomResourceDefinitionFacts crd;
  if (in.getClustersMax().isItems())
    crd.clusters_max = in.getClustersMax().getItems();
  else if (!in.getClustersMax().isNone())
    throw Malformed{"a bound is neither none nor a number"};
  crd.cluster_profile_ref = in.getClusterProfileRef();
  return crd;
}

void write(const value::MutatingAdmissionPolicyFacts& policy,
           MutatingAdmissionPolicy::Builder out) {
  out.setClearsNominations(policy.clears_nominations);
  out.setDeleting(policy.deleting);
}
value::MutatingAdmissionPolicyFacts read(MutatingAdmissionPolicy::Reader in) {
  return {in.getClearsNominations(), in.getDeleting()};
}

}  // namespace fairlead::stored
