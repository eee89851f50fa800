#include "engine/base/sparse.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

TEST_CASE("sparse: it is as it began until it is edited, and again after a reset") {
  Sparse<int> value;
  CHECK(*value == 0);
  value.edit() = 7;
  CHECK(*value == 7);
  const Sparse<int> copy = value;
  value.edit() = 8;
  CHECK(*copy == 7);
  value.reset();
  CHECK(value == Sparse<int>());
  CHECK_FALSE(value == copy);
}

TEST_CASE("sparse: equal values are equal, edited or not") {
  Sparse<int> value;
  value.edit();
  CHECK(value == Sparse<int>());
  value.adopt(0);
  CHECK(*value == 0);
  value.adopt(3);
  CHECK(value.contents() == 3);
}

}  // namespace
}  // namespace fairlead
