#include "engine/devices/node_reach.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead {

namespace {

constexpr std::size_t kLabelBytesMax = 63;

bool label_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// What a label's value, or the part of its key behind the `/`, may be. A requirement with any other
// text is invalid, and a term with an invalid requirement matches nothing, even with NotIn.
bool label_text(std::string_view text) {
  const auto inner = [](char c) { return label_letter(c) || c == '-' || c == '_' || c == '.'; };
  if (text.size() > kLabelBytesMax) return false;
  return text.empty() || (label_letter(text.front()) && label_letter(text.back()) &&
                          std::all_of(text.begin(), text.end(), inner));
}

// from_chars() reads a minus sign, with which no label's value can begin.
std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool has_value(const NodeRequirement& requirement, std::string_view value) {
  return std::find(requirement.values.begin(), requirement.values.end(), value) !=
         requirement.values.end();
}

bool compares(const NodeRequirement& requirement, std::optional<std::string_view> label) {
  const auto limit = integer(requirement.values.front());
  const auto value = label ? integer(*label) : std::nullopt;
  return limit && value && (requirement.op == "Gt" ? *value > *limit : *value < *limit);
}

bool label_matches(const NodeRequirement& requirement, const Labels& labels) {
  // Source: k8s.io/apimachinery labels.Requirement.Matches: NotIn and DoesNotExist hold for a node
  // without the label; Gt and Lt need an integer on both sides.
  const std::string& op = requirement.op;
  const std::string_view key = requirement.key;
  const auto name = key.substr(key.rfind('/') + 1);  // all of it where there is none: npos + 1 is 0
  if (name.empty() || !label_text(name) ||
      !std::all_of(requirement.values.begin(), requirement.values.end(), label_text))
    return false;
  const auto label = labels.find(key);
  const std::size_t values = requirement.values.size();
  if (op == "In") return values > 0 && label && has_value(requirement, *label);
  if (op == "NotIn") return values > 0 && !(label && has_value(requirement, *label));
  if (op == "Exists") return values == 0 && label;
  if (op == "DoesNotExist") return values == 0 && !label;
  if (op == "Gt" || op == "Lt") return values == 1 && compares(requirement, label);
  return false;
}

bool field_matches(const NodeRequirement& requirement, const std::string& node) {
  if (requirement.key != "metadata.name" || requirement.values.size() != 1) return false;
  const bool equal = requirement.values.front() == node;
  return (requirement.op == "In" && equal) || (requirement.op == "NotIn" && !equal);
}

bool term_matches(const NodeSelectorTerm& term, const std::string& node, const Labels& labels) {
  if (term.expressions.empty() && term.fields.empty()) return false;
  return std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const auto& one) { return label_matches(one, labels); }) &&
         std::all_of(term.fields.begin(), term.fields.end(),
                     [&](const auto& one) { return field_matches(one, node); });
}

}  // namespace

bool matches(const NodeSelector& selector, const std::string& node, const Labels& labels) {
  return std::any_of(selector.terms.begin(), selector.terms.end(),
                     [&](const auto& term) { return term_matches(term, node, labels); });
}

const NodeReach& reach_of(const ResourceSliceFacts& slice, const DeviceFacts& device) {
  static const NodeReach kNowhere;
  if (slice.reach.kind != NodeReachKind::devices) return slice.reach;
  return device.extras ? device.extras->reach : kNowhere;
}

bool reaches(const NodeReach& reach, const std::string& node, const Labels& labels) {
  switch (reach.kind) {
    case NodeReachKind::none: return false;
    case NodeReachKind::node: return reach.node == node;
    case NodeReachKind::selector: return matches(reach.selector, node, labels);
    case NodeReachKind::all: return true;
    case NodeReachKind::devices: return false;
  }
  return false;
}

}  // namespace fairlead
