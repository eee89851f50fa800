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

// The text of the file.
static Result<std::string> read_options_file(const ConfigurationOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(options.file, ignored))
    return Error{ErrorCode::bad_input, options.file + ": expected a file, got a directory"};
  return read_bounded(options.file);
}

Result<Configuration> effective_configuration(const ConfigurationOptions& options) {
  Configuration configuration;
  if (!options.file.empty()) {
    const auto text = read_options_file(options);
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

Result<HubRoleSettings> effective_role_settings(const ConfigurationOptions& options) {
  std::string text;
  if (!options.file.empty()) {
    auto read = read_options_file(options);
    if (!read) return read.error();
    text = std::move(*read);
  }
  return read_role_settings(text, options.file, options.settings);
}

}  // namespace fairlead
