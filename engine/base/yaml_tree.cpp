#include "engine/base/yaml_tree.h"

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <map>
#include <sstream>

namespace fairlead {
namespace {

std::size_t line_of(const YAML::Mark& mark) {
  return mark.line < 0 ? 1 : static_cast<std::size_t>(mark.line) + 1;
}

// yaml-cpp's own tree forgets duplicate keys and reads endless documents, so one is built from its
// events. Throws YamlFault.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlNode root;

  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp gives empty documents for ever where it meets text that can start none.
    if (mark.pos == started_) throw YamlFault{line_of(mark), "text that belongs to no document"};
    started_ = mark.pos;
    root = YamlNode();
    root.line = line_of(mark);
    open_.clear();
    anchors_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    place(make(mark, YamlNode::Kind::null), anchor, {1, 0});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YamlFault{line_of(mark), "an alias of an unknown anchor"};
    const Anchored& meant = found->second;
    if (!meant.node) throw YamlFault{line_of(mark), "an anchor that contains itself"};
    count_alias(mark, meant.extent);
    // The copy shares its children, so nested aliases do not multiply memory.
    place(*meant.node, 0, meant.extent);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode made = make(mark, YamlNode::Kind::scalar);
    made.text = value;
    // "?" is a plain scalar without a tag, "!" a quoted one.
    if (tag == "!" || tag == "tag:yaml.org,2002:str" || tag == "tag:yaml.org,2002:binary")
      made.style = YamlNode::Style::text;
    else if (tag != "?")
      made.style = YamlNode::Style::tagged;
    const Extent extent{1, value.size()};
    place(std::move(made), anchor, extent);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(mark, YamlNode::Kind::list), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(mark, YamlNode::Kind::map), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // The values in a value, itself included, and the bytes of their texts; what aliases stand for
  // counts in full.
  struct Extent {
    std::size_t values = 1;
    std::size_t bytes = 0;
    Extent& operator+=(const Extent& more) {
      values += more.values;
      bytes += more.bytes;
      return *this;
    }
  };
  // A container whose end has not come.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor;
    std::vector<YamlNode> children;
    Extent extent;
  };
  struct Anchored {
    std::optional<YamlNode> node;  // nullopt: its end has not come
    Extent extent;
  };

  YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) const {
    if (open_.size() >= kYamlDepthMax)
      throw YamlFault{line_of(mark), "nested deeper than " + std::to_string(kYamlDepthMax)};
    YamlNode made;
    made.kind = kind;
    made.line = line_of(mark);
    return made;
  }
  // Of all documents of the text together: each could hold as many.
  void count_alias(const YAML::Mark& mark, const Extent& extent) {
    aliased_ += extent;
    if (aliased_.values > kYamlAliasedValuesMax)
      throw YamlFault{line_of(mark), "aliases that stand for more than " +
                                         std::to_string(kYamlAliasedValuesMax) + " values"};
    if (aliased_.bytes > kYamlAliasedBytesMax)
      throw YamlFault{line_of(mark), "aliases that stand for more than " +
                                         std::to_string(kYamlAliasedBytesMax) + " bytes"};
  }
  void place(YamlNode node, YAML::anchor_t anchor, Extent extent) {
    if (anchor != 0) anchors_[anchor] = {node, extent};
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    open_.back().children.push_back(std::move(node));
    open_.back().extent += extent;
  }
  void open(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = {};
    open_.push_back({std::move(node), anchor, {}, {}});
  }
  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    closed.node.children =
        std::make_shared<const std::vector<YamlNode>>(std::move(closed.children));
    place(std::move(closed.node), closed.anchor, closed.extent);
  }

  int started_ = -1;  // where the document before this one started
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  Extent aliased_{0, 0};
};

void emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    out << (value.empty() ? YAML::Flow : YAML::Block) << YAML::BeginMap;
    for (const auto& [key, item] : value.items()) {
      out << YAML::Key << key << YAML::Value;
      emit(out, item);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    out << (value.empty() ? YAML::Flow : YAML::Block) << YAML::BeginSeq;
    for (const Json& item : value) emit(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    out << value.get<std::string>();
  } else if (value.is_null()) {
    out << YAML::Null;  // as a text it would be quoted
  } else {
    out << to_text(value);
  }
}

}  // namespace

const std::vector<YamlNode>& YamlNode::items() const {
  static const std::vector<YamlNode> none;
  return is_list() && children ? *children : none;
}

std::vector<std::pair<YamlNode, YamlNode>> YamlNode::entries() const {
  std::vector<std::pair<YamlNode, YamlNode>> found;
  if (is_map() && children)
    for (std::size_t i = 0; i + 1 < children->size(); i += 2)
      found.emplace_back((*children)[i], (*children)[i + 1]);
  return found;
}

std::optional<YamlFault> read_yaml(
    std::string_view text,
    const std::function<std::optional<YamlFault>(const YamlNode&)>& on_document) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    while (parser.HandleNextDocument(builder))
      if (auto fault = on_document(builder.root)) return fault;
  } catch (const YamlFault& fault) {
    return fault;
  } catch (const YAML::Exception& error) {
    return YamlFault{line_of(error.mark), error.msg};
  } catch (const std::exception& error) {
    return YamlFault{1, error.what()};
  }
  return std::nullopt;
}

std::string write_yaml(const Json& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string(out.c_str()) + "\n";
}

}  // namespace fairlead
