// JSON objects as canonical text, field by field: for what is written often and would be a tree of
// values only to be printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

/// Appends `text` as to_text(Json(text)) prints it.
void append_quoted(std::string& out, std::string_view text);
/// A JSON list of values that are JSON already.
std::string list_text(const std::vector<std::string>& values);

/// One object: the same bytes as to_text of it, if the names of its fields ascend bytewise, which
/// is checked.
class ObjectText {
 public:
  ObjectText& text(std::string_view name, std::string_view value);
  ObjectText& number(std::string_view name, std::int64_t value);
  ObjectText& json(std::string_view name, std::string_view value);
  /// The whole; nothing may be added afterwards.
  std::string take();

 private:
  void begin_field(std::string_view name);

  std::string out_ = "{";
  std::string last_;  ///< name
};

}  // namespace fairlead
