// One JSON document as a compact tree with cheap views.
//
// A watch line is walked once, without the values that the caller does not need, into one array of
// nodes and one copy of the text, in which strings keep their place; after that nothing refers to
// the input (parse_in_place, which copies nothing, is the exception). Numbers keep their text, so
// an integer of forty digits or a decimal reaches the Quantity parser exactly as written: no
// floating point anywhere. YAML and nlohmann documents become the same tree, so projections read
// one type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "connectors/kube/document/json_index.h"
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

/// The kind of a view's value; `absent` where there is none (a missing member, or a member of a
/// value that is not an object).
enum class JsonKind : std::uint8_t { absent, null, boolean, number, string, array, object };

/// Returns "a string", "an array", ...: for messages to a person.
std::string_view text_of(JsonKind kind);

class JsonDocument;

/// One value in a JsonDocument. Offsets are in its characters; the key is empty outside of objects.
struct JsonNode {
  JsonKind kind;
  std::uint32_t key_at, key_size;
  std::uint32_t text_at, text_size;  ///< of a container: see JsonView::written()
  std::uint32_t span;                ///< how many nodes: this one and all below it
};
/// The node of an absent value.
inline constexpr JsonNode kNoJsonNode{JsonKind::absent, 0, 0, 0, 0, 1};

/// One value of a JsonDocument. Copy freely; valid while its document lives and is not moved from.
class JsonView {
 public:
  /// An absent value.
  JsonView() = default;

  JsonKind kind() const { return node_->kind; }
  bool is(JsonKind kind_asked) const { return kind() == kind_asked; }
  /// Whether there is a value other than null: Kubernetes treats a null field as one left out.
  bool given() const { return kind() != JsonKind::absent && kind() != JsonKind::null; }

  /// The unescaped characters of a string, the exact token of a number, "true" or "false"; else
  /// empty.
  std::string_view text() const;
  /// text() of a string; empty for every other kind.
  std::string_view string() const {
    return is(JsonKind::string) ? characters() : std::string_view{};
  }
  /// Whether the value is `true`.
  bool is_true() const { return is(JsonKind::boolean) && text() == "true"; }
  /// An integer token that fits; nullopt for other kinds and for `1.0` or `1e3`.
  std::optional<std::int64_t> integer() const;

  /// The number of members or items.
  std::size_t size() const;
  /// The name under which this value is a member of its object; empty for items.
  std::string_view key() const { return {characters_ + node_->key_at, node_->key_size}; }
  /// An array or object of a parsed text as it was written, from bracket to bracket. Empty of
  /// other values, and where something in it was left out or written with escapes.
  std::string_view written() const { return is_container() ? characters() : std::string_view{}; }
  /// The member of that name (the last, if there are several); absent if there is none or this is
  /// not an object.
  JsonView operator[](std::string_view name) const { return member(name.data(), name.size()); }
  /// Likewise for a literal name, which is compared in a step or two.
  template <std::size_t size>
  JsonView operator[](const char (&name)[size]) const {
    return member(name, std::integral_constant<std::size_t, size - 1>());
  }
  /// Finds several names, none of them empty, in one walk over this object:
  /// `const auto [key, effect] = taint.members("key", "effect");`
  template <std::size_t... sizes>
  std::array<JsonView, sizeof...(sizes)> members(const char (&... names)[sizes]) const;

  class Iterator {
   public:
    using value_type = JsonView;
    using difference_type = std::ptrdiff_t;
    using reference = JsonView;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;

    Iterator(const char* characters, const JsonNode* at) : characters_(characters), at_(at) {}
    JsonView operator*() const { return JsonView(characters_, at_); }
    Iterator& operator++() {
      at_ += at_->span;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const Iterator&) const = default;

   private:
    const char* characters_;
    const JsonNode* at_;
  };
  /// Members or items in document order; nothing for other kinds.
  Iterator begin() const { return {characters_, node_ + 1}; }
  Iterator end() const { return {characters_, node_ + node_->span}; }

 private:
  friend class JsonDocument;
  JsonView(const char* characters, const JsonNode* node) : characters_(characters), node_(node) {}
  bool is_container() const { return is(JsonKind::array) || is(JsonKind::object); }
  std::string_view characters() const { return {characters_ + node_->text_at, node_->text_size}; }
  template <class Size>
  JsonView member(const char* name, Size size) const;

  const char* characters_ = nullptr;  // of its document
  const JsonNode* node_ = &kNoJsonNode;
};

