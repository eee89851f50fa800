#include "engine/base/same_text.h"

#include <catch2/catch.hpp>
#include <string>

namespace fairlead {
namespace {

TEST_CASE("Short texts are the same if every byte is, whatever their length") {
  for (std::size_t size = 0; size <= 40; ++size) {
    const std::string text =
        std::string("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH").substr(0, size);
    const std::string copy = text;
    CHECK(same_text(text, copy));
    CHECK_FALSE(same_text(text, text + "x"));
    CHECK_FALSE(same_text(text + "x", text));
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ 0x80);
      INFO(size << " bytes, another at " << at);
      CHECK_FALSE(same_text(text, other));
      CHECK_FALSE(same_text(other, text));
    }
  }
}

}  // namespace
}  // namespace fairlead
