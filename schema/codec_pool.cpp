// Encodes and decodes the facts and settings of the super cluster pool.
#include "schema/codec_parts.h"

namespace fairlead::stored {

static_assert(static_cast<unsigned>(value::PoolPolicy::spread) ==
              static_cast<unsigned>(Configuration::PoolPolicy::SPREAD));
static_assert(static_cast<unsigned>(value::PoolQuotas::max) ==
              static_cast<unsigned>(Configuration::PoolQuotas::MAX));

void write(const std::string& text, OptionalText::Builder out) {
  out.setPresent(true);
  put(out, &OptionalText::Builder::setText, text);
}
std::optional<std::string> read(OptionalText::Reader in) {
  if (in.getPresent()) return read(in.getText());
  // The writer sets a text only beside `present`: else one value would have two stored forms.
  if (in.hasText()) throw Malformed{"a text that is absent has a value"};
  return std::nullopt;
}

void write(const value::VirtualClusterFacts& cluster, VirtualCluster::Builder out) {
  using Out = VirtualCluster::Builder;
  put(out, &Out::setPhase, cluster.phase);
  put(out, &Out::setClusterNamespace, cluster.cluster_namespace);
  put(out, &Out::setSecret, cluster.secret);
  if (cluster.pool_limit) write(*cluster.pool_limit, out.initPoolLimit());
}
value::VirtualClusterFacts read(VirtualCluster::Reader in) {
  return {read(in.getPhase()), read(in.getClusterNamespace()), read(in.getSecret()),
          read(in.getPoolLimit())};
}

void write(const value::NamespaceFacts& of, Namespace::Builder out) {
  using Out = Namespace::Builder;
  if (of.slice) write(*of.slice, out.initSlice());
  if (of.placements) write(*of.placements, out.initPlacements());
  if (of.policy) write(*of.policy, out.initPolicy());
  if (of.reason) write(*of.reason, out.initReason());
  put(out, &Out::setTenant, of.tenant);
  put(out, &Out::setTenantNamespace, of.tenant_namespace);
  put(out, &Out::setTenantUid, of.tenant_uid);
  out.setDeleting(of.deleting);
}
value::NamespaceFacts read(Namespace::Reader in) {
  return {read(in.getSlice()),     read(in.getPlacements()), read(in.getPolicy()),
          read(in.getReason()),    read(in.getTenant()),     read(in.getTenantNamespace()),
          read(in.getTenantUid()), in.getDeleting()};
}

void write(const value::ResourceQuotaFacts& quota, TenantQuota::Builder out) {
  put_list(out, &TenantQuota::Builder::initHard, quota.hard);
  out.setScoped(quota.scoped);
}
value::ResourceQuotaFacts read(TenantQuota::Reader in) {
  return {read_map(in.getHard()), in.getScoped()};
}

void write(const value::PodFacts& pod, Pod::Builder out) {
  if (pod.super_cluster) write(*pod.super_cluster, out.initSuperCluster());
  if (pod.reason) write(*pod.reason, out.initReason());
  put_list(out, &Pod::Builder::initRequests, pod.requests);
  out.setBound(pod.bound);
  out.setGated(pod.gated);
  out.setResourceClaims(pod.resource_claims);
  out.setOver(pod.over);
  out.setDeleting(pod.deleting);
  put(out, &Pod::Builder::setWorkload, pod.origin().workload);
  put(out, &Pod::Builder::setPodSet, pod.origin().pod_set);
  if (pod.devices) write(*pod.devices, out.initDevices());
  put(out, &Pod::Builder::setTenantUid, pod.origin().tenant_uid);
}
value::PodFacts read(Pod::Reader in) {
  value::PodFacts pod{read(in.getSuperCluster()),
                      read(in.getReason()),
                      read_map(in.getRequests()),
                      in.getBound(),
                      in.getGated(),
                      in.getResourceClaims(),
                      in.getOver(),
                      in.getDeleting(),
                      {},
                      {}};
  pod.set_origin({read(in.getWorkload()), read(in.getPodSet()), read(in.getTenantUid())});
  if (in.hasDevices()) pod.devices = read(in.getDevices());
  return pod;
}

void write(const value::ConfigMapFacts& map, ConfigMap::Builder out) {
  if (map.id) write(*map.id, out.initId());
}
value::ConfigMapFacts read(ConfigMap::Reader in) { return {read(in.getId())}; }

void write(const value::PoolCluster& cluster, Configuration::PoolCluster::Builder out) {
  using Out = Configuration::PoolCluster::Builder;
  put(out, &Out::setName, cluster.name);
  out.setPercent(cluster.percent);
  out.setOwnPercents(cluster.headroom_percent.has_value());
  if (cluster.headroom_percent) put_list(out, &Out::initHeadroomPercent, *cluster.headroom_percent);
  out.setOwnReserved(cluster.headroom_reserved.has_value());
  if (cluster.headroom_reserved)
    put_list(out, &Out::initHeadroomReserved, *cluster.headroom_reserved);
  out.setDrain(cluster.drain);
}
value::PoolCluster read(Configuration::PoolCluster::Reader in) {
  value::PoolCluster cluster{read(in.getName()), in.getPercent(), {}, {}, in.getDrain()};
  if (in.getOwnPercents()) cluster.headroom_percent = read_map(in.getHeadroomPercent());
  if (in.getOwnReserved()) cluster.headroom_reserved = read_map(in.getHeadroomReserved());
  return cluster;
}

void write(const value::PoolTenantAccess& tenant, Configuration::PoolTenant::Builder out) {
  using Out = Configuration::PoolTenant::Builder;
  put(out, &Out::setName, tenant.name);
  put(out, &Out::setSecretRef, tenant.secret_ref);
  put(out, &Out::setFile, tenant.file);
}
value::PoolTenantAccess read(Configuration::PoolTenant::Reader in) {
  return {read(in.getName()), read(in.getSecretRef()), read(in.getFile())};
}

void write(const value::PoolToleration& toleration, Configuration::PoolToleration::Builder out) {
  using Out = Configuration::PoolToleration::Builder;
  put(out, &Out::setKey, toleration.key);
  put(out, &Out::setOp, toleration.op);
  put(out, &Out::setValue, toleration.value);
  put(out, &Out::setEffect, toleration.effect);
}
value::PoolToleration read(Configuration::PoolToleration::Reader in) {
  return {read(in.getKey()), read(in.getOp()), read(in.getValue()), read(in.getEffect())};
}

void write(const value::PoolSettings& settings, Configuration::Pool::Builder out) {
  using Out = Configuration::Pool::Builder;
  put_list(out, &Out::initClusters, settings.clusters);
  put_list(out, &Out::initTenants, settings.tenants);
  out.setPolicy(static_cast<Configuration::PoolPolicy>(settings.policy));
  out.setPartial(settings.partial);
  out.setQuotas(static_cast<Configuration::PoolQuotas>(settings.quotas));
  put_list(out, &Out::initTenantLimit, settings.tenant_limit);
  put_list(out, &Out::initTolerations, settings.tolerations);
  out.setLostGrace(settings.lost_grace.ns);
  out.setSettle(settings.settle.ns);
  out.setSlicesMax(settings.slices_max);
  out.setTenantObjectsMax(settings.tenant_objects_max);
}
value::PoolSettings read(Configuration::Pool::Reader in) {
  return {.clusters = read_list(in.getClusters()),
          .tenants = read_list(in.getTenants()),
          .policy = read_enum<value::PoolPolicy>(in.getPolicy(), 2, "a pool policy"),
          .partial = in.getPartial(),
          .quotas = read_enum<value::PoolQuotas>(in.getQuotas(), 2, "a choice of quotas"),
          .tenant_limit = read_map(in.getTenantLimit()),
          .tolerations = read_list(in.getTolerations()),
          .lost_grace = {in.getLostGrace()},
          .settle = {in.getSettle()},
          .slices_max = in.getSlicesMax(),
          .tenant_objects_max = in.getTenantObjectsMax()};
}

}  // namespace fairlead::stored
