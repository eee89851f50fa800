#include "connectors/kube/watch/line_fields.h"

#include <algorithm>
#include <utility>

namespace fairlead {
namespace {

// Splits at dots; a backslash keeps the next character.
std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '.')
      parts.emplace_back();
    else
      parts.back() += path[i] == '\\' ? path[++i] : path[i];
  }
  return parts;
}

}  // namespace

LineField& LineField::reach(std::string_view path) {
  LineField* at = this;
  for (std::string& part : split(path)) {
    const auto has_name = [&](const LineField& field) { return field.name == part; };
    const auto found = std::find_if(at->below.begin(), at->below.end(), has_name);
    if (found != at->below.end()) {
      at = &*found;
      continue;
    }
    std::uint8_t& last = at->of_size.at(part.size());
    LineField& made = at->below.emplace_back();
    made.name = std::move(part);
    made.before = std::exchange(last, static_cast<std::uint8_t>(at->below.size()));
    at = &made;
  }
  return *at;
}

}  // namespace fairlead
