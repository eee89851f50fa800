// One JSON document as a compact tree with cheap views.
//
// Watch lines come in as text. A line is walked once, all of it but what nobody is going to read,
// into one array of nodes and one copy of the text, in which strings stay where they are; after
// that nothing refers to the input. Numbers keep their text, so an integer of forty digits or a
// decimal reaches the Quantity parser exactly as written: no floating point anywhere. YAML and
// nlohmann documents are brought into the same tree, so projections read one thing only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kube/json_index.h"
#include "engine/base/json.h"
#include "engine/base/result.h"

namespace fairlead {

/// Longest document that is read, in bytes. etcd refuses objects beyond 1.5 MB; a page of a list is
/// larger.
inline constexpr std::size_t kJsonBytesMax = std::size_t{16} << 20;
/// Longest document of an input file: a List of all nodes of a large fleet.
inline constexpr std::size_t kJsonFileBytesMax = std::size_t{1} << 30;
/// Deepest nesting that is read.
inline constexpr std::size_t kJsonDepthMax = 256;

/// What a view stands for; `absent` where there is nothing (a missing member, or a member of what
/// is no object).
enum class JsonKind : std::uint8_t { absent, null, boolean, number, string, array, object };

/// "a string", "an array", ...: for messages to a person.
std::string_view describe(JsonKind kind);

class JsonDocument;

/// One value of a JsonDocument. Copy freely; valid while its document lives and is not moved from.
class JsonView {
 public:
  /// Stands for nothing.
  JsonView() = default;

  JsonKind kind() const;
  bool is(JsonKind kind_asked) const { return kind() == kind_asked; }
  /// There is a value and it is not null: Kubernetes treats a null field as one left out.
  bool given() const { return kind() != JsonKind::absent && kind() != JsonKind::null; }

  /// The unescaped characters of a string, the exact token of a number, "true" or "false"; else
  /// empty.
  std::string_view text() const;
  /// text() of a string; empty for every other kind.
  std::string_view string() const { return is(JsonKind::string) ? text() : std::string_view{}; }
  /// The value is `true`.
  bool is_true() const { return is(JsonKind::boolean) && text() == "true"; }
  /// An integer token that fits; nullopt for other kinds and for `1.0` or `1e3`.
  std::optional<std::int64_t> integer() const;

  /// How many members or items.
  std::size_t size() const;
  /// The name under which this value is a member of its object; empty for items.
  std::string_view key() const;
  /// The member of that name (the last, if there are several); absent if there is none or this is
  /// no object.
  JsonView operator[](std::string_view name) const;

  class Iterator {
   public:
    using value_type = JsonView;
    using difference_type = std::ptrdiff_t;
    using reference = JsonView;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;

    Iterator(const JsonDocument* document, std::uint32_t at) : document_(document), at_(at) {}
    JsonView operator*() const;
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(const Iterator&) const = default;

   private:
    const JsonDocument* document_;
    std::uint32_t at_;
  };
  /// Members or items in document order; nothing for other kinds.
  Iterator begin() const;
  Iterator end() const;

 private:
  friend class JsonDocument;
  JsonView(const JsonDocument* document, std::uint32_t at) : document_(document), at_(at) {}

  const JsonDocument* document_ = nullptr;
  std::uint32_t at_ = 0;
};

inline JsonView JsonView::Iterator::operator*() const { return JsonView(document_, at_); }

/// Owns the nodes of one document. Movable; views refer to it by address.
class JsonDocument {
 public:
  JsonDocument() = default;

  /// The outermost value; absent for an empty document.
  JsonView root() const { return nodes_.empty() ? JsonView{} : JsonView(this, 0); }

  // Building, in document order. `key` is the member's name inside an object and ignored elsewhere.
  void open(JsonKind array_or_object, std::string_view key);
  void close();
  /// `text` of a string is unescaped; of a number it is its token.
  void leaf(JsonKind kind, std::string_view key, std::string_view text);
  /// Makes room for a document of about so many bytes.
  void reserve(std::size_t bytes);
  /// How many values it holds.
  std::size_t size() const { return nodes_.size(); }

