// YAML texts as trees: the one reader of YAML, and its writer.
//
// A tree keeps what each reader decides for itself: whether a scalar was quoted, so that `"10"` and
// `10` can differ, duplicate keys, merge keys, and the line of each value for an error. Aliases are
// resolved: their children are shared, so that a small text with many aliases stays small.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/json.h"

namespace fairlead {

/// Containers inside each other; beyond it a text is refused.
inline constexpr std::size_t kYamlDepthMax = 256;

/// What the aliases of one text may stand for, all together: values, each counted once for every
/// alias in whose value it is, and the bytes of their texts. A text of n bytes that names each map
/// ten times in the next would otherwise be read as 10^(n/70) values. Beyond it a text is refused.
inline constexpr std::size_t kYamlAliasedValuesMax = 500'000;
inline constexpr std::size_t kYamlAliasedBytesMax = std::size_t{16} << 20;

/// One value of a document. A copy shares the children.
struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, list, map };
  enum class Style : std::uint8_t {
    plain,  ///< without quotes and tag: what it means is the reader's decision
    text,   ///< quoted, or tagged as a text
    tagged,
  };

  Kind kind = Kind::null;
  Style style = Style::plain;  ///< of a scalar
  std::string text;            ///< of a scalar
  std::size_t line = 1;        ///< where it begins, from 1
  /// Of a list its items; of a map key, value, key, value in the order of the text. Null if there
  /// are none.
  std::shared_ptr<const std::vector<YamlNode>> children;

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }

  /// The items of a list; none of any other value.
  const std::vector<YamlNode>& items() const;
  /// The keys and values of a map; none of any other value.
  std::vector<std::pair<YamlNode, YamlNode>> entries() const;
};

/// Why a text is not read further. `what` is for a person.
struct YamlFault {
  std::size_t line = 1;
  std::string what;
};

/// Calls `on_document` with each document of the text, an empty one being null, until it returns a
/// fault. Returns that, or the fault of the text: malformed YAML, an unknown alias, an anchor that
/// contains itself, too deep a nesting, aliases that stand for too much. The size of
/// the text and kYamlAliasedValuesMax therefore bound the work of a reader that visits every value,
/// and those behind each alias again.
std::optional<YamlFault> read_yaml(
    std::string_view text,
    const std::function<std::optional<YamlFault>(const YamlNode&)>& on_document);

/// Returns the value as YAML in block style, its strings without quotes where they need none.
std::string write_yaml(const Json& value);

}  // namespace fairlead
