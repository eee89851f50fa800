#include "engine/runtime/configuration_pool.h"

#include <utility>

#include "engine/base/quantity.h"
#include "engine/runtime/configuration_values.h"

namespace fairlead {

namespace {

using Entry = ConfigurationEntry;

template <class Value>
std::map<std::string, Value> read_resources(const YamlNode& node, const std::string& key,
                                            Value (*read)(const YamlNode&, const std::string&)) {
  std::map<std::string, Value> values;
  if (node.is_null()) return values;
  for (const auto& [name, value] : entries_of(node, key, "expected a map of resource names")) {
    const std::string path = key + "." + name;
    if (!is_resource_name(name))
      refuse(value, path, "expected a resource name such as nvidia.com/gpu");
    values[name] = read(value, path);
  }
  return values;
}

PoolCluster read_cluster(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected {cluster, percent, headroom, drain}";
  PoolCluster cluster;
  for (const Entry& entry : entries_of(node, key, expected)) {
    const auto& [name, value] = entry;
    const std::string path = key + "." + name;
    if (name == "cluster") {
      cluster.name = read_text(value, path, "expected the name of a member, or *");
      const bool member = is_object_name(cluster.name) && cluster.name != "hub";
      if (cluster.name != "*" && (!member || cluster.name == "self"))
        refuse(value, path, "expected the name of a member other than hub and self, or *");
    } else if (name == "percent") {
      cluster.percent = read_percent(value, path);
    } else if (name == "drain") {
      cluster.drain = read_word<bool>(value, path, kSwitch);
    } else if (name == "headroom") {
      constexpr std::string_view parts = "expected {percent, reserved}";
      for (const Entry& part : entries_of(value, path, parts)) {
        if (part.first == "percent")
          cluster.headroom_percent = read_resources(part.second, path + ".percent", read_percent);
        else if (part.first == "reserved")
          cluster.headroom_reserved =
              read_resources(part.second, path + ".reserved", read_reserved);
        else
          refuse_key(part, path, parts);
      }
    } else {
      refuse_key(entry, key, expected);
    }
  }
  if (cluster.name.empty()) refuse(node, key, "expected a cluster; " + std::string(expected));
  return cluster;
}

// A tenant's name becomes a part of the name of its source: tenant/NAME.
bool is_tenant_name(std::string_view text) { return is_name_part(text, 253, "-._"); }

PoolTenantAccess read_tenant(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected {name, and one of secretRef, file}";
  PoolTenantAccess tenant;
  for (const Entry& entry : entries_of(node, key, expected)) {
    const auto& [name, value] = entry;
    const std::string path = key + "." + name;
    if (name == "name") {
      tenant.name = read_text(value, path, "expected the name of a tenant");
      if (!is_tenant_name(tenant.name)) refuse(value, path, "expected the name of a tenant");
    } else if (name == "secretRef") {
      tenant.secret_ref = read_text(value, path, "expected namespace/name");
      if (!is_namespaced_name(tenant.secret_ref)) refuse(value, path, "expected namespace/name");
    } else if (name == "file") {
      tenant.file = read_text(value, path, "expected a path");
    } else {
      refuse_key(entry, key, expected);
    }
  }
  if (tenant.name.empty() || tenant.secret_ref.empty() == tenant.file.empty())
    refuse(node, key, std::string(expected));
  return tenant;
}

PoolToleration read_toleration(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected {key, operator, value, effect}";
  PoolToleration toleration{"", "Equal", "", ""};
  const auto text_of = [](const YamlNode& value, const std::string& path) {
    if (!value.is_scalar()) refuse(value, path, "expected a text");
    return value.text;
  };
  for (const Entry& entry : entries_of(node, key, expected)) {
    const auto& [name, value] = entry;
    const std::string path = key + "." + name;
    if (name == "key") {
      toleration.key = text_of(value, path);
    } else if (name == "operator") {
      toleration.op = text_of(value, path);
      if (toleration.op != "Equal" && toleration.op != "Exists")
        refuse(value, path, "expected one of Equal, Exists");
    } else if (name == "value") {
      toleration.value = text_of(value, path);
    } else if (name == "effect") {
      toleration.effect = text_of(value, path);
      if (!toleration.effect.empty() && toleration.effect != "NoSchedule" &&
          toleration.effect != "NoExecute" && toleration.effect != "PreferNoSchedule")
        refuse(value, path, "expected one of NoSchedule, NoExecute, PreferNoSchedule");
    } else {
      refuse_key(entry, key, expected);
    }
  }
  if (toleration.op == "Exists" && !toleration.value.empty())
    refuse(node, key + ".value", "expected none where operator is Exists");
  if (toleration.op == "Equal" && toleration.key.empty())
    refuse(node, key + ".key", "expected one unless operator is Exists");
  return toleration;
}

std::int64_t read_limit_amount(const YamlNode& node, const std::string& key) {
  const std::string text = read_reserved(node, key);
  const std::string resource = key.ends_with(".cpu") ? "cpu" : "memory";
  const std::int64_t amount = to_amount(resource, *Quantity::parse(text));
  if (amount == 0) refuse(node, key, "expected a Quantity above 0");
  return amount;
}

}  // namespace

std::vector<PoolCluster> read_pool_clusters(const YamlNode& node, const std::string& key) {
  auto clusters = read_items(node, key, read_cluster);
  refuse_repetition(node, key, "cluster", clusters);
  return clusters;
}

std::vector<PoolTenantAccess> read_pool_tenants(const YamlNode& node, const std::string& key) {
  auto tenants = read_items(node, key, read_tenant);
  refuse_repetition(node, key, "name", tenants);
  return tenants;
}

std::vector<PoolToleration> read_pool_tolerations(const YamlNode& node, const std::string& key) {
  return read_items(node, key, read_toleration);
}

std::map<std::string, std::int64_t> read_tenant_limit(const YamlNode& node,
                                                      const std::string& key) {
  std::map<std::string, std::int64_t> limit;
  if (node.is_null()) return limit;
  constexpr std::string_view expected = "expected {cpu, memory}";
  for (const Entry& entry : entries_of(node, key, expected)) {
    if (entry.first != "cpu" && entry.first != "memory") refuse_key(entry, key, expected);
    limit[entry.first] = read_limit_amount(entry.second, key + "." + entry.first);
  }
  return limit;
}

}  // namespace fairlead
