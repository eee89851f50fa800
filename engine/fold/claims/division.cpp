#include "engine/fold/claims/division.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace fairlead {

namespace {

Int128 sum_of(const std::vector<Amount>& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), Int128{0},
                         [](Int128 sum, Amount amount) { return sum + amount; });
}

// Splits `rest` over the rows `members` in proportion to `weight` and adds it to `granted`: each
// part is floored to the quantum, then one pass gives the left-over quanta by largest remainder. No
// row gets more than its weight.
//
// One pass is enough: flooring takes less than one quantum of each row, so fewer quanta are left
// than there are rows. Where a weight is not a whole number of quanta, its row may have no room for
// another one; such a quantum is given to no row, so the sum never exceeds `rest`. `rest` is less
// than the weights here, so a part is below its weight, and a product of two amounts fits 128 bits.
// Remainders are compared before division, as exact numbers; equal ones by priority and name, so
// that the order of the rows does not matter.
void split(const std::vector<Share>& shares, const std::vector<std::size_t>& members,
           const std::vector<Amount>& weight, Int128 rest, Amount quantum,
           std::vector<Amount>& granted) {
  Int128 weights = 0;
  for (const std::size_t row : members) weights += weight[row];
  if (weights == 0 || rest <= 0) return;
  if (weights <= rest) {
    for (const std::size_t row : members) granted[row] += weight[row];
    return;
  }
  std::map<std::size_t, Int128> remainder;
  std::vector<Amount> part(shares.size(), 0);
  Int128 given = 0;
  for (const std::size_t row : members) {
    const Int128 product = Int128{weight[row]} * rest;
    part[row] = saturate(product / weights / quantum * quantum);
    remainder[row] = product - Int128{part[row]} * weights;
    given += part[row];
  }
  std::vector<std::size_t> order = members;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (remainder[a] != remainder[b]) return remainder[a] > remainder[b];
    return std::tuple(-std::int64_t{shares[a].priority}, shares[a].cluster_queue,
                      shares[a].flavor) <
           std::tuple(-std::int64_t{shares[b].priority}, shares[b].cluster_queue, shares[b].flavor);
  });
  Int128 left = (rest - given) / quantum;
  for (const std::size_t row : order) {
    if (left == 0) break;
    if (Int128{part[row]} + quantum > weight[row]) continue;
    part[row] += quantum;
    --left;
  }
  for (const std::size_t row : members) granted[row] += part[row];
}

}  // namespace

bool fits(const std::vector<Share>& shares, Amount bound) {
  Int128 sum = 0;
  for (const Share& share : shares) sum += share.assigned;
  return sum <= bound;
}

Division divide(const std::vector<Share>& shares, Amount bound, Amount quantum,
                ShrinkPolicy policy) {
  std::vector<Amount> assigned, minimum;
  std::vector<std::size_t> all(shares.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const Share& share : shares) {
    assigned.push_back(share.assigned);
    minimum.push_back(std::min(share.minimum, share.assigned));
  }
  if (fits(shares, bound)) return {assigned, false};

  Division division{std::vector<Amount>(shares.size(), 0), false};
  const Amount floored = bound / quantum * quantum;
  // Minimums are compared with the floored bound, because grants below it are whole quanta.
  division.minimums_above_bound = sum_of(minimum) > floored;
  split(shares, all, minimum, floored, quantum, division.granted);
  if (division.minimums_above_bound) return division;

  std::vector<Amount> wanted(shares.size());
  for (const std::size_t row : all) wanted[row] = assigned[row] - minimum[row];
  // The highest priority first; the proportional policy is one tier.
  std::map<std::int32_t, std::vector<std::size_t>, std::greater<>> tiers;
  for (const std::size_t row : all)
    tiers[policy == ShrinkPolicy::priority ? shares[row].priority : 0].push_back(row);
  for (const auto& [priority, members] : tiers)
    split(shares, members, wanted, floored - sum_of(division.granted), quantum, division.granted);
  return division;
}

}  // namespace fairlead
