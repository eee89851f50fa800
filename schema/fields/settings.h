// The fields of the configuration as it is stored. As JSON it has the form of its file
// (configuration_json.cpp).
#pragma once

#include "schema/event.h"
#include "schema/fields/field.h"

namespace fairlead {

template <>
inline constexpr unsigned kValuesOf<CapacitySource> = 3;
template <>
inline constexpr unsigned kValuesOf<MemberMode> = 4;
template <>
inline constexpr unsigned kValuesOf<RuleAction> = 3;
template <>
inline constexpr unsigned kValuesOf<AdmissionRule> = kAdmissionRules.size();
template <>
inline constexpr unsigned kValuesOf<NamingProfile> = 2;
template <>
inline constexpr unsigned kValuesOf<ClearedBy> = 3;
template <>
inline constexpr unsigned kValuesOf<PoolPolicy> = 2;
template <>
inline constexpr unsigned kValuesOf<PoolQuotas> = 2;
template <>
inline constexpr unsigned kValuesOf<DeviceSourceKind> = 2;
template <>
inline constexpr unsigned kValuesOf<DraPolicy> = 3;
template <>
inline constexpr unsigned kValuesOf<MemberWorkloads> = 3;
template <>
inline constexpr unsigned kValuesOf<UsageAllocation> = 2;

template <class V, Of<MemberKubeconfig> T>
void fields(V& visit, T& member) {
  visit.field("cluster", member.cluster);
  visit.field("secretRef", member.secret_ref);
  visit.field("file", member.file);
  visit.field("clusterProfile", member.cluster_profile);
}

template <class V, Of<DebounceSettings> T>
void fields(V& visit, T& settings) {
  visit.field("ingestCoalesce", settings.ingest_coalesce);
  visit.field("shrinkWindow", settings.shrink_window);
  visit.field("growWindow", settings.grow_window);
  visit.field("firstQuiet", settings.first_quiet);
  visit.field("minGrowInterval", settings.min_grow_interval);
  visit.field("growDeadbandPercent", settings.grow_deadband_percent);
  visit.field("deadbandMaxAge", settings.deadband_max_age);
  visit.field("flapPenalty", settings.flap_penalty);
  visit.field("flapSuppress", settings.flap_suppress);
  visit.field("flapReuse", settings.flap_reuse);
  visit.field("flapHalfLife", settings.flap_half_life);
  visit.field("flapSuppressMax", settings.flap_suppress_max);
  visit.field("massShrinkPercent", settings.mass_shrink_percent);
  visit.field("massShrinkHold", settings.mass_shrink_hold);
  visit.field("staleAfter", settings.stale_after);
  visit.field("lostAfter", settings.lost_after);
  visit.field("writeInterval", settings.write_interval);
}

template <class V, Of<MultiKueueSettings> T>
void fields(V& visit, T& settings) {
  visit.field("profile", settings.profile);
  visit.field("settle", settings.settle);
  visit.field("moveWindow", settings.move_window);
  visit.field("drainTimeout", settings.drain_timeout);
  visit.field("emptyGrace", settings.empty_grace);
  visit.field("credentialGrace", settings.credential_grace);
  visit.field("adoptOcmAddon", settings.adopt_ocm_addon);
  visit.field("accessProviders", settings.access_providers);
  visit.field("dispatcher", settings.dispatcher);
  visit.field("clearedBy", settings.cleared_by);
}

template <class V, Of<PoolCluster> T>
void fields(V& visit, T& cluster) {
  visit.field("name", cluster.name);
  visit.field("percent", cluster.percent);
  visit.flagged("ownPercents", "headroomPercent", cluster.headroom_percent);
  visit.flagged("ownReserved", "headroomReserved", cluster.headroom_reserved);
  visit.field("drain", cluster.drain);
}

template <class V, Of<PoolTenantAccess> T>
void fields(V& visit, T& tenant) {
  visit.field("name", tenant.name);
  visit.field("secretRef", tenant.secret_ref);
  visit.field("file", tenant.file);
}

template <class V, Of<PoolToleration> T>
void fields(V& visit, T& toleration) {
  visit.field("key", toleration.key);
  visit.field("op", toleration.op);
  visit.field("value", toleration.value);
  visit.field("effect", toleration.effect);
}

template <class V, Of<PoolSettings> T>
void fields(V& visit, T& settings) {
  visit.field("clusters", settings.clusters);
  visit.field("tenants", settings.tenants);
  visit.field("policy", settings.policy);
  visit.field("partial", settings.partial);
  visit.field("quotas", settings.quotas);
  visit.field("tenantLimit", settings.tenant_limit);
  visit.field("tolerations", settings.tolerations);
  visit.field("lostGrace", settings.lost_grace);
  visit.field("settle", settings.settle);
  visit.field("slicesMax", settings.slices_max);
  visit.field("tenantObjectsMax", settings.tenant_objects_max);
}

template <class V, Of<DeviceSource> T>
void fields(V& visit, T& source) {
  visit.field("kind", source.kind);
  visit.field("name", source.name);
  visit.field("driver", source.driver);
  visit.field("expression", source.expression);
}

template <class V, Of<DeviceClassMapping> T>
void fields(V& visit, T& mapping) {
  visit.field("name", mapping.name);
  visit.field("deviceClassNames", mapping.device_class_names);
  visit.field("sources", mapping.sources);
}

template <class V, Of<DraSettings> T>
void fields(V& visit, T& settings) {
  visit.field("quota", settings.quota);
  visit.field("dispatch", settings.dispatch);
  visit.field("fleetClaims", settings.fleet_claims);
  visit.field("deviceClassMappings", settings.device_class_mappings);
  visit.field("policy", settings.policy);
  visit.field("poolHold", settings.pool_hold);
  visit.field("admitTimeout", settings.admit_timeout);
  visit.field("placeTimeout", settings.place_timeout);
  visit.field("stepsMax", settings.steps_max);
}

template <class V, Of<WorkloadSettings> T>
void fields(V& visit, T& settings) {
  visit.field("ofMembers", settings.of_members);
  visit.field("max", settings.max);
  visit.field("keepFinished", settings.keep_finished);
}

template <class V, Of<UsagePrice> T>
void fields(V& visit, T& price) {
  visit.field("flavor", price.flavor);
  visit.field("resource", price.resource);
  visit.field("perHour", price.per_hour);
  visit.field("currency", price.currency);
}

template <class V, Of<UsageSettings> T>
void fields(V& visit, T& settings) {
  visit.field("interval", settings.interval);
  visit.field("labels", settings.labels);
  visit.field("prices", settings.prices);
  visit.field("allocation", settings.allocation);
}

template <class V, Of<Configuration> T>
void fields(V& visit, T& configuration) {
  visit.field("kueueNamespace", configuration.kueue_namespace);
  visit.field("resourceAliases", configuration.resource_aliases);
  visit.field("capacitySources", configuration.capacity_sources);
  visit.field("headroomPercent", configuration.headroom.percent);
  visit.field("headroomReserved", configuration.headroom.reserved);
  visit.field("overbookPercent", configuration.overbook_percent);
  visit.field("createClaims", configuration.create_claims);
  visit.field("memberMode", configuration.member_mode);
  visit.field("memberKubeconfigs", configuration.member_kubeconfigs);
  visit.field("debounce", configuration.debounce);
  visit.field("multikueue", configuration.multikueue);
  visit.field("inflightMax", configuration.writes.inflight_max);
  visit.field("qps", configuration.writes.qps);
  visit.field("burst", configuration.writes.burst);
  visit.field("snapshotEvery", configuration.snapshot_every);
  visit.field("rawRetention", configuration.raw_retention);
  visit.field("claimStatusInterval", configuration.status_interval);
  visit.field("memberNodesMax", configuration.member_nodes_max);
  visit.field("memberChangesPerMinute", configuration.member_changes_per_minute);
  visit.field("webhookRules", configuration.webhook_rules);
  visit.field("record", configuration.record);
  visit.field("exportBeforeUpgrade", configuration.export_before_upgrade);
  // A configuration without them has the bytes that it had before they were added.
  visit.field("pool", configuration.pool, kUsual.but_late());
  visit.field("dra", configuration.dra, kUsual.but_late());
  visit.field("workloads", configuration.workloads, kUsual.but_late());
  visit.field("usage", configuration.usage, kUsual.but_late());
}

}  // namespace fairlead
