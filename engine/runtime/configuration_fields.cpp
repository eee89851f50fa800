#include "engine/runtime/configuration_fields.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>

#include "engine/runtime/configuration_dra.h"
#include "engine/runtime/configuration_pool.h"
#include "engine/runtime/configuration_roles.h"
#include "engine/runtime/configuration_usage.h"
#include "engine/runtime/configuration_values.h"
#include "schema/debounce_parameter.h"

namespace fairlead {
namespace {

/// A setting of one value: `field` finds it in a Configuration, `read` reads it.
template <class Field, class Read>
ConfigurationField setting(std::string path, Field field, Read read) {
  ConfigurationField row;
  row.read = [path, field, read](Configuration& c, const YamlNode& node) {
    field(c) = read(node, path);
  };
  row.path = std::move(path);
  return row;
}

template <class Field>
ConfigurationField number(std::string path, Field field, std::int64_t min, std::int64_t max) {
  return setting(std::move(path), field, [min, max](const YamlNode& node, const std::string& key) {
    return read_number(node, key, min, max);
  });
}

template <class Field>
ConfigurationField duration(std::string path, Field field) {
  return setting(std::move(path), field, read_duration);
}

template <class Field>
ConfigurationField word(std::string path, Field field) {
  using Value = std::remove_reference_t<std::invoke_result_t<Field, Configuration&>>;
  return setting(std::move(path), field, read_word_of<Value>);
}

template <class Field>
ConfigurationField on_off(std::string path, Field field) {
  return setting(std::move(path), field, [](const YamlNode& node, const std::string& key) {
    return read_word<bool>(node, key, kSwitch);
  });
}

/// A map of resource names; `read_value` reads one entry.
template <class Field, class Read>
ConfigurationField resource_map(std::string path, Field field, Read read_value) {
  ConfigurationField row;
  row.read_entry = [path, field, read_value](Configuration& c, const std::string& key,
                                             const YamlNode& node) {
    const std::string entry = path + "." + key;
    if (!is_resource_name(key))
      refuse(node, entry, "expected a resource name such as nvidia.com/gpu");
    field(c)[key] = read_value(node, entry);
  };
  row.read = [path, field, one = row.read_entry](Configuration& c, const YamlNode& node) {
    if (!node.is_map() && !node.is_null())
      refuse(node, path, "expected a map of resource names, such as {cpu: ...}");
    field(c).clear();
    for (const auto& entry : node.entries()) {
      const std::string key = read_text(entry.first, path, "expected a resource name");
      if (field(c).contains(key)) refuse(entry.first, path + "." + key, "expected it only once");
      one(c, key, entry.second);
    }
  };
  row.path = std::move(path);
  return row;
}

std::string read_alias(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected the resource name that the alias means";
  const std::string text = read_text(node, key, expected);
  if (!is_resource_name(text) || key == "resourceAliases." + text)
    refuse(node, key, std::string(expected));
  return text;
}

std::vector<CapacitySource> read_sources(const YamlNode& node, const std::string& key) {
  if (!node.is_list() || node.items().size() == 0)
    refuse(node, key, "expected a list of at least one of nodes, clusterMetrics, managedCluster");
  std::vector<CapacitySource> sources;
  for (const YamlNode& item : node.items()) {
    const auto source = read_word_of<CapacitySource>(item, key);
    if (std::find(sources.begin(), sources.end(), source) != sources.end())
      refuse(item, key, "expected " + item.text + " only once");
    sources.push_back(source);
  }
  return sources;
}

MemberKubeconfig read_kubeconfig(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected =
      "expected {cluster, and one of secretRef, file, clusterProfile}";
  if (!node.is_map()) refuse(node, key, std::string(expected));
  MemberKubeconfig member;
  for (const auto& entry : node.entries()) {
    const std::string name = read_text(entry.first, key, expected);
    std::string* field = name == "cluster"          ? &member.cluster
                         : name == "secretRef"      ? &member.secret_ref
                         : name == "file"           ? &member.file
                         : name == "clusterProfile" ? &member.cluster_profile
                                                    : nullptr;
    const std::string path = key + "." + name;
    if (field == nullptr) refuse(entry.first, path, "unknown key; " + std::string(expected));
    if (!field->empty()) refuse(entry.first, path, "expected it only once");
    *field = read_text(entry.second, path, "expected a text");
    if ((name == "secretRef" || name == "clusterProfile") && !is_namespaced_name(*field))
      refuse(entry.second, path, "expected namespace/name");
    // "hub" and "self" already name sources in the log.
    if (name == "cluster" && (!is_object_name(*field) || *field == "hub" || *field == "self"))
      refuse(entry.second, path, "expected the name of a member cluster, other than hub and self");
  }
  const int ways =
      !member.secret_ref.empty() + !member.file.empty() + !member.cluster_profile.empty();
  if (member.cluster.empty() || ways != 1) refuse(node, key, std::string(expected));
  return member;
}

std::vector<MemberKubeconfig> read_kubeconfigs(const YamlNode& node, const std::string& key) {
  if (!node.is_list() && !node.is_null()) refuse(node, key, "expected a list");
  std::vector<MemberKubeconfig> members;
  std::set<std::string> clusters;
  for (std::size_t i = 0; i < node.items().size(); ++i) {
    const std::string path = key + "[" + std::to_string(i) + "]";
    members.push_back(read_kubeconfig(node.items()[i], path));
    if (!clusters.insert(members.back().cluster).second)
      refuse(node.items()[i], path + ".cluster", "expected each cluster only once");
  }
  return members;
}

std::vector<std::string> read_names(const YamlNode& node, const std::string& key) {
  if (!node.is_list() && !node.is_null()) refuse(node, key, "expected a list of names");
  std::vector<std::string> names;
  for (const YamlNode& item : node.items())
    names.push_back(read_text(item, key, "expected a name"));
  return names;
}

ConfigurationField debounce_parameter(const DebounceParameter& parameter) {
  ConfigurationField row;
  row.path = "debounce." + std::string(parameter.name);
  row.read = [&parameter, path = row.path](Configuration& c, const YamlNode& node) {
    std::string why_not;
    const std::string value = node.is_scalar() ? node.text : std::string();
    if (!set_debounce_parameter(c.debounce, parameter.name, value, why_not))
      refuse(node, path, why_not);
  };
  return row;
}

RuleAction read_rule_action(const YamlNode& node, const std::string& key, AdmissionRule rule) {
  const auto action = read_word_of<RuleAction>(node, key);
  // A value that the fold would ignore is reported in any case.
  if (rule == AdmissionRule::claim_invalid && action == RuleAction::off)
    refuse(node, key, "expected one of deny, warn");
  return action;
}

ConfigurationField webhook_rules() {
  ConfigurationField row;
  row.path = "webhook.rules";
  row.read_entry = [path = row.path](Configuration& c, const std::string& key,
                                     const YamlNode& node) {
    const auto rule = parse_admission_rule(key);
    if (!rule) {
      std::string expected = "unknown key; expected one of";
      for (const AdmissionRuleInfo& known : kAdmissionRules)
        expected.append(&known == kAdmissionRules.data() ? " " : ", ").append(known.name);
      refuse(node, path + "." + key, expected);
    }
    c.webhook_rules[*rule] = read_rule_action(node, path + "." + key, *rule);
  };
  row.read = [path = row.path, one = row.read_entry](Configuration& c, const YamlNode& node) {
    if (!node.is_map() && !node.is_null())
      refuse(node, path, "expected a map of rules, such as {ownedQuota: deny}");
    c.webhook_rules.clear();
    std::set<std::string> seen;
    for (const auto& entry : node.entries()) {
      const std::string key = read_text(entry.first, path, "expected the name of a rule");
      if (!seen.insert(key).second) refuse(entry.first, path + "." + key, "expected it only once");
      one(c, key, entry.second);
    }
  };
  return row;
}

// Finds a setting in a Configuration.
#define FAIRLEAD_FIELD(member) [](Configuration& c) -> auto& { return c.member; }

std::vector<ConfigurationField> capacity_fields() {
  return {
      setting("kueue.namespace", FAIRLEAD_FIELD(kueue_namespace), read_namespace),
      resource_map("resourceAliases", FAIRLEAD_FIELD(resource_aliases), read_alias),
      setting("capacity.sources", FAIRLEAD_FIELD(capacity_sources), read_sources),
      resource_map("capacity.headroom.percent", FAIRLEAD_FIELD(headroom.percent), read_percent),
      resource_map("capacity.headroom.reserved", FAIRLEAD_FIELD(headroom.reserved), read_reserved),
      number("capacity.overbookPercent", FAIRLEAD_FIELD(overbook_percent), 1, 1'000'000),
      on_off("claims.create", FAIRLEAD_FIELD(create_claims)),
      duration("claims.statusInterval", FAIRLEAD_FIELD(status_interval)),
      word("members.mode", FAIRLEAD_FIELD(member_mode)),
      setting("members.kubeconfigs", FAIRLEAD_FIELD(member_kubeconfigs), read_kubeconfigs),
      number("members.nodesMax", FAIRLEAD_FIELD(member_nodes_max), 1, 1'000'000),
      number("members.changesPerMinute", FAIRLEAD_FIELD(member_changes_per_minute), 0, 1'000'000),
      word("members.workloads", FAIRLEAD_FIELD(workloads.of_members)),
  };
}

std::vector<ConfigurationField> multikueue_fields() {
  return {
      word("multikueue.profile", FAIRLEAD_FIELD(multikueue.profile)),
      duration("multikueue.settle", FAIRLEAD_FIELD(multikueue.settle)),
      duration("multikueue.moveWindow", FAIRLEAD_FIELD(multikueue.move_window)),
      duration("multikueue.drainTimeout", FAIRLEAD_FIELD(multikueue.drain_timeout)),
      duration("multikueue.emptyGrace", FAIRLEAD_FIELD(multikueue.empty_grace)),
      duration("multikueue.credentialGrace", FAIRLEAD_FIELD(multikueue.credential_grace)),
      on_off("multikueue.adoptOcmAddon", FAIRLEAD_FIELD(multikueue.adopt_ocm_addon)),
      setting("multikueue.accessProviders", FAIRLEAD_FIELD(multikueue.access_providers),
              read_names),
      on_off("multikueue.dispatcher", FAIRLEAD_FIELD(multikueue.dispatcher)),
      word("multikueue.clearedBy", FAIRLEAD_FIELD(multikueue.cleared_by)),
  };
}

ConfigurationField tenant_limit() {
  ConfigurationField row =
      setting("pool.tenantLimit", FAIRLEAD_FIELD(pool.tenant_limit), read_tenant_limit);
  row.read_entry = [](Configuration& c, const std::string& key, const YamlNode& node) {
    // As a map of one entry, so that `--set` is checked as the file is.
    YamlNode name{YamlNode::Kind::scalar, YamlNode::Style::plain, key, node.line, nullptr};
    YamlNode map{YamlNode::Kind::map, YamlNode::Style::plain, {}, node.line, nullptr};
    map.children = std::make_shared<const std::vector<YamlNode>>(std::vector{name, node});
    c.pool.tenant_limit[key] = read_tenant_limit(map, "pool.tenantLimit").at(key);
  };
  return row;
}

std::vector<ConfigurationField> pool_fields() {
  return {
      setting("pool.clusters", FAIRLEAD_FIELD(pool.clusters), read_pool_clusters),
      setting("pool.tenants", FAIRLEAD_FIELD(pool.tenants), read_pool_tenants),
      word("pool.policy", FAIRLEAD_FIELD(pool.policy)),
      on_off("pool.partial", FAIRLEAD_FIELD(pool.partial)),
      word("pool.quotas", FAIRLEAD_FIELD(pool.quotas)),
      tenant_limit(),
      setting("pool.tolerations", FAIRLEAD_FIELD(pool.tolerations), read_pool_tolerations),
      duration("pool.lostGrace", FAIRLEAD_FIELD(pool.lost_grace)),
      duration("pool.settle", FAIRLEAD_FIELD(pool.settle)),
      number("pool.slicesMax", FAIRLEAD_FIELD(pool.slices_max), 1, 1'000'000),
      number("pool.tenantObjectsMax", FAIRLEAD_FIELD(pool.tenant_objects_max), 1, 10'000'000),
  };
}

std::vector<ConfigurationField> dra_fields() {
  return {
      on_off("dra.quota", FAIRLEAD_FIELD(dra.quota)),
      on_off("dra.dispatch", FAIRLEAD_FIELD(dra.dispatch)),
      on_off("dra.fleetClaims", FAIRLEAD_FIELD(dra.fleet_claims)),
      setting("dra.deviceClassMappings", FAIRLEAD_FIELD(dra.device_class_mappings),
              read_device_class_mappings),
      word("dra.policy", FAIRLEAD_FIELD(dra.policy)),
      duration("dra.poolHold", FAIRLEAD_FIELD(dra.pool_hold)),
      duration("dra.admitTimeout", FAIRLEAD_FIELD(dra.admit_timeout)),
      duration("dra.placeTimeout", FAIRLEAD_FIELD(dra.place_timeout)),
      number("dra.stepsMax", FAIRLEAD_FIELD(dra.steps_max), 1, 1'000'000'000),
  };
}

std::vector<ConfigurationField> usage_fields() {
  return {
      number("workloads.max", FAIRLEAD_FIELD(workloads.max), 1, 10'000'000),
      duration("workloads.keepFinished", FAIRLEAD_FIELD(workloads.keep_finished)),
      setting("usage.interval", FAIRLEAD_FIELD(usage.interval), read_usage_interval),
      setting("usage.labels", FAIRLEAD_FIELD(usage.labels), read_usage_labels),
      setting("usage.prices", FAIRLEAD_FIELD(usage.prices), read_usage_prices),
      word("usage.allocation", FAIRLEAD_FIELD(usage.allocation)),
  };
}

std::vector<ConfigurationField> shell_fields() {
  return {
      on_off("record", FAIRLEAD_FIELD(record)),
      number("writes.inflightMax", FAIRLEAD_FIELD(writes.inflight_max), 1, 10'000),
      number("writes.qps", FAIRLEAD_FIELD(writes.qps), 1, 1'000'000),
      number("writes.burst", FAIRLEAD_FIELD(writes.burst), 1, 1'000'000),
      webhook_rules(),
      number("log.snapshotEvery", FAIRLEAD_FIELD(snapshot_every), 1, 1'000'000'000),
      duration("log.rawRetention", FAIRLEAD_FIELD(raw_retention)),
      on_off("log.exportBeforeUpgrade", FAIRLEAD_FIELD(export_before_upgrade)),
  };
}

#undef FAIRLEAD_FIELD

std::vector<ConfigurationField> all_fields() {
  std::vector<ConfigurationField> fields = capacity_fields();
  for (const DebounceParameter& parameter : kDebounceParameters)
    fields.push_back(debounce_parameter(parameter));
  for (ConfigurationField& field : multikueue_fields()) fields.push_back(std::move(field));
  for (ConfigurationField& field : pool_fields()) fields.push_back(std::move(field));
  for (ConfigurationField& field : dra_fields()) fields.push_back(std::move(field));
  for (ConfigurationField& field : usage_fields()) fields.push_back(std::move(field));
  for (ConfigurationField& field : shell_fields()) fields.push_back(std::move(field));
  for (ConfigurationField& field : role_fields()) fields.push_back(std::move(field));
  return fields;
}

}  // namespace

const std::vector<ConfigurationField>& configuration_fields() {
  static const std::vector<ConfigurationField> fields = all_fields();
  return fields;
}

}  // namespace fairlead
