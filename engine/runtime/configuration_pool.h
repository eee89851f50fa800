// Reads the lists and maps of the section `pool` of the configuration file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/runtime/configuration_fields.h"

namespace fairlead {

std::vector<PoolCluster> read_pool_clusters(const YAML::Node& node, const std::string& key);
std::vector<PoolTenantAccess> read_pool_tenants(const YAML::Node& node, const std::string& key);
std::vector<PoolToleration> read_pool_tolerations(const YAML::Node& node, const std::string& key);
std::map<std::string, std::int64_t> read_tenant_limit(const YAML::Node& node,
                                                      const std::string& key);

}  // namespace fairlead
