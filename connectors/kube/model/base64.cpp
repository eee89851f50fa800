#include <cstdint>
#include <string>
#include <string_view>

#include "connectors/kube/model/model_state.h"

namespace fairlead::model {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encoded(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (char byte : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(byte);
    count += 8;
    while (count >= 6) {
      count -= 6;
      text += alphabet[(bits >> static_cast<unsigned>(count)) & 63U];
    }
  }
  if (count > 0) text += alphabet[(bits << static_cast<unsigned>(6 - count)) & 63U];
  return text;
}

}  // namespace

std::string base64url(std::string_view bytes) { return encoded(bytes, kUrl); }

std::string base64(std::string_view bytes) {
  std::string text = encoded(bytes, kStandard);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string from_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    const std::size_t value = kUrl.find(c);
    if (value == std::string_view::npos) return {};
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 255U);
    }
  }
  return bytes;
}

}  // namespace fairlead::model