/// Owns the nodes of one document. Movable; views refer to it by address.
class JsonDocument {
 public:
  JsonDocument() = default;

  /// The outermost value; absent for an empty document.
  JsonView root() const {
    return nodes_.empty() ? JsonView{} : JsonView(characters(), nodes_.data());
  }

  // Building, in document order. `key` is the member's name inside an object and ignored elsewhere.
  void open(JsonKind array_or_object, std::string_view key);
  void close();
  /// `text` of a string is unescaped; of a number it is its token.
  void leaf(JsonKind kind, std::string_view key, std::string_view text);
  /// The number of values that were added.
  std::size_t size() const { return nodes_.size(); }

 private:
  friend class JsonView;
  friend class JsonTreeBuilder;
  JsonNode& add(JsonKind kind, std::string_view key);
  std::uint32_t keep(std::string_view text);
  const char* characters() const { return read_in_place_ ? read_in_place_ : characters_.data(); }

  // Preorder. Where a document is read into again and again, there is more room behind the tree
  // than it takes.
  std::vector<JsonNode> nodes_;
  std::string characters_;               // keys and texts
  const char* read_in_place_ = nullptr;  // if not null, they are there
  std::vector<std::uint32_t> open_;      // containers being built
};

// Inline, because a projection calls them hundreds of times a line.

inline std::string_view JsonView::text() const {
  if (!is(JsonKind::string) && !is(JsonKind::number) && !is(JsonKind::boolean)) return {};
  return characters();
}

template <class Size>
JsonView JsonView::member(const char* name, Size size) const {
  if (!is(JsonKind::object)) return {};
  const JsonNode* found = &kNoJsonNode;
  const JsonNode* const end = node_ + node_->span;
  for (const JsonNode* at = node_ + 1; at != end; at += at->span)
    if (at->key_size == size && std::memcmp(characters_ + at->key_at, name, size) == 0) found = at;
  return {characters_, found};
}

template <std::size_t... sizes>
std::array<JsonView, sizeof...(sizes)> JsonView::members(const char (&... names)[sizes]) const {
  static_assert(((sizes > 1) && ...), "only items have no name");
  std::array<JsonView, sizeof...(sizes)> found;
  for (const JsonView member : *this) {
    const std::string_view key = member.key();
    JsonView* out = found.data();
    const auto is_it = [&](const char* name, auto size) {
      const bool same = key.size() == size && std::memcmp(key.data(), name, size) == 0;
      if (same) *out = member;
      ++out;
      return same;
    };
    static_cast<void>((is_it(names, std::integral_constant<std::size_t, sizes - 1>()) || ...));
  }
  return found;
}

/// Where and why a text is not JSON.
struct JsonFault {
  std::size_t offset = 0;  ///< bytes from its start
  std::size_t line = 1;    ///< of the text, from 1
  std::string what;        ///< for a person; quotes nothing of the text
};

/// Reads exactly one JSON document (white space around it is fine). bad_input otherwise: the
/// message names line and byte.
Result<JsonDocument> parse_json(std::string_view text);
/// Likewise, with the place of the fault as a value; `fault` is set only on failure.
std::optional<JsonDocument> parse_json(std::string_view text, JsonFault& fault,
                                       std::size_t bytes_max = kJsonBytesMax);

/// Reads the text of `index` into `out`, whose buffers are used again. Values at `without`, which
/// ascends, are not read and become null. False, with `fault` set, if the text is not JSON.
bool parse_indexed(const JsonIndex& index, JsonDocument& out, JsonFault& fault,
                   std::span<const PlaceRange> without = {});
/// Likewise without a copy: `out` refers to the text. The byte behind the text must be readable and
/// one that cannot continue a token (a newline, or a string's NUL). False if parse_indexed has to
/// read the text: it is not JSON, or a value that is not in `without` is written with escapes.
bool parse_in_place(const JsonIndex& index, JsonDocument& out, std::span<const PlaceRange> without);
/// Returns where and why `text`, which JsonIndex refused, is not JSON.
JsonFault fault_of(std::string_view text);

/// Prints with keys sorted bytewise, no white space and number tokens as they are: the bytes that
/// digests are computed of. Equal to to_text(to_json(v)) if all numbers are 64-bit integers.
std::string canonical_text(JsonView value);

/// Converts to a nlohmann value, for printing. Whole numbers of 64 bits are integers (`1e3` too);
/// others become the nearest double, so never compute with the result.
Json to_json(JsonView value);
/// Converts a nlohmann value to the same tree.
JsonDocument to_document(const Json& value);

}  // namespace fairlead
