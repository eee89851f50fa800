#include "engine/fleet/model/json_path.h"

#include <optional>
#include <string>

namespace fairlead::model {
namespace {

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

void descend_field(const std::vector<const Json*>& from, const std::string& name,
                   std::vector<const Json*>& to) {
  for (const Json* value : from) {
    if (!value->is_object()) continue;
    if (auto found = value->find(name); found != value->end()) to.push_back(&*found);
  }
}

/// `?(@.type=="Ready")`: items whose field equals the text.
void descend_filter(const std::vector<const Json*>& from, std::string_view filter,
                    std::vector<const Json*>& to) {
  const std::size_t at = filter.find("@."), equals = filter.find("==");
  if (at == std::string_view::npos || equals == std::string_view::npos) return;
  std::string_view name = filter.substr(at + 2, equals - at - 2);
  std::string_view wanted = filter.substr(equals + 2);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  while (!wanted.empty() && wanted.front() == ' ') wanted.remove_prefix(1);
  while (!wanted.empty() && (wanted.back() == ')' || wanted.back() == ' ')) wanted.remove_suffix(1);
  for (const Json* list : from) {
    if (!list->is_array()) continue;
    for (const Json& item : *list) {
      if (!item.is_object()) continue;
      auto found = item.find(std::string(name));
      if (found == item.end()) continue;
      const std::string text = found->is_string() ? found->get<std::string>() : to_text(*found);
      if (text == unquoted(wanted)) to.push_back(&item);
    }
  }
}

void descend_bracket(const std::vector<const Json*>& from, std::string_view inside,
                     std::vector<const Json*>& to) {
  if (inside.starts_with('?')) return descend_filter(from, inside, to);
  if (inside.starts_with('\'') || inside.starts_with('"'))
    return descend_field(from, std::string(unquoted(inside)), to);
  for (const Json* list : from) {
    if (!list->is_array()) continue;
    if (inside == "*") {
      for (const Json& item : *list) to.push_back(&item);
    } else {
      const auto index =
          static_cast<std::size_t>(std::strtoul(std::string(inside).c_str(), nullptr, 10));
      if (index < list->size()) to.push_back(&(*list)[index]);
    }
  }
}

/// Removes `.name` from the front of `path` and returns the name, in which `\.` means a dot.
std::string parse_name(std::string_view& path) {
  std::string name;
  path.remove_prefix(1);
  while (!path.empty() && path.front() != '.' && path.front() != '[') {
    if (path.front() == '\\' && path.size() > 1) path.remove_prefix(1);
    name += path.front();
    path.remove_prefix(1);
  }
  return name;
}

}  // namespace

std::vector<Json> find_by_path(const Json& object, std::string_view path) {
  if (path.starts_with('{') && path.ends_with('}')) path = path.substr(1, path.size() - 2);
  std::vector<const Json*> found{&object};
  while (!path.empty()) {
    std::vector<const Json*> next;
    if (path.front() == '[') {
      const std::size_t close = path.find(']');
      if (close == std::string_view::npos) return {};
      descend_bracket(found, path.substr(1, close - 1), next);
      path.remove_prefix(close + 1);
    } else if (path.front() == '.') {
      const std::string name = parse_name(path);
      if (!name.empty())
        descend_field(found, name, next);
      else
        next = found;
    } else {
      return {};
    }
    found = std::move(next);
  }
  std::vector<Json> values;
  for (const Json* value : found) values.push_back(*value);
  return values;
}

}  // namespace fairlead::model
