#include "tests/scenarios/language/field_path.h"

#include <algorithm>

namespace fairlead::language {
namespace {

using Fill = std::function<std::string(const std::string&)>;

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::string unescaped(std::string text) {
  for (const auto& [from, to] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}})
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; ++at)
      text.replace(at, 2, to);
  return text;
}

Step read_step(const std::string& text, const Fill& fill) {
  if (!text.starts_with('[')) return {fill(unescaped(text)), {}};
  Step step;
  // The names of members have dots where a pointer has slashes.
  for (const std::string& member : split(text.substr(1, text.size() - 2), ',')) {
    const std::size_t equals = member.find('=');
    std::string name = "/" + member.substr(0, equals);
    std::replace(name.begin(), name.end(), '.', '/');
    step.having.emplace_back(Json::json_pointer(name), fill(unescaped(member.substr(equals + 1))));
  }
  return step;
}

bool has(const Json& element, const Step& step) {
  return element.is_object() &&
         std::all_of(step.having.begin(), step.having.end(), [&](const auto& member) {
           return element.contains(member.first) && element[member.first] == member.second;
         });
}

bool is_index(const std::string& key) {
  return !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
}

Json* element(Json& list, const Step& step) {
  if (list.is_null()) list = Json::array();
  if (!list.is_array()) return nullptr;
  if (step.key == "+") {
    list.push_back(nullptr);
    return &list.back();
  }
  if (step.having.empty()) return &list[std::stoul(step.key)];
  for (Json& each : list)
    if (has(each, step)) return &each;
  Json made;
  for (const auto& [name, value] : step.having) made[name] = value;
  list.push_back(std::move(made));
  return &list.back();
}

bool goes_into_list(const Json& at, const Step& step) {
  return !step.having.empty() || step.key == "+" ||
         (is_index(step.key) && (at.is_null() || at.is_array()));
}

Json* down(Json& at, const Step& step) {
  if (goes_into_list(at, step)) return element(at, step);
  if (at.is_null()) at = Json::object();
  return at.is_object() ? &at[step.key] : nullptr;
}

bool erase_from(Json& at, const FieldPath& path, std::size_t depth) {
  const Step& step = path[depth];
  if (at.is_array()) {
    for (auto each = at.begin(); each != at.end(); ++each) {
      if (!has(*each, step) || step.having.empty()) continue;
      if (depth + 1 == path.size() || erase_from(*each, path, depth + 1)) at.erase(each);
      break;
    }
    return at.empty();
  }
  if (!at.is_object() || !at.contains(step.key)) return false;
  if (depth + 1 == path.size() || erase_from(at[step.key], path, depth + 1)) at.erase(step.key);
  return at.empty();
}

}  // namespace

FieldPath read_path(std::string_view text, const Fill& fill) {
  if (text.starts_with('/')) text.remove_prefix(1);
  FieldPath path;
  for (const std::string& step : split(text, '/')) path.push_back(read_step(step, fill));
  return path;
}

Json* reach(Json& object, const FieldPath& path) {
  Json* at = &object;
  for (const Step& step : path) {
    at = down(*at, step);
    if (at == nullptr) return nullptr;
  }
  return at;
}

void erase(Json& object, const FieldPath& path) { erase_from(object, path, 0); }

}  // namespace fairlead::language
