#include "engine/base/short_text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

TEST_CASE("The hashes of short texts differ and fill a table evenly") {
  constexpr std::size_t kSlots = 1 << 16;
  std::set<std::size_t> hashes;
  std::vector<int> slots(kSlots);
  for (const char* prefix : {"", "n", "node-", "ip-10-0-", "gke-training-a100-pool-2f6c-"})
    for (int i = 0; i < 10'000; ++i) {
      const std::size_t hash = hash_text(prefix + std::to_string(i));
      hashes.insert(hash);
      ++slots[hash % kSlots];
    }
  CHECK(hashes.size() == 50'000);
  CHECK(*std::max_element(slots.begin(), slots.end()) < 12);  // chance alone gives 7 or 8
  CHECK(hash_text("") != hash_text(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace fairlead
