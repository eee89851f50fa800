#include "engine/fold/name_map.h"

#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fairlead {
namespace {

using IntsByName = NameMap<int>;
using Plain = std::map<std::string, int>;

bool holds(const IntsByName& names, const Plain& plain) {
  return names.size() == plain.size() && names.empty() == plain.empty() &&
         std::equal(names.begin(), names.end(), plain.begin(), plain.end()) &&
         std::all_of(plain.begin(), plain.end(), [&](const auto& entry) {
           return names.contains(entry.first) && names.at(entry.first) == entry.second &&
                  names.find(entry.first)->first == entry.first;
         });
}

TEST_CASE("A name map holds what a map holds, whatever came and went") {
  rc::prop("steps", [] {
    IntsByName names;
    Plain plain;
    const auto steps = *rc::gen::container<std::vector<std::pair<std::uint8_t, std::uint8_t>>>(
        rc::gen::pair(rc::gen::inRange<std::uint8_t>(0, 8), rc::gen::arbitrary<std::uint8_t>()));
    int value = 0;
    for (const auto& [what, number] : steps) {
      const std::string name = std::to_string(number % 64);
      if (what < 5) {
        names[name] = plain[name] = ++value;
      } else if (what < 7) {
        names.erase(name);
        plain.erase(name);
      } else if (const auto at = names.find(name); at != names.end()) {
        names.erase(at);
        plain.erase(name);
      }
      RC_ASSERT(names.contains(name) == plain.contains(name));
      RC_ASSERT((names.find(name) == names.end()) == !plain.contains(name));
    }
    RC_ASSERT(holds(names, plain));

    IntsByName copy = names;
    RC_ASSERT(copy == names);
    copy["another"] = 1;
    RC_ASSERT(copy != names);
    RC_ASSERT(holds(names, plain));

    int& another = copy.at("another");
    IntsByName moved = std::move(copy);
    another = 2;  // a move leaves the entries where they are
    RC_ASSERT(moved.at("another") == 2);
    moved.erase("another");
    RC_ASSERT(holds(moved, plain));
    moved.clear();
    RC_ASSERT(holds(moved, {}));
    moved["after"] = 3;
    RC_ASSERT(holds(moved, {{"after", 3}}));
  });
}

TEST_CASE("A name map that was moved from is empty and can be used") {
  IntsByName names;
  names["a"] = 1;
  const IntsByName moved = std::move(names);
  names = {};
  CHECK(names.find("a") == names.end());
  names["b"] = 2;
  CHECK(holds(names, {{"b", 2}}));
  CHECK(holds(moved, {{"a", 1}}));
}

}  // namespace
}  // namespace fairlead
