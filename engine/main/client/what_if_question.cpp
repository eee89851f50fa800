#include "engine/main/client/what_if_question.h"

#include <variant>

#include "engine/main/client/position.h"
#include "engine/runtime/configuration.h"

namespace fairlead {

namespace {

// A file replaces the configuration in force; settings change it, and leave the rest as it was at
// each time.
Result<Configuration> changed(const ConfigurationOptions& options, Configuration actual) {
  if (!options.file.empty()) return effective_configuration(options);
  for (const std::string& setting : options.settings)
    if (auto applied = apply_setting(actual, setting); !applied)
      return in_context("--set " + setting, applied.error());
  return actual;
}

}  // namespace

Result<void> check_what_if(const WhatIfQuestion& question) {
  const ConfigurationOptions& configuration = question.configuration;
  if (configuration.file.empty() && configuration.settings.empty())
    return Error{ErrorCode::bad_input, "expected --set a.b=VALUE or --config FILE"};
  if (auto probe = changed(configuration, {}); !probe) return probe.error();
  return {};
}

Result<WhatIfOptions> what_if_options(const ReadableLog& log, const WhatIfQuestion& question) {
  WhatIfOptions how;
  how.configuration = [configuration = question.configuration](const Configuration& actual) {
    return changed(configuration, actual);
  };
  if (!question.from.empty()) {
    const auto position = parse_position(log, "--from", question.from);
    if (!position) return position.error();
    const auto first = first_event(log, *position);
    if (!first) return first.error();
    how.from = *first;
    if (const auto* time = std::get_if<LogTime>(&*position)) how.from_time = *time;
  }
  if (!question.to.empty()) {
    const auto position = parse_position(log, "--to", question.to);
    if (!position) return position.error();
    const auto last = last_event(log, *position);
    if (!last) return last.error();
    how.to = *last;
    if (const auto* time = std::get_if<LogTime>(&*position)) how.to_time = *time;
  }
  return how;
}

WhatIfQuestion what_if_question(const HttpTarget& target) {
  WhatIfQuestion question;
  for (const auto& [name, value] : target.parameters)
    if (name == "set")
      question.configuration.settings.push_back(value);
    else if (name == "from")
      question.from = value;
    else if (name == "to")
      question.to = value;
  return question;
}

}  // namespace fairlead
