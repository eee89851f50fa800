#include "engine/base/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>

namespace fairlead {

std::string encode_base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

Result<std::string> decode_base64(std::string_view text) {
  std::string packed;
  for (char c : text)
    if (c != '\n' && c != '\r' && c != ' ' && c != '\t') packed += c;
  std::string out(packed.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(packed.data()),
                                   static_cast<int>(packed.size()));
  // EVP_DecodeBlock drops a '-' at the end, and counts padding as zero bytes, wherever it is.
  const std::size_t padding = packed.ends_with("==") ? 2 : packed.ends_with('=') ? 1 : 0;
  if (packed.empty() || packed.size() % 4 != 0 || size < 0 || packed.ends_with('-') ||
      packed.find('=') < packed.size() - padding)
    return Error{ErrorCode::bad_input, "expected base64"};
  out.resize(static_cast<std::size_t>(size) - padding);
  return out;
}

std::string encode_base64url(std::string_view bytes) {
  std::string text = encode_base64(bytes);
  text.resize(text.find_last_not_of('=') + 1);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

Result<std::string> decode_base64url(std::string_view text) {
  if (text.find_first_of("+/= \t\r\n") != std::string_view::npos)
    return Error{ErrorCode::bad_input, "expected base64url without padding"};
  std::string standard(text);
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  standard.append((4 - standard.size() % 4) % 4, '=');
  return decode_base64(standard);
}

}  // namespace fairlead
