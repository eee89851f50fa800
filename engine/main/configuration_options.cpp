#include "engine/main/configuration_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/runtime/configuration.h"

namespace fairlead {

void add_configuration_options(CLI::App& command, ConfigurationOptions& options) {
  command.add_option("--config", options.file, "Configuration file (YAML)");
  command.add_option("--set", options.settings, "One value over it: a.b=VALUE, VALUE is YAML")
      ->allow_extra_args(false);
}

Result<Configuration> effective_configuration(const ConfigurationOptions& options) {
  Configuration configuration;
  if (!options.file.empty()) {
    std::error_code ignored;
    if (std::filesystem::is_directory(options.file, ignored))
      return Error{ErrorCode::bad_input, options.file + ": expected a file, got a directory"};
    std::ifstream file(options.file, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return Error{ErrorCode::bad_input, options.file + ": cannot be read"};
    auto read = read_configuration(text.str(), options.file);
    if (!read) return read.error();
    configuration = *read;
  }
  for (const std::string& setting : options.settings)
    if (auto applied = apply_setting(configuration, setting); !applied)
      return in_context("--set " + setting, applied.error());
  return configuration;
}

}  // namespace fairlead
