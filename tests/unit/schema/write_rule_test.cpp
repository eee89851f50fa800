// Which rules lower quota.
#include "schema/write_rule.h"

#include <catch2/catch.hpp>

namespace fairlead {

TEST_CASE("the rules that lower quota are known by their whole names") {
  for (const std::string_view lowering : {"claims/shrink", "workers/shrink", "members/shrink"})
    CHECK(direction_of(lowering) == Direction::lowers);
  for (const std::string_view other : {"claims/grow", "members/update", "pods/shrink", "shrink",
                                       "claims/shrink2", "multikueue/leave", ""})
    CHECK(direction_of(other) == Direction::other);
}

}  // namespace fairlead
