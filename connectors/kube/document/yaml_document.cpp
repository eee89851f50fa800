#include "connectors/kube/document/yaml_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <memory>
#include <set>
#include <sstream>

namespace fairlead {
namespace {

// yaml-cpp's own tree forgets duplicate keys, so we build one from its events.
struct YamlNode {
  JsonKind kind = JsonKind::null;
  std::string text;
  std::size_t line = 0;
  bool complete = false;
  bool merge_key = false;                           // a plain `<<`
  std::vector<std::shared_ptr<YamlNode>> children;  // of a mapping: key, value, key, value
};
using NodePointer = std::shared_ptr<YamlNode>;

struct Refused {
  std::size_t line;
  std::string what;
};

std::size_t line_of(const YAML::Mark& mark) {
  return mark.line < 0 ? 1 : static_cast<std::size_t>(mark.line) + 1;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  NodePointer root;

  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp gives empty documents for ever where it meets text that can start none.
    if (mark.pos == started_) throw Refused{line_of(mark), "text that belongs to no document"};
    started_ = mark.pos;
    root.reset();
    stack_.clear();
    anchors_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    leaf(mark, anchor, {JsonKind::null, {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Refused{line_of(mark), "an alias of an unknown anchor"};
    if (!found->second->complete) throw Refused{line_of(mark), "an anchor that contains itself"};
    place(found->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    // "?" is a plain scalar without a tag, "!" a quoted one.
    const bool text =
        tag == "!" || tag == "tag:yaml.org,2002:str" || tag == "tag:yaml.org,2002:binary";
    NodePointer made =
        leaf(mark, anchor, text ? PlainScalar{JsonKind::string, value} : resolve_plain(value));
    made->merge_key = tag == "?" && value == "<<";
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, JsonKind::array);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, JsonKind::object);
  }
  void OnMapEnd() override { close(); }

 private:
  void place(const NodePointer& made) {
    if (stack_.empty())
      root = made;
    else
      stack_.back()->children.push_back(made);
  }
  NodePointer make(const YAML::Mark& mark, YAML::anchor_t anchor, JsonKind kind) {
    if (stack_.size() >= kJsonDepthMax)
      throw Refused{line_of(mark), "nested deeper than " + std::to_string(kJsonDepthMax)};
    auto made = std::make_shared<YamlNode>();
    made->kind = kind;
    made->line = line_of(mark);
    place(made);
    if (anchor != 0) anchors_[anchor] = made;
    return made;
  }
  NodePointer leaf(const YAML::Mark& mark, YAML::anchor_t anchor, PlainScalar scalar) {
    NodePointer made = make(mark, anchor, scalar.kind);
    made->text = std::move(scalar.text);
    made->complete = true;
    return made;
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, JsonKind kind) {
    stack_.push_back(make(mark, anchor, kind));
  }
  void close() {
    stack_.back()->complete = true;
    stack_.pop_back();
  }

  int started_ = -1;  // where the document before this one started
  std::vector<NodePointer> stack_;
  std::map<YAML::anchor_t, NodePointer> anchors_;
};

// Turns the tree into a JsonDocument: aliases are expanded, merge keys merged, keys become strings.
class Converter {
 public:
  explicit Converter(JsonDocument& out) : out_(out) {}

  void convert(const YamlNode& node, std::string_view key, std::size_t depth) {
    if (depth > kJsonDepthMax)
      throw Refused{node.line, "nested deeper than " + std::to_string(kJsonDepthMax)};
    if (out_.size() > kYamlNodesMax)
      throw Refused{node.line,
                    "aliases expand to more than " + std::to_string(kYamlNodesMax) + " values"};
    if (node.kind == JsonKind::array) {
      out_.open(JsonKind::array, key);
      for (const auto& item : node.children) convert(*item, {}, depth + 1);
      out_.close();
    } else if (node.kind == JsonKind::object) {
      out_.open(JsonKind::object, key);
      std::set<std::string> seen;
      own_members(node, seen, depth);
      merged_members(node, seen, depth);
      out_.close();
    } else {
      out_.leaf(node.kind, key, node.text);
    }
  }

 private:
  void own_members(const YamlNode& map, std::set<std::string>& seen, std::size_t depth) {
    for (std::size_t i = 0; i + 1 < map.children.size(); i += 2) {
      const YamlNode& name = *map.children[i];
      if (name.merge_key) continue;
      if (name.kind == JsonKind::array || name.kind == JsonKind::object ||
          name.kind == JsonKind::null)
        throw Refused{name.line, "a key that is a scalar was expected"};
      if (!seen.insert(name.text).second)
        throw Refused{name.line, "duplicate key \"" + name.text + "\""};
      convert(*map.children[i + 1], name.text, depth + 1);
    }
  }
  // `<<: *a` or `<<: [*a, *b]`: members that the map does not have itself; earlier maps win.
  void merged_members(const YamlNode& map, std::set<std::string>& seen, std::size_t depth) {
    if (depth > kJsonDepthMax) throw Refused{map.line, "merge keys nested too deep"};
    for (std::size_t i = 0; i + 1 < map.children.size(); i += 2)
      if (map.children[i]->merge_key) merge(*map.children[i + 1], seen, depth);
  }
  void merge(const YamlNode& value, std::set<std::string>& seen, std::size_t depth) {
    if (value.kind == JsonKind::array) {
      for (const auto& item : value.children)
        if (item->kind == JsonKind::object)
          merge(*item, seen, depth);
        else
          throw Refused{item->line, "map merge requires a map or a sequence of maps"};
      return;
    }
    if (value.kind != JsonKind::object)
      throw Refused{value.line, "map merge requires a map or a sequence of maps"};
    for (std::size_t i = 0; i + 1 < value.children.size(); i += 2)
      if (!value.children[i]->merge_key && seen.insert(value.children[i]->text).second)
        convert(*value.children[i + 1], value.children[i]->text, depth + 1);
    merged_members(value, seen, depth + 1);
  }

  JsonDocument& out_;
};

}  // namespace

std::vector<YamlDocument> parse_yaml(std::string_view text, std::optional<JsonFault>& fault) {
  std::vector<YamlDocument> out;
  auto refuse = [&](std::size_t line, std::string what) {
    fault = JsonFault{0, line, std::move(what)};
  };
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    while (parser.HandleNextDocument(builder)) {
      if (!builder.root || builder.root->kind == JsonKind::null) continue;
      YamlDocument made;
      made.line = builder.root->line;
      Converter(made.document).convert(*builder.root, {}, 0);
      out.push_back(std::move(made));
    }
  } catch (const Refused& refused) {
    refuse(refused.line, refused.what);
  } catch (const YAML::ParserException& error) {
    refuse(line_of(error.mark), error.msg);
  } catch (const std::exception& error) {
    refuse(1, error.what());
  }
  return out;
}

}  // namespace fairlead
