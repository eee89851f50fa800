#include "engine/admission/shared_map.h"

#include <catch2/catch.hpp>

namespace fairlead::admission_test {
namespace {

using Numbers = SharedMap<int>;

std::shared_ptr<const int> number(int value) { return std::make_shared<int>(value); }

TEST_CASE("shared map: a version keeps its entries, the next has the changes") {
  const Numbers none;
  CHECK(none.find("a") == nullptr);
  const Numbers one = none.with({{"a", number(1)}, {"b", number(2)}});
  const Numbers two =
      one.with({{"a", number(3)}, {"b", nullptr}, {"c", number(4)}, {"d", nullptr}});
  CHECK(none.find("a") == nullptr);
  CHECK(*one.find("a") == 1);
  CHECK(*one.find("b") == 2);
  CHECK(one.find("c") == nullptr);
  CHECK(*two.find("a") == 3);
  CHECK(two.find("b") == nullptr);
  CHECK(*two.find("c") == 4);
  CHECK(two.find("d") == nullptr);
}

TEST_CASE("shared map: thousands of names, of which many share a bucket") {
  Numbers::Changes changes;
  for (int i = 0; i < 5000; ++i) changes["n" + std::to_string(i)] = number(i);
  const Numbers all = Numbers().with(changes);
  for (int i = 0; i < 5000; ++i) {
    const int* found = all.find("n" + std::to_string(i));
    REQUIRE(found != nullptr);
    CHECK(*found == i);
  }
  const Numbers less = all.with({{"n77", nullptr}});
  CHECK(less.find("n77") == nullptr);
  CHECK(less.find("n78") == all.find("n78"));
  CHECK(all.find("n77") != nullptr);
}

}  // namespace
}  // namespace fairlead::admission_test
