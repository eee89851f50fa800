#include "engine/fold/pool/division_of_slices.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace fairlead {

namespace {

std::int64_t unused(const SliceRow& row) { return row.mandatory + row.kept - row.needed; }

// Gone clusters give up first, open ones last.
int protection(ClusterStanding standing) {
  switch (standing) {
    case ClusterStanding::gone: return 0;
    case ClusterStanding::away:
    case ClusterStanding::closed: return 1;
    case ClusterStanding::open: return 2;
  }
  return 2;
}

void take_mandatory(SliceRows& rows, std::int64_t& wanted, SliceSize size) {
  for (SliceRow& row : rows) {
    if (row.standing == ClusterStanding::gone) continue;
    const bool open = row.standing == ClusterStanding::open;
    // What is there may stay on a cluster that has no room for it.
    const std::int64_t bound =
        open && size == SliceSize::changed ? row.room : std::max(row.room, row.had);
    row.mandatory = std::min({row.asked, wanted, bound});
    wanted -= row.mandatory;
  }
}

void keep_places(SliceRows& rows, std::int64_t& wanted, SliceSize size) {
  std::int64_t sum = 0;
  for (SliceRow& row : rows) {
    row.kept = std::max<std::int64_t>(0, row.had - row.mandatory);
    if (row.standing == ClusterStanding::open && size == SliceSize::changed)
      row.kept = std::min(row.kept, std::max<std::int64_t>(0, row.room - row.mandatory));
    sum += row.kept;
  }
  if (sum > wanted) {
    reduce(rows, sum - wanted);
    sum = wanted;
  }
  wanted -= sum;
}

// Sets aside what should leave gone clusters, and returns how much that is.
std::int64_t set_moves_aside(SliceRows& rows) {
  std::int64_t moves = 0;
  for (SliceRow& row : rows)
    if (row.standing == ClusterStanding::gone) {
      row.moving = row.kept;
      row.kept = 0;
      moves += row.moving;
    }
  return moves;
}

// Leaves `stay` of the moves where they are, on lower ids first. The others leave.
void leave_moves(SliceRows& rows, std::int64_t stay) {
  for (SliceRow& row : rows) {
    const std::int64_t here = std::min(stay, row.moving);
    row.kept += here;
    row.moving = 0;
    stay -= here;
  }
}

void place_packed(SliceRows& rows, std::int64_t count) {
  while (count > 0) {
    const bool at_home = std::any_of(rows.begin(), rows.end(), [](const SliceRow& row) {
      return row.free() >= 1 && row.has() >= 1;
    });
    SliceRow* tightest = nullptr;
    SliceRow* roomiest = nullptr;
    for (SliceRow& row : rows) {
      const std::int64_t free = row.free();
      if (free < 1 || (at_home && row.has() < 1)) continue;
      if (free >= count && (!tightest || free < tightest->free())) tightest = &row;
      if (!roomiest || free > roomiest->free()) roomiest = &row;
    }
    SliceRow* const chosen = tightest ? tightest : roomiest;
    if (!chosen) return;
    // At least 1, so the loop ends.
    const std::int64_t here = std::min(count, chosen->free());
    chosen->placed += here;
    count -= here;
  }
}

void place_spread(SliceRows& rows, std::int64_t count) {
  // The row with the fewest slices, then the most free, then the lowest id is on top.
  const auto behind = [&rows](std::size_t a, std::size_t b) {
    const auto key = [&rows](std::size_t i) {
      return std::tuple{rows[i].has(), -rows[i].free(), i};
    };
    return key(a) > key(b);
  };
  // Only the row that is taken out changes before it is put back: the order of the others stays
  // valid.
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(behind)> next(behind);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].free() >= 1) next.push(i);
  for (; count > 0 && !next.empty(); --count) {
    const std::size_t i = next.top();
    next.pop();
    ++rows[i].placed;
    if (rows[i].free() >= 1) next.push(i);
  }
}

// One attempt at `wanted`. Returns the moves, and leaves in `wanted` what is new.
std::int64_t begin(SliceRows& rows, std::int64_t& wanted, SliceSize size) {
  for (SliceRow& row : rows) row.mandatory = row.kept = row.moving = row.placed = 0;
  take_mandatory(rows, wanted, size);
  keep_places(rows, wanted, size);
  return set_moves_aside(rows);
}

}  // namespace

void reduce(SliceRows& rows, std::int64_t surplus) {
  // The first to give up is on top.
  const auto behind = [&rows](std::size_t a, std::size_t b) {
    const auto key = [&rows](std::size_t i) {
      const std::int64_t left = unused(rows[i]);
      return std::tuple{left > 0 ? 0 : 1, protection(rows[i].standing), -left};
    };
    return std::tuple{key(a), b} > std::tuple{key(b), a};
  };
  // As in place_spread(): only the row that is taken out changes.
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(behind)> next(behind);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].kept > 0) next.push(i);
  for (; surplus > 0 && !next.empty(); --surplus) {
    const std::size_t i = next.top();
    next.pop();
    --rows[i].kept;
    if (rows[i].kept > 0) next.push(i);
  }
}

void place(SliceRows& rows, std::int64_t count, PoolPolicy policy) {
  switch (policy) {
    case PoolPolicy::pack: return place_packed(rows, count);
    case PoolPolicy::spread: return place_spread(rows, count);
  }
}

std::int64_t total_free(const SliceRows& rows) {
  std::int64_t sum = 0;
  for (const SliceRow& row : rows)
    sum = saturate(Int128{sum} + std::max<std::int64_t>(0, row.free()));
  return sum;
}

// What leaves a gone cluster is placed first: new slices get what is free besides. A new size of
// slice is all or nothing, because a namespace has one size. Where all new slices have to fit and
// do not, the attempt is repeated for `fallback`, so that the moves are made without them.
bool divide_slices(SliceRows& rows, std::int64_t wanted, std::int64_t fallback,
                   const SliceTerms& terms) {
  std::int64_t fresh = wanted;
  std::int64_t moves = begin(rows, fresh, terms.size);
  std::int64_t free = total_free(rows);
  if (fresh > 0 && fresh > free - moves) {
    if (terms.size == SliceSize::changed) return false;
    if (terms.fit == Fit::all) {
      fresh = fallback;
      moves = begin(rows, fresh, terms.size);
      free = total_free(rows);
    }
  }
  const std::int64_t moved = std::min(moves, free);
  leave_moves(rows, moves - moved);
  place(rows, moved + std::min(fresh, free - moved), terms.policy);
  return true;
}

}  // namespace fairlead
