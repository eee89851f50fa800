#include "connectors/kube/resource_path.h"

#include <charconv>

namespace fairlead {

std::optional<std::string> url_decode(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(at + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
    out += static_cast<char>(byte);
    at += 2;
  }
  return out;
}

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
  if (kind.has(kIsNamespaced) && !namespace_.empty())
    out += "/namespaces/" + url_encode(namespace_);
  out.append("/").append(kind.resource);
  if (!name.empty()) out += "/" + url_encode(name);
  return out;
}

}  // namespace fairlead
