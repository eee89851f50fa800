#include "engine/main/service/frame_ancestors.h"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace fairlead {

namespace {

bool is_origin(std::string_view text) {
  constexpr std::string_view kInHost =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-:";
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!text.starts_with(scheme)) continue;
    std::string_view host = text.substr(scheme.size());
    if (host.starts_with("*.")) host.remove_prefix(2);
    return !host.empty() && host.find_first_not_of(kInHost) == host.npos;
  }
  return text == "'self'";
}

}  // namespace

Result<std::string> frame_ancestors_of(const std::string& text) {
  std::istringstream words(text);
  std::string value;
  for (std::string word; words >> word;) {
    if (!is_origin(word))
      return Error{ErrorCode::bad_input,
                   "--frame-ancestors: expected origins such as https://portal.example, with "
                   "spaces, got \"" +
                       word + "\""};
    value += (value.empty() ? "" : " ") + word;
  }
  return value.empty() ? "'none'" : value;
}

}  // namespace fairlead
