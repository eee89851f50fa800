#include "schema/packed_map.h"

#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace fairlead {
namespace {

using Amounts = PackedMap<std::int64_t>;

TEST_CASE("A packed map holds what a map holds") {
  rc::prop("texts", [](const std::map<std::string, std::string>& map) {
    const Labels labels(map);
    RC_ASSERT(labels.to_map() == map);
    RC_ASSERT(labels.size() == map.size());
    RC_ASSERT(labels.empty() == map.empty());
    for (const auto& [key, value] : map) RC_ASSERT(labels.find(key) == value);
    RC_ASSERT(labels == Labels(map));
  });
  rc::prop("amounts", [](const std::map<std::string, std::int64_t>& map,
                         const std::map<std::string, std::int64_t>& other) {
    const Amounts amounts(map);
    RC_ASSERT(amounts.to_map() == map);
    RC_ASSERT((amounts == Amounts(other)) == (map == other));
  });
}

TEST_CASE("A packed map without items is empty, also as a copy") {
  const Labels none;
  const Labels copy = none;
  CHECK(copy.empty());
  CHECK(copy == Labels(std::map<std::string, std::string>{}));
  CHECK_FALSE(copy.contains("a"));
  CHECK(copy.begin() == copy.end());
}

TEST_CASE("A packed map takes no keys out of order and none twice") {
  const auto assigned = [](const std::vector<std::pair<std::string_view, std::int64_t>>& items) {
    Amounts amounts({{"was", 1}});
    const bool taken = amounts.assign_sorted(items.size(), [&](std::size_t i) { return items[i]; });
    return std::pair(taken, amounts.to_map());
  };
  const std::map<std::string, std::int64_t> nothing, both{{"", 3}, {"a", 2}};
  CHECK(assigned({{"", 3}, {"a", 2}}) == std::pair(true, both));
  CHECK(assigned({{"a", 1}, {"a", 2}}) == std::pair(false, nothing));
  CHECK(assigned({{"b", 1}, {"a", 2}}) == std::pair(false, nothing));
  CHECK(assigned({}) == std::pair(true, nothing));
}

TEST_CASE("The bytes of a packed map make it again, and no others are taken for one") {
  rc::prop("round trip", [](const std::map<std::string, std::string>& map) {
    const Labels labels(map);
    const auto again = Labels::from_bytes(labels.bytes());
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == labels);
  });
  rc::prop("any bytes", [](const std::string& bytes) {
    if (const auto map = Amounts::from_bytes(bytes)) RC_ASSERT(map->bytes() == bytes);
  });
  const Labels labels{{"pool", "spot"}, {"zone", "a"}};
  const std::string bytes(labels.bytes());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK_FALSE(
        Labels::from_bytes(std::string_view(bytes).substr(0, i + 1 == bytes.size() ? 1 : i + 1)));
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    if (const auto map = Labels::from_bytes(damaged)) CHECK(map->bytes() == damaged);
  }
}

TEST_CASE("A view of a packed map is the map, and its copies do not need the bytes") {
  const Labels labels{{"pool", "spot"}, {"zone", "a"}};
  std::string bytes(labels.bytes());
  auto view = Labels::view_of(bytes);
  REQUIRE(view.has_value());
  CHECK(view->address() == bytes.data());
  CHECK(*view == labels);
  const Labels copy = *view;
  Labels assigned;
  assigned = *view;
  const Labels moved = std::move(*view);
  CHECK(moved.address() == bytes.data());
  const Labels copy_of_copy = copy;
  CHECK(copy_of_copy.address() == copy.address());
  std::fill(bytes.begin(), bytes.end(), 'x');
  CHECK(copy == labels);
  CHECK(assigned == labels);
  CHECK(Labels::view_of("")->empty());
  CHECK_FALSE(Labels::view_of("neither").has_value());
}

TEST_CASE("Copies of a packed map outlive it") {
  Labels copy;
  {
    const Labels labels{{"pool", "spot"}, {"zone", "a"}};
    copy = labels;
  }
  CHECK(copy.find("pool") == "spot");
  CHECK(copy.find("nothing") == std::nullopt);
}

}  // namespace
}  // namespace fairlead
