#include "engine/fold/condition_message.h"

#include <catch2/catch.hpp>

using namespace fairlead;

TEST_CASE("a message that the API would refuse is cut, and no character in two") {
  std::string fits(kMessageMax, 'x');
  bound_message(fits);
  CHECK(fits == std::string(kMessageMax, 'x'));

  std::string long_one(kMessageMax + 1, 'x');
  bound_message(long_one);
  CHECK(long_one == std::string(kMessageMax - 3, 'x') + "...");

  // "é" has two bytes; the cut would come between them.
  std::string accents = "x";
  while (accents.size() <= kMessageMax) accents += "\xC3\xA9";
  bound_message(accents);
  CHECK(accents.size() <= kMessageMax);
  CHECK(accents.ends_with("\xC3\xA9..."));
}
