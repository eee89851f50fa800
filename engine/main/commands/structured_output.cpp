#include "engine/main/commands/structured_output.h"

#include <algorithm>
#include <cctype>

namespace fairlead {

namespace {

// Whether `text` needs no quotes: no YAML parser can read it as a number, a date, a boolean or an
// indicator.
bool bare(const std::string& text) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const auto plain = [&](unsigned char c) {
    return letter(c) || std::isdigit(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
  };
  if (text.empty() || !letter(static_cast<unsigned char>(text.front()))) return false;
  if (!std::all_of(text.begin(), text.end(), plain)) return false;
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
    if (lower == word) return false;
  return true;
}

std::string scalar(const Json& value) {
  if (value.is_string() && bare(value.get_ref<const std::string&>()))
    return value.get<std::string>();
  return to_text(value);
}

bool nested(const Json& value) { return value.is_structured() && !value.empty(); }

void emit(const Json& value, const std::string& indent, std::string& out);

void emit_object(const Json& object, const std::string& indent, std::string& out) {
  for (const auto& [key, value] : object.items()) {
    out += indent + scalar(Json(key)) + ":";
    if (nested(value)) {
      out += "\n";
      emit(value, value.is_array() ? indent : indent + "  ", out);
    } else {
      out += " " + scalar(value) + "\n";
    }
  }
}

void emit(const Json& value, const std::string& indent, std::string& out) {
  if (value.is_object()) return emit_object(value, indent, out);
  for (const Json& item : value) {
    if (!nested(item)) {
      out += indent + "- " + scalar(item) + "\n";
      continue;
    }
    std::string inner;
    emit(item, indent + "  ", inner);
    inner[indent.size()] = '-';
    out += inner;
  }
}

}  // namespace

std::string to_yaml_text(const Json& document) {
  std::string out;
  if (nested(document))
    emit(document, "", out);
  else
    out = scalar(document) + "\n";
  return out;
}

}  // namespace fairlead
