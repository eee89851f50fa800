#include "engine/fold/name_table.h"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fairlead {
namespace {

using Table = NameTable<int>;

std::map<std::string, int> to_map(const Table& table) {
  std::map<std::string, int> map;
  for (const auto* entry : table.sorted()) {
    if (!map.empty() && entry->first <= map.rbegin()->first) throw std::logic_error("unsorted");
    map.insert(*entry);
  }
  return map;
}

TEST_CASE("A name table holds what a map holds, whatever came and went") {
  rc::prop("steps", [] {
    Table table;
    std::map<std::string, int> map;
    const auto steps = *rc::gen::container<std::vector<std::pair<std::uint8_t, std::uint8_t>>>(
        rc::gen::pair(rc::gen::inRange<std::uint8_t>(0, 8), rc::gen::arbitrary<std::uint8_t>()));
    int value = 0;
    for (const auto& [what, number] : steps) {
      const std::string name = std::to_string(number % 64);
      if (what < 5) {
        table[name] = map[name] = ++value;
      } else if (what < 7) {
        table.erase(name);
        map.erase(name);
      } else {
        const auto erases = [&](const std::string& which, int) { return which < name; };
        table.erase_if(erases);
        std::erase_if(map, [&](const auto& entry) { return erases(entry.first, entry.second); });
      }
      RC_ASSERT(table.size() == map.size());
      RC_ASSERT(table.contains(name) == map.contains(name));
    }
    RC_ASSERT(to_map(table) == map);
    for (const auto& [name, held] : map) {
      RC_ASSERT(table.at(name) == held);
      RC_ASSERT(table.probable(Table::hash_of(name)) != nullptr);
    }
    Table copy = table;
    RC_ASSERT(copy == table);
    copy["another"] = 1;
    RC_ASSERT(copy != table);
    RC_ASSERT(to_map(table) == map);
    const Table moved = std::move(copy);
    RC_ASSERT(moved.size() == map.size() + 1);
  });
}

TEST_CASE("Entries of a name table stay where they are while others come and go") {
  Table table;
  int* const kept = &table["kept"];
  for (int i = 0; i < 5000; ++i) table[std::to_string(i)] = i;
  for (int i = 0; i < 5000; i += 2) table.erase(std::to_string(i));
  CHECK(table.find("kept") == kept);
  for (int i = 0; i < 5000; ++i) CHECK(table.contains(std::to_string(i)) == (i % 2 == 1));
}

TEST_CASE("Equal name tables have one order, however they were filled") {
  Table up, down;
  for (int i = 0; i < 100; ++i) up[std::to_string(i)] = i;
  for (int i = 100; i-- > 0;) down[std::to_string(i)] = i;
  CHECK(up == down);
  CHECK(to_map(up) == to_map(down));
  down["7"] = 8;
  CHECK(up != down);
  up.clear();
  CHECK(up.empty());
  CHECK_FALSE(up.contains("7"));
}

}  // namespace
}  // namespace fairlead
