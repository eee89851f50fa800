// The place of older writes, which did not say it, in the order of writes.
#include "schema/write_rule.h"

#include <catch2/catch.hpp>

namespace fairlead {

TEST_CASE("the rules that lower quota are known by their whole names") {
  const auto direction_of = [](std::string_view rule) {
    return order_of_rule(rule, Kind::cluster_queue).first;
  };
  for (const std::string_view lowering : {"claims/shrink", "workers/shrink", "members/shrink"})
    CHECK(direction_of(lowering) == Direction::lowers);
  for (const std::string_view other : {"claims/grow", "members/update", "pods/shrink", "shrink",
                                       "claims/shrink2", "multikueue/leave", ""})
    CHECK(direction_of(other) == Direction::other);
}

TEST_CASE("the rank of an older write follows from its rule, of a tenant's pod from its kind") {
  const auto rank_of = [](std::string_view rule, Kind kind = Kind::cluster_queue) {
    return order_of_rule(rule, kind).second;
  };
  CHECK(rank_of("claims/shrink") == Rank::shrink);
  CHECK(rank_of("claims/grow") == Rank::grow);
  CHECK(rank_of("claims/create") == Rank::claim_life);
  CHECK(rank_of("members/shrink", Kind::manifest_work) == Rank::member);
  CHECK(rank_of("multikueue/cluster") == Rank::worker);
  CHECK(rank_of("multikueue/leave") == Rank::worker_list);
  CHECK(rank_of("multikueue/nominate") == Rank::status);
  CHECK(rank_of("multikueue/unused") == Rank::release);
  CHECK(rank_of("pool/reason", Kind::namespace_) == Rank::grow);
  CHECK(rank_of("pool/reason", Kind::pod) == Rank::pod);
}

}  // namespace fairlead
