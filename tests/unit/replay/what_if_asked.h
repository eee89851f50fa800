// Options of what-ifs for tests.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "engine/runtime/configuration.h"
#include "replay/whatif/what_if.h"

namespace fairlead {

/// A what-if over the whole log, with these settings instead of history's.
inline WhatIfOptions under(std::vector<std::string> settings) {
  WhatIfOptions options;
  options.configuration =
      [settings = std::move(settings)](const Configuration& actual) -> Result<Configuration> {
    Configuration changed = actual;
    for (const std::string& setting : settings)
      if (auto applied = apply_setting(changed, setting); !applied) return applied.error();
    return changed;
  };
  return options;
}

inline WhatIf asked(const ReadableLog& log, const WhatIfOptions& options) {
  auto result = what_if({log, nullptr}, options);
  INFO((result ? "" : result.error().message));
  REQUIRE(result.has_value());
  return *std::move(result);
}

}  // namespace fairlead
