// Prints a configuration as JSON (event_json.h).
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "schema/debounce_parameter.h"
#include "schema/event_json.h"

namespace fairlead {
namespace {

Json words(const std::vector<CapacitySource>& sources) {
  Json list = Json::array();
  for (const CapacitySource source : sources) list.push_back(std::string(text_of(source)));
  return list;
}
Json json_of(const MemberKubeconfig& member) {
  Json json{{"cluster", member.cluster}};
  if (!member.secret_ref.empty()) json["secretRef"] = member.secret_ref;
  if (!member.file.empty()) json["file"] = member.file;
  if (!member.cluster_profile.empty()) json["clusterProfile"] = member.cluster_profile;
  return json;
}
Json json_of(const std::vector<MemberKubeconfig>& members) {
  Json list = Json::array();
  for (const MemberKubeconfig& member : members) list.push_back(json_of(member));
  return list;
}
Json json_of(const DebounceSettings& settings) {
  Json json = Json::object();
  for (const DebounceParameter& parameter : kDebounceParameters) {
    if (parameter.number != nullptr)
      json[std::string(parameter.name)] = settings.*parameter.number;
    else
      json[std::string(parameter.name)] = debounce_parameter_text(settings, parameter);
  }
  return json;
}
// Leaves out settings that the record does not have because it is older than them.
Json json_of(const MultiKueueSettings& settings) {
  Json json{{"profile", text_of(settings.profile)},
            {"settle", to_go_duration(settings.settle)},
            {"moveWindow", to_go_duration(settings.move_window)},
            {"drainTimeout", to_go_duration(settings.drain_timeout)},
            {"emptyGrace", to_go_duration(settings.empty_grace)},
            {"credentialGrace", to_go_duration(settings.credential_grace)},
            {"adoptOcmAddon", settings.adopt_ocm_addon},
            {"accessProviders", settings.access_providers},
            {"dispatcher", settings.dispatcher}};
  if (settings.cleared_by != ClearedBy::unasked) json["clearedBy"] = text_of(settings.cleared_by);
  return json;
}

Json json_of(const PoolCluster& cluster) {
  Json json{{"cluster", cluster.name}, {"percent", cluster.percent}, {"drain", cluster.drain}};
  if (cluster.headroom_percent) json["headroom"]["percent"] = *cluster.headroom_percent;
  if (cluster.headroom_reserved) json["headroom"]["reserved"] = *cluster.headroom_reserved;
  return json;
}
Json json_of(const PoolTenantAccess& tenant) {
  Json json{{"name", tenant.name}};
  if (!tenant.secret_ref.empty()) json["secretRef"] = tenant.secret_ref;
  if (!tenant.file.empty()) json["file"] = tenant.file;
  return json;
}
Json json_of(const PoolToleration& toleration) {
  Json json{{"operator", toleration.op}};
  if (!toleration.key.empty()) json["key"] = toleration.key;
  if (!toleration.value.empty()) json["value"] = toleration.value;
  if (!toleration.effect.empty()) json["effect"] = toleration.effect;
  return json;
}
Json json_of(const DeviceSource& source);
Json json_of(const DeviceClassMapping& mapping);
Json json_of(const UsagePrice& price);

template <class T>
Json json_list(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(json_of(item));
  return list;
}
Json json_of(const PoolSettings& settings) {
  Json limit = Json::object();
  for (const auto& [resource, amount] : settings.tenant_limit)
    limit[resource] = amount_text(resource, amount);
  return {{"clusters", json_list(settings.clusters)},
          {"tenants", json_list(settings.tenants)},
          {"policy", text_of(settings.policy)},
          {"partial", settings.partial},
          {"quotas", text_of(settings.quotas)},
          {"tenantLimit", std::move(limit)},
          {"tolerations", json_list(settings.tolerations)},
          {"lostGrace", to_go_duration(settings.lost_grace)},
          {"settle", to_go_duration(settings.settle)},
          {"slicesMax", settings.slices_max},
          {"tenantObjectsMax", settings.tenant_objects_max}};
}

Json json_of(const DeviceSource& source) {
  const bool counter = source.kind == DeviceSourceKind::counter;
  return {{counter ? "counter" : "capacity",
           {{"name", source.name},
            {"driver", source.driver},
            {"deviceSelector", {{"cel", {{"expression", source.expression}}}}}}}};
}
Json json_of(const DeviceClassMapping& mapping) {
  Json json{{"name", mapping.name}, {"deviceClassNames", mapping.device_class_names}};
  if (!mapping.sources.empty()) json["sources"] = json_list(mapping.sources);
  return json;
}
Json json_of(const DraSettings& settings) {
  return {{"quota", settings.quota},
          {"dispatch", settings.dispatch},
          {"fleetClaims", settings.fleet_claims},
          {"deviceClassMappings", json_list(settings.device_class_mappings)},
          {"policy", text_of(settings.policy)},
          {"poolHold", to_go_duration(settings.pool_hold)},
          {"admitTimeout", to_go_duration(settings.admit_timeout)},
          {"placeTimeout", to_go_duration(settings.place_timeout)},
          {"stepsMax", settings.steps_max}};
}

Json json_of(const UsagePrice& price) {
  return {{"flavor", price.flavor},
          {"resource", price.resource},
          {"perHour", price.per_hour},
          {"currency", price.currency}};
}
Json json_of(const UsageSettings& settings) {
  return {{"interval", to_go_duration(settings.interval)},
          {"labels", settings.labels},
          {"prices", json_list(settings.prices)},
          {"allocation", text_of(settings.allocation)}};
}

}  // namespace

Json to_json(const Configuration& configuration) {
  Json json{{"kueue", {{"namespace", configuration.kueue_namespace}}},
            {"resourceAliases", configuration.resource_aliases},
            {"capacity",
             {{"sources", words(configuration.capacity_sources)},
              {"headroom",
               {{"percent", configuration.headroom.percent},
                {"reserved", configuration.headroom.reserved}}},
              {"overbookPercent", configuration.overbook_percent}}},
            {"claims",
             {{"create", configuration.create_claims},
              {"statusInterval", to_go_duration(configuration.status_interval)}}},
            {"members",
             {{"mode", text_of(configuration.member_mode)},
              {"kubeconfigs", json_of(configuration.member_kubeconfigs)}}},
            {"debounce", json_of(configuration.debounce)},
            {"multikueue", json_of(configuration.multikueue)},
            {"writes",
             {{"inflightMax", configuration.writes.inflight_max},
              {"qps", configuration.writes.qps},
              {"burst", configuration.writes.burst}}},
            {"log",
             {{"snapshotEvery", configuration.snapshot_every},
              {"rawRetention", to_go_duration(configuration.raw_retention)}}}};
  if (configuration.member_nodes_max != 0)
    json["members"]["nodesMax"] = configuration.member_nodes_max;
  if (configuration.member_changes_per_minute != 0)
    json["members"]["changesPerMinute"] = configuration.member_changes_per_minute;
  for (const auto& [rule, action] : configuration.webhook_rules)
    json["webhook"]["rules"][std::string(info(rule).name)] = text_of(action);
  if (configuration.pool != PoolSettings{}) json["pool"] = json_of(configuration.pool);
  if (configuration.dra != DraSettings{}) json["dra"] = json_of(configuration.dra);
  const WorkloadSettings& workloads = configuration.workloads;
  if (workloads.of_members != MemberWorkloads::automatic)
    json["members"]["workloads"] = text_of(workloads.of_members);
  if (workloads.max != WorkloadSettings{}.max ||
      workloads.keep_finished != WorkloadSettings{}.keep_finished)
    json["workloads"] = {{"max", workloads.max},
                         {"keepFinished", to_go_duration(workloads.keep_finished)}};
  if (configuration.usage != UsageSettings{}) json["usage"] = json_of(configuration.usage);
  if (configuration.record) json["record"] = true;
  if (configuration.export_before_upgrade) json["log"]["exportBeforeUpgrade"] = true;
  return json;
}

}  // namespace fairlead
