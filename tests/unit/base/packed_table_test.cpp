#include "engine/base/packed_table.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

namespace fairlead {
namespace {

std::map<std::string, int> contents_of(PackedTable<int>& table) {
  std::map<std::string, int> contents;
  table.for_each([&](std::string_view text, int value) { contents.emplace(text, value); });
  return contents;
}

TEST_CASE("packed table: it holds what a map holds, whatever comes and goes") {
  PackedTable<int> table;
  std::map<std::string, int> expected;
  std::uint32_t random = 1;
  for (int turn = 0; turn < 20'000; ++turn) {
    random = random * 1'664'525 + 1'013'904'223;
    const std::string text = "node-" + std::to_string((random >> 8) % 300);
    if ((random >> 28) % 3 == 0) {
      table.erase(text);
      expected.erase(text);
    } else {
      table.find_or_make(text) = expected[text] = turn;
    }
    REQUIRE(table.size() == expected.size());
    if (turn % 500 == 0) REQUIRE(contents_of(table) == expected);
  }
  for (const auto& [text, value] : expected) CHECK(*table.find(text) == value);
  CHECK(table.find("node") == nullptr);
  for (const auto& [text, value] : expected) table.erase(text);
  CHECK(table.size() == 0);
  CHECK(table.find("node-1") == nullptr);
}

TEST_CASE("packed table: a value stays where it is while others come and go") {
  PackedTable<std::unique_ptr<int>> table;
  auto& value = table.find_or_make("a");
  value = std::make_unique<int>(1);
  for (int i = 0; i < 1000; ++i) table.find_or_make(std::to_string(i));
  for (int i = 0; i < 1000; ++i) table.erase(std::to_string(i));
  CHECK(table.find("a") == &value);
  CHECK(*value == 1);
}

TEST_CASE("packed table: any text is one, the empty one too") {
  PackedTable<int> table;
  table.find_or_make("") = 1;
  table.find_or_make(std::string("\0", 1)) = 2;
  CHECK(*table.find("") == 1);
  CHECK(*table.find(std::string_view("\0", 1)) == 2);
  CHECK(table.size() == 2);
}

}  // namespace
}  // namespace fairlead
