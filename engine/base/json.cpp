#include "engine/base/json.h"

namespace fairlead {

namespace {

constexpr int kJsonFault = 599;  // of nlohmann's other errors, which end at 501

// Whether more lists and objects are open at once than kJsonNestingMax.
bool is_too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') in_text = !in_text;
    if (in_text && c == '\\') ++at;
    if (in_text) continue;
    if ((c == '[' || c == '{') && ++depth > kJsonNestingMax) return true;
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return false;
}

}  // namespace

void throw_json_fault(const char* what) {
  throw Json::other_error::create(kJsonFault,
                                  std::string("the document has another shape: ") + what, nullptr);
}

std::string to_text(const Json& value) {
  // Texts of other writers may be no UTF-8: they are replaced, where the default throws.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json read_json(std::string_view text) {
  return is_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

Json read_own_json(std::string_view text) {
  Json read = read_json(text);
  return read.is_discarded() ? Json() : read;
}

const Json& member(const Json& object, const char* name) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

std::string text_in(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::uint64_t> natural_in(const Json& object, const char* name) {
  const Json& value = member(object, name);
  const bool natural =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  return natural ? std::optional(value.get<std::uint64_t>()) : std::nullopt;
}

const Json& list_in(const Json& object, const char* name) {
  static const Json kNoItems = Json::array();
  const Json& value = member(object, name);
  return value.is_array() ? value : kNoItems;
}

}  // namespace fairlead
