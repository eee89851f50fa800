#include "engine/main/client/configuration_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "engine/base/bounded_file.h"
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
    const auto text = read_bounded(options.file);
    if (!text) return text.error();
    auto read = read_configuration(*text, options.file);
    if (!read) return read.error();
    configuration = *read;
  }
  for (const std::string& setting : options.settings)
    if (auto applied = apply_setting(configuration, setting); !applied)
      return in_context("--set " + setting, applied.error());
  return configuration;
}

}  // namespace fairlead