 private:
  friend class JsonView;
  friend class JsonTreeBuilder;
  struct Node {
    JsonKind kind = JsonKind::null;
    std::uint32_t key_at = 0, key_size = 0;  // in characters_
    std::uint32_t text_at = 0,
                  text_size = 0;  // in characters_; of a container text_size counts its members
    std::uint32_t end = 0;        // index behind the last node below this one
  };
  Node& add(JsonKind kind, std::string_view key);
  std::uint32_t keep(std::string_view text);
  std::string_view slice(std::uint32_t at, std::uint32_t size) const {
    return {characters_.data() + at, size};
  }

  std::vector<Node> nodes_;          // preorder
  std::string characters_;           // keys and texts, one behind the other
  std::vector<std::uint32_t> open_;  // containers being built
};

// Inline, because a projection asks hundreds of times a line.

inline JsonKind JsonView::kind() const {
  return document_ == nullptr ? JsonKind::absent : document_->nodes_[at_].kind;
}

inline std::string_view JsonView::text() const {
  if (document_ == nullptr) return {};
  const auto& node = document_->nodes_[at_];
  if (node.kind == JsonKind::array || node.kind == JsonKind::object) return {};
  return document_->slice(node.text_at, node.text_size);
}

inline std::string_view JsonView::key() const {
  if (document_ == nullptr) return {};
  const auto& node = document_->nodes_[at_];
  return document_->slice(node.key_at, node.key_size);
}

inline JsonView::Iterator& JsonView::Iterator::operator++() {
  at_ = document_->nodes_[at_].end;
  return *this;
}

inline JsonView::Iterator JsonView::begin() const {
  if (!is(JsonKind::array) && !is(JsonKind::object)) return {document_, 0};
  return {document_, at_ + 1};
}

inline JsonView::Iterator JsonView::end() const {
  if (!is(JsonKind::array) && !is(JsonKind::object)) return {document_, 0};
  return {document_, document_->nodes_[at_].end};
}

inline JsonView JsonView::operator[](std::string_view name) const {
  JsonView found;
  if (!is(JsonKind::object)) return found;
  for (JsonView member : *this)
    if (member.key() == name) found = member;
  return found;
}

/// Where and why a text is no JSON.
struct JsonFault {
  std::size_t offset = 0;  ///< bytes from its start
  std::size_t line = 1;    ///< of the text, from 1
  std::string what;        ///< for a person
};

/// Reads exactly one JSON document (white space around it is fine). bad_input otherwise: the
/// message names line and byte.
Result<JsonDocument> parse_json(std::string_view text);
/// The same, with the place of the fault as a value; `fault` is set only on failure.
std::optional<JsonDocument> parse_json(std::string_view text, JsonFault& fault,
                                       std::size_t bytes_max = kJsonBytesMax);

/// Reads what `index` has found into `out`, whose buffers are used again. Values at `without`,
/// which ascends, are not read: null stands for each, whatever is in it.
bool parse_indexed(const JsonIndex& index, JsonDocument& out, JsonFault& fault,
                   std::span<const PlaceRange> without = {});
/// Where and why `text`, which JsonIndex refused, is no JSON.
JsonFault fault_of(std::string_view text);

/// Keys sorted bytewise, no white space, number tokens as they are: the bytes that digests are
/// taken of. Equal to to_text(to_json(v)) as long as all numbers are 64-bit integers.
std::string canonical_text(JsonView value);

/// As a nlohmann value, for printing. Whole numbers of 64 bits are integers (`1e3` too); others
/// become the nearest double, so never compute with the result.
Json to_json(JsonView value);
/// The same tree of a nlohmann value.
JsonDocument to_document(const Json& value);

}  // namespace fairlead
