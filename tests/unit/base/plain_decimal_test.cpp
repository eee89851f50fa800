#include "engine/base/plain_decimal.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

TEST_CASE("A decimal has the digits that it needs") {
  CHECK(plain_decimal(0, 6) == "0");
  CHECK(plain_decimal(12'500, 3) == "12.5");
  CHECK(plain_decimal(12'000, 3) == "12");
  CHECK(plain_decimal(1, 6) == "0.000001");
  CHECK(plain_decimal(-1'500, 3) == "-1.5");
  CHECK(plain_decimal(7, 0) == "7");
  CHECK(plain_decimal(Int128{1'000'000'000'000} * 1'000'000'000'000, 6) == "1000000000000000000");
}

TEST_CASE("A fixed decimal has all of its digits") {
  CHECK(fixed_decimal(0, 2) == "0.00");
  CHECK(fixed_decimal(5, 2) == "0.05");
  CHECK(fixed_decimal(1'250, 2) == "12.50");
  CHECK(fixed_decimal(-5, 2) == "-0.05");
  CHECK(fixed_decimal(40, 0) == "40");
}

}  // namespace
}  // namespace fairlead
