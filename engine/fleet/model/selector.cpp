#include "engine/fleet/model/selector.h"

#include <algorithm>

namespace fairlead::model {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Splits at commas that are not inside parentheses.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (auto part = trimmed(text.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
      begin = i + 1;
    }
  }
  return parts;
}

std::vector<std::string> values_in(std::string_view list) {
  std::vector<std::string> values;
  for (std::string_view value : split(list)) values.emplace_back(value);
  return values;
}

/// The string at a dotted path; nullptr if there is none.
const Json* at_path(const Json& object, std::string_view path) {
  const Json* at = &object;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    if (!at->is_object()) return nullptr;
    auto found = at->find(std::string(path.substr(0, dot)));
    if (found == at->end()) return nullptr;
    at = &*found;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return at;
}

const Json* label_of(const Json& object, const std::string& key) {
  const Json* labels = at_path(object, "metadata.labels");
  if (labels == nullptr || !labels->is_object()) return nullptr;
  auto found = labels->find(key);
  return found == labels->end() ? nullptr : &*found;
}

}  // namespace

Outcome<std::string> Selector::read_labels(std::string_view text) {
  for (std::string_view part : split(text)) {
    Requirement requirement;
    const std::size_t open = part.find('(');
    if (open != std::string_view::npos) {
      if (part.back() != ')')
        return bad_request(
            "unable to parse requirement: found '', expected: ',', ')' or identifier");
      std::string_view head = trimmed(part.substr(0, open));
      requirement.test = head.ends_with(" notin") ? Test::not_in : Test::in;
      requirement.key = trimmed(head.substr(0, head.rfind(' ')));
      requirement.values = values_in(part.substr(open + 1, part.size() - open - 2));
    } else if (const std::size_t at = part.find('='); at != std::string_view::npos) {
      const bool negated = at > 0 && part[at - 1] == '!';
      requirement.test = negated ? Test::differs : Test::equals;
      requirement.key = trimmed(part.substr(0, negated ? at - 1 : at));
      std::string_view value = part.substr(at + 1);
      if (value.starts_with('=')) value.remove_prefix(1);
      requirement.values = {std::string(trimmed(value))};
    } else {
      const bool negated = part.front() == '!';
      requirement.test = negated ? Test::absent : Test::exists;
      requirement.key = trimmed(part.substr(negated ? 1 : 0));
    }
    requirements_.push_back(std::move(requirement));
  }
  return std::string();
}

Outcome<Selector> Selector::parse(std::string_view label_selector, std::string_view field_selector,
                                  const std::vector<std::string>& fields) {
  Selector selector;
  Outcome<std::string> labels = selector.read_labels(label_selector);
  if (!labels) return labels.error();
  for (std::string_view part : split(field_selector)) {
    const std::size_t at = part.find('=');
    if (at == std::string_view::npos)
      return bad_request("invalid selector: '" + std::string(part) + "'; can't understand '" +
                         std::string(part) + "'");
    const bool negated = at > 0 && part[at - 1] == '!';
    std::string key(trimmed(part.substr(0, negated ? at - 1 : at)));
    std::string_view value = part.substr(at + 1);
    if (value.starts_with('=')) value.remove_prefix(1);
    if (std::find(fields.begin(), fields.end(), key) == fields.end())
      return bad_request("field label not supported: " + key);
    selector.requirements_.push_back(
        {false, std::move(key), negated ? Test::differs : Test::equals, {std::string(value)}});
  }
  return selector;
}

bool Selector::matches(const Json& object) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& wanted) {
    const Json* found =
        wanted.on_label ? label_of(object, wanted.key) : at_path(object, wanted.key);
    const bool there = found != nullptr && !found->is_null();
    if (wanted.test == Test::exists) return there;
    if (wanted.test == Test::absent) return !there;
    // A field that is absent counts as empty; a label that is absent differs from every value.
    std::string text = !there               ? ""
                       : found->is_string() ? found->get<std::string>()
                                            : to_text(*found);
    const bool listed =
        (there || !wanted.on_label) &&
        std::find(wanted.values.begin(), wanted.values.end(), text) != wanted.values.end();
    return wanted.test == Test::equals || wanted.test == Test::in ? listed : !listed;
  });
}

}  // namespace fairlead::model
