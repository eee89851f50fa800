// Reads the lists and maps of the section `pool` of the configuration file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/runtime/configuration_fields.h"

namespace fairlead {

std::vector<PoolCluster> read_pool_clusters(const YamlNode& node, const std::string& key);
std::vector<PoolTenantAccess> read_pool_tenants(const YamlNode& node, const std::string& key);
std::vector<PoolToleration> read_pool_tolerations(const YamlNode& node, const std::string& key);
std::map<std::string, std::int64_t> read_tenant_limit(const YamlNode& node, const std::string& key);

}  // namespace fairlead
