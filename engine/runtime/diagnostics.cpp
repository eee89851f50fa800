#include "engine/runtime/diagnostics.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "engine/base/printable.h"

namespace fairlead {

namespace {

// Longer values are cut: a whole answer of a server would drown the line.
constexpr std::size_t kValueBytesMax = 512;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:+").find(c) != std::string_view::npos;
}

void add_value(std::string& line, std::string_view value) {
  const bool cut = value.size() > kValueBytesMax;
  if (cut) value = value.substr(0, kValueBytesMax);
  if (!value.empty() && !cut && std::all_of(value.begin(), value.end(), is_plain)) {
    line += value;
    return;
  }
  std::string quoted;
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  line += '"' + printable(quoted) + (cut ? "...\"" : "\"");
}

spdlog::level::level_enum level_of(Severity severity) {
  switch (severity) {
    case Severity::info: return spdlog::level::info;
    case Severity::warn: return spdlog::level::warn;
    case Severity::error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

std::string to_line(const Diagnostic& diagnostic) {
  std::string line = printable(diagnostic.what);
  for (const auto& [key, value] : diagnostic.details) {
    line += ' ';
    line += key;
    line += '=';
    add_value(line, value);
  }
  return line;
}

Logger stderr_logger() {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("fairlead", std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-5l %v", spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::info);
  return [logger](const Diagnostic& diagnostic) {
    logger->log(level_of(diagnostic.severity), "{}", to_line(diagnostic));
  };
}

}  // namespace fairlead
