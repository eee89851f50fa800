// Encodes and decodes the projected facts of the kinds that carry quota to a member.
#include "schema/codec_parts.h"

namespace fairlead::stored {

static void write(const value::WorkQuota& quota, WorkQuota::Builder out) {
  using Out = WorkQuota::Builder;
  put(out, &Out::setClusterQueue, quota.cluster_queue);
  put(out, &Out::setFlavor, quota.flavor);
  put(out, &Out::setResource, quota.resource);
  out.setNominal(quota.nominal);
}
static value::WorkQuota read(WorkQuota::Reader in) {
  return {read(in.getClusterQueue()), read(in.getFlavor()), read(in.getResource()),
          in.getNominal()};
}

static void write(const value::WorkLocalQueue& queue, WorkLocalQueue::Builder out) {
  using Out = WorkLocalQueue::Builder;
  put(out, &Out::setNamespace, queue.namespace_);
  put(out, &Out::setName, queue.name);
  put(out, &Out::setClusterQueue, queue.cluster_queue);
}
static value::WorkLocalQueue read(WorkLocalQueue::Reader in) {
  return {read(in.getNamespace()), read(in.getName()), read(in.getClusterQueue())};
}

static void write(const value::WorkFlavor& flavor, WorkFlavor::Builder out) {
  put(out, &WorkFlavor::Builder::setName, flavor.name);
  out.setOrphaned(flavor.orphaned);
}
static value::WorkFlavor read(WorkFlavor::Reader in) {
  return {read(in.getName()), in.getOrphaned()};
}

static void write(const value::WorkFeedback& feedback, WorkFeedback::Builder out) {
  put(out, &WorkFeedback::Builder::setClusterQueue, feedback.cluster_queue);
  out.setActive(static_cast<ConditionStatus>(feedback.active));
  out.setHasUsage(feedback.has_usage);
  put_list(out, &WorkFeedback::Builder::initUsage, feedback.usage);
  put(out, &WorkFeedback::Builder::setReason, feedback.reason);
  out.setSynced(static_cast<ConditionStatus>(feedback.synced));
}
static value::WorkFeedback read(WorkFeedback::Reader in) {
  return {read(in.getClusterQueue()), read(in.getActive()), in.getHasUsage(),
          read_list(in.getUsage()),   read(in.getReason()), read(in.getSynced())};
}

void write(const value::ManifestWorkFacts& work, ManifestWork::Builder out) {
  using Out = ManifestWork::Builder;
  put(out, &Out::setSpecDigest, work.spec_digest);
  put_list(out, &Out::initQuotas, work.quotas);
  put_list(out, &Out::initLocalQueues, work.local_queues);
  write(work.applied, out.initApplied());
  write(work.available, out.initAvailable());
  put_list(out, &Out::initFeedback, work.feedback);
  out.setDeleting(work.deleting);
  put_list(out, &Out::initFlavors, work.flavors);
  put_texts(out, &Out::initFinalizers, work.finalizers);
  put(out, &Out::setFeedbackDigest, work.feedback_digest);
  put_list(out, &Out::initTopologies, work.topologies);
}
value::ManifestWorkFacts read(ManifestWork::Reader in) {
  return {read_digest(in.getSpecDigest()),
          read_list(in.getQuotas()),
          read_list(in.getLocalQueues()),
          read(in.getApplied()),
          read(in.getAvailable()),
          read_list(in.getFeedback()),
          in.getDeleting(),
          read_list(in.getFlavors()),
          read_texts(in.getFinalizers()),
          read_digest(in.getFeedbackDigest()),
          read_list(in.getTopologies())};
}

void write(const value::BindingPolicyFacts& policy, BindingPolicy::Builder out) {
  using Out = BindingPolicy::Builder;
  put(out, &Out::setSpecDigest, policy.spec_digest);
  put_texts(out, &Out::initNamespaces, policy.namespaces);
  out.setOurs(policy.ours);
  out.setObservedGeneration(policy.observed_generation);
  write(policy.synced, out.initSynced());
  put(out, &Out::setError, policy.error);
  out.setDeleting(policy.deleting);
  put_texts(out, &Out::initFlavors, policy.flavors);
  put_texts(out, &Out::initTopologies, policy.topologies);
}
value::BindingPolicyFacts read(BindingPolicy::Reader in) {
  return {read_digest(in.getSpecDigest()),
          read_texts(in.getNamespaces()),
          in.getOurs(),
          in.getObservedGeneration(),
          read(in.getSynced()),
          read(in.getError()),
          in.getDeleting(),
          read_texts(in.getFlavors()),
          read_texts(in.getTopologies())};
}

void write(const value::TopologyFacts& topology, Topology::Builder out) {
  put_texts(out, &Topology::Builder::initLevels, topology.levels);
}
value::TopologyFacts read(Topology::Reader in) { return {read_texts(in.getLevels())}; }

}  // namespace fairlead::stored
