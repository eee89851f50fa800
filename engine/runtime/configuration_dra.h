// Reads the list of the section `dra` of the configuration file.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/configuration_fields.h"

namespace fairlead {

/// Reads `dra.deviceClassMappings`, which a person copies from Kueue's Configuration: what Kueue
/// refuses there is refused here, too. Source: Kueue pkg/config/validation.go.
std::vector<DeviceClassMapping> read_device_class_mappings(const YamlNode& node,
                                                           const std::string& key);

/// Returns a sentence for each part of `dra.deviceClassMappings` that Kueue refuses unless a
/// feature gate that is off by default is on. Source: Kueue 0.19 pkg/features,
/// pkg/config/validation.go.
std::vector<std::string> gated_mappings(const std::vector<DeviceClassMapping>& mappings);

}  // namespace fairlead
