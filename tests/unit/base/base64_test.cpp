#include "engine/base/base64.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>

namespace fairlead {
namespace {

TEST_CASE("base64: the vectors of RFC 4648, in both alphabets") {
  const std::string all = "foobar";
  const char* standard[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t size = 0; size <= all.size(); ++size) {
    const std::string bytes = all.substr(0, size), text = standard[size];
    CHECK(encode_base64(bytes) == text);
    CHECK(encode_base64url(bytes) == text.substr(0, text.find('=')));
    if (size == 0) continue;
    CHECK(*decode_base64(text) == bytes);
    CHECK(*decode_base64url(text.substr(0, text.find('='))) == bytes);
  }
}

TEST_CASE("base64: the two alphabets differ in two characters") {
  const std::string bytes = "\xfb\xff\xfe";
  CHECK(encode_base64(bytes) == "+//+");
  CHECK(encode_base64url(bytes) == "-__-");
  CHECK(*decode_base64("+//+") == bytes);
  CHECK(*decode_base64url("-__-") == bytes);
  CHECK(decode_base64url("+//+").has_error());
}

TEST_CASE("base64: what is none is refused") {
  CHECK(*decode_base64("Zm9\n v\r\t") == "foo");
  for (const char* text : {"", "Zg", "Zg=", "Z*==", "=Zg=", "QUJD----", "QUI-"})
    CHECK(decode_base64(text).has_error());
  CHECK(decode_base64url("").has_error());
  CHECK(decode_base64url("Zg==").has_error());
}

}  // namespace
}  // namespace fairlead
