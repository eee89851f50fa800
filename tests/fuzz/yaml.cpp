// Any text as YAML: it is read or refused with a line of it; what was read and is written again is
// read as the same.
#include <algorithm>
#include <string>

#include "connectors/kube/document/yaml_document.h"
#include "engine/base/yaml_tree.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

void check_node(const YamlNode& node, std::size_t lines, std::size_t depth) {
  check(depth <= kYamlDepthMax, "nesting is bounded");
  check(node.line >= 1 && node.line <= lines, "a value has a line of the text");
  check(node.children == nullptr || !node.is_scalar(), "a scalar has no children");
  for (const YamlNode& item : node.items()) check_node(item, lines, depth + 1);
  for (const auto& [key, value] : node.entries()) {
    check_node(key, lines, depth + 1);
    check_node(value, lines, depth + 1);
  }
}

// Whether the node is what the value was written as. What a plain scalar means is its reader's
// decision.
bool is_same(const YamlNode& node, const Json& value) {
  if (value.is_null()) return node.is_null();
  if (value.is_string()) return node.is_scalar() && node.text == value.get<std::string>();
  if (value.is_array())
    return node.is_list() && std::equal(node.items().begin(), node.items().end(), value.begin(),
                                        value.end(), is_same);
  if (!value.is_object()) return node.is_scalar() && node.text == to_text(value);
  const auto entries = node.entries();
  return node.is_map() && entries.size() == value.size() &&
         std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
           const auto member = value.find(entry.first.text);
           return member != value.end() && is_same(entry.second, *member);
         });
}

void check_written(const JsonDocument& document) {
  const std::string canonical = canonical_text(document.root());
  std::optional<JsonFault> fault;
  const auto as_yaml = parse_yaml(canonical, fault);
  check(
      !fault && as_yaml.size() == 1 && canonical_text(as_yaml.front().document.root()) == canonical,
      "JSON is YAML that says the same");
  const Json value = Json::parse(canonical, nullptr, false);
  // The writer is for texts: yaml-cpp replaces what is no UTF-8.
  const bool is_text =
      std::none_of(canonical.begin(), canonical.end(), [](char c) { return c < ' ' || c > '~'; });
  if (value.is_discarded() || !is_text) return;
  int documents = 0;
  const auto unread =
      read_yaml(write_yaml(value), [&](const YamlNode& node) -> std::optional<YamlFault> {
        ++documents;
        check(is_same(node, value), "what is written is read as the same");
        return std::nullopt;
      });
  check(!unread && documents == 1, "what is written is read");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(data, size);
  const auto lines =
      2 + static_cast<std::size_t>(std::count_if(text.begin(), text.end(),
                                                 [](char c) { return c == '\n' || c == '\r'; }));
  const auto unread = read_yaml(text, [&](const YamlNode& node) -> std::optional<YamlFault> {
    check_node(node, lines, 0);
    return std::nullopt;
  });
  if (unread) check(unread->line >= 1 && !unread->what.empty(), "a fault has a line and a reason");
  std::optional<JsonFault> fault;
  for (const YamlDocument& read : parse_yaml(text, fault)) {
    check(read.line >= 1 && read.line <= lines, "a document has a line of the text");
    check_written(read.document);
  }
  return 0;
}
