// `fairlead log replicate` and `fairlead log unreplicate`: from one process to several and back.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "engine/main/client/configuration_options.h"

namespace CLI {
class App;
}

namespace fairlead {

/// What both commands are told.
struct ReplicateOptions {
  std::filesystem::path data;
  std::string kubeconfig;
  std::string context;
  ConfigurationOptions configuration;
  bool replace = false;
};

void add_replicate_commands(CLI::App& log, int& exit_code);

}  // namespace fairlead
