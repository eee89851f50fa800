#include "schema/write_rule.h"

#include <algorithm>
#include <array>

namespace fairlead {

namespace {

struct RuleRank {
  std::string_view rule;
  Rank rank;
};
constexpr std::array<RuleRank, 20> kRuleRanks{
    {{rule::kClaimsShrink, Rank::shrink},        {rule::kWorkersShrink, Rank::shrink},
     {rule::kClaimsFinalizer, Rank::claim_life}, {rule::kClaimsCreate, Rank::claim_life},
     {rule::kClaimsNominal, Rank::claim_life},   {rule::kFleetClaimCreate, Rank::worker},
     {"multikueue/cluster", Rank::worker},       {rule::kFleetScheduling, Rank::worker_list},
     {rule::kClaimsStatus, Rank::status},        {rule::kClaimsRestoreStatus, Rank::status},
     {rule::kFleetClaimStatus, Rank::status},    {"multikueue/condition", Rank::status},
     {"multikueue/nominate", Rank::status},      {"multikueue/ready", Rank::status},
     {rule::kClaimsRelease, Rank::release},      {rule::kFleetClaimRemove, Rank::release},
     {"multikueue/release", Rank::release},      {"multikueue/cluster-unused", Rank::release},
     {"multikueue/dissolve", Rank::release},     {"multikueue/unused", Rank::release}}};

Rank rank_of_rule(std::string_view rule, Kind target) {
  const auto* const row = std::ranges::find(kRuleRanks, rule, &RuleRank::rule);
  if (row != kRuleRanks.end()) return row->rank;
  if (target == Kind::pod) return Rank::pod;
  if (rule.starts_with("multikueue/")) return Rank::worker_list;
  return rule.starts_with("members/") ? Rank::member : Rank::grow;
}

}  // namespace

std::pair<Direction, Rank> order_of_rule(std::string_view rule, Kind target) {
  const bool lowers =
      rule == rule::kClaimsShrink || rule == rule::kWorkersShrink || rule == rule::kMembersShrink;
  return {lowers ? Direction::lowers : Direction::other, rank_of_rule(rule, target)};
}

}  // namespace fairlead
