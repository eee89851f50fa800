#include "engine/base/json.h"

namespace fairlead {

std::string to_text(const Json& value) {
  // Texts of other writers may be no UTF-8: they are replaced, where the default throws.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json read_json(std::string_view text) { return Json::parse(text, nullptr, false); }

Json read_own_json(std::string_view text) { return Json::parse(text); }

}  // namespace fairlead
