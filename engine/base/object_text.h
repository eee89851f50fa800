// JSON objects as canonical text, field by field: for objects that are written often, without
// building a tree of values first (docs/decisions/0024-a-status-is-printed-as-text.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead {

/// Appends `text` as to_text(Json(text)) prints it.
void append_quoted(std::string& out, std::string_view text);

/// Appends a JSON list to `out`: `append(value)` appends each of `values` as JSON.
template <class Values, class Append>
void append_list(std::string& out, const Values& values, const Append& append) {
  out += '[';
  bool first = true;
  for (const auto& value : values) {
    if (!first) out += ',';
    first = false;
    append(value);
  }
  out += ']';
}

/// Appends one JSON object to a text, with the same bytes as to_text() of it. The names of its
/// fields must ascend bytewise, which is checked.
class ObjectText {
 public:
  /// Opens the object. `out` and every name that is passed must outlive this writer.
  explicit ObjectText(std::string& out) : out_(out) { out_ += '{'; }

  ObjectText& text(std::string_view name, std::string_view text);
  ObjectText& number(std::string_view name, std::int64_t number);
  /// Begins a field whose value, as JSON, the caller appends to the text that is returned.
  std::string& value(std::string_view name);
  /// Closes the object; no field may follow.
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  std::string_view last_;  ///< the name of the last field
  bool empty_ = true;
};

}  // namespace fairlead
