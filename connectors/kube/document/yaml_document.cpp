#include "connectors/kube/document/yaml_document.h"

#include <exception>
#include <set>

#include "engine/base/yaml_tree.h"

namespace fairlead {
namespace {

// A value's kind as JSON, and its text as a JSON token.
PlainScalar scalar_of(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null: return {JsonKind::null, {}};
    case YamlNode::Kind::list: return {JsonKind::array, {}};
    case YamlNode::Kind::map: return {JsonKind::object, {}};
    case YamlNode::Kind::scalar: break;
  }
  return node.style == YamlNode::Style::text ? PlainScalar{JsonKind::string, node.text}
                                             : resolve_plain(node.text);
}

bool is_merge_key(const YamlNode& key) {
  return key.is_scalar() && key.style == YamlNode::Style::plain && key.text == "<<";
}

// Turns the tree into a JsonDocument: aliases are expanded, merge keys merged, keys become strings.
// A value is visited once for each alias and each merge key that leads to it, even if a merge adds
// no key. read_yaml() bounds the number of these visits. Throws YamlFault.
class Converter {
 public:
  explicit Converter(JsonDocument& out) : out_(out) {}

  void convert(const YamlNode& node, std::string_view key, std::size_t depth) {
    if (depth > kJsonDepthMax)
      throw YamlFault{node.line, "nested deeper than " + std::to_string(kJsonDepthMax)};
    if (out_.size() > kYamlValuesMax)
      throw YamlFault{node.line, "more than " + std::to_string(kYamlValuesMax) + " values"};
    if (node.is_list()) {
      out_.open(JsonKind::array, key);
      for (const YamlNode& item : node.items()) convert(item, {}, depth + 1);
      out_.close();
    } else if (node.is_map()) {
      out_.open(JsonKind::object, key);
      std::set<std::string> seen;
      own_members(*node.children, seen, depth);
      merged_members(node, seen, depth);
      out_.close();
    } else {
      const PlainScalar scalar = scalar_of(node);
      out_.leaf(scalar.kind, key, scalar.text);
    }
  }

 private:
  void own_members(const std::vector<YamlNode>& members, std::set<std::string>& seen,
                   std::size_t depth) {
    for (std::size_t i = 0; i + 1 < members.size(); i += 2) {
      const YamlNode& key = members[i];
      if (is_merge_key(key)) continue;
      const PlainScalar name = scalar_of(key);
      if (name.kind == JsonKind::array || name.kind == JsonKind::object ||
          name.kind == JsonKind::null)
        throw YamlFault{key.line, "a key that is a scalar was expected"};
      if (!seen.insert(name.text).second)
        throw YamlFault{key.line, "duplicate key \"" + name.text + "\""};
      convert(members[i + 1], name.text, depth + 1);
    }
  }
  // `<<: *a` or `<<: [*a, *b]`: members that the map does not have itself; earlier maps win.
  void merged_members(const YamlNode& map, std::set<std::string>& seen, std::size_t depth) {
    if (depth > kJsonDepthMax) throw YamlFault{map.line, "merge keys nested too deep"};
    const std::vector<YamlNode>& members = *map.children;
    for (std::size_t i = 0; i + 1 < members.size(); i += 2)
      if (is_merge_key(members[i])) merge(members[i + 1], seen, depth);
  }
  void merge(const YamlNode& value, std::set<std::string>& seen, std::size_t depth) {
    if (value.is_list()) {
      for (const YamlNode& item : value.items())
        if (item.is_map())
          merge(item, seen, depth);
        else
          throw YamlFault{item.line, "map merge requires a map or a sequence of maps"};
      return;
    }
    if (!value.is_map())
      throw YamlFault{value.line, "map merge requires a map or a sequence of maps"};
    const std::vector<YamlNode>& members = *value.children;
    for (std::size_t i = 0; i + 1 < members.size(); i += 2) {
      if (is_merge_key(members[i])) continue;
      const std::string name = scalar_of(members[i]).text;
      if (seen.insert(name).second) convert(members[i + 1], name, depth + 1);
    }
    merged_members(value, seen, depth + 1);
  }

  JsonDocument& out_;
};

}  // namespace

std::vector<YamlDocument> parse_yaml(std::string_view text, std::optional<JsonFault>& fault) {
  std::vector<YamlDocument> out;
  const auto convert = [&out](const YamlNode& root) -> std::optional<YamlFault> {
    const bool empty = !root.is_list() && !root.is_map() && scalar_of(root).kind == JsonKind::null;
    if (empty) return std::nullopt;
    YamlDocument made;
    made.line = root.line;
    try {
      Converter(made.document).convert(root, {}, 0);
    } catch (const YamlFault& refused) {
      return refused;
    }
    out.push_back(std::move(made));
    return std::nullopt;
  };
  if (auto found = read_yaml(text, convert)) fault = JsonFault{0, found->line, found->what};
  return out;
}

}  // namespace fairlead
