// JSON objects as canonical text, field by field: for what is written often and would be a tree of
// values only to be printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead {

/// Appends `text` as to_text(Json(text)) prints it.
void append_quoted(std::string& out, std::string_view text);

/// A JSON list at the end of `out`: `append(value)` appends each of `values` as JSON.
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

/// One object at the end of a text: the same bytes as to_text of it, if the names of its fields
/// ascend bytewise, which is checked.
class ObjectText {
 public:
  /// Opens it. `out` outlives the object, and so does every name that is passed.
  explicit ObjectText(std::string& out) : out_(out) { out_ += '{'; }

  ObjectText& text(std::string_view name, std::string_view text);
  ObjectText& number(std::string_view name, std::int64_t number);
  /// Begins a field whose value, as JSON, the caller appends to the text that is returned.
  std::string& value(std::string_view name);
  /// The last call.
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  std::string_view last_;  ///< name
  bool empty_ = true;
};

}  // namespace fairlead
