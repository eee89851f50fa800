#include "connectors/kube/resource_path.h"

namespace fairlead {

std::string url_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      (out += '%', out += digits[byte >> 4], out += digits[byte & 15]);
  }
  return out;
}

std::string resource_path(const KindInfo& kind, std::string_view version,
                          std::string_view namespace_, std::string_view name) {
  std::string out = kind.group.empty() ? "/api/" : "/apis/" + std::string(kind.group) + "/";
  out.append(version);
  if (kind.namespaced && !namespace_.empty()) out += "/namespaces/" + url_encode(namespace_);
  out.append("/").append(kind.resource);
  if (!name.empty()) out += "/" + url_encode(name);
  return out;
}

}  // namespace fairlead
