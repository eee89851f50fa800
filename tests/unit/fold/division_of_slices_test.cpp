#include "engine/fold/pool/division_of_slices.h"

#include <catch2/catch.hpp>

using namespace fairlead;

namespace {

constexpr auto kOpen = ClusterStanding::open;
constexpr auto kClosed = ClusterStanding::closed;
constexpr auto kAway = ClusterStanding::away;
constexpr auto kGone = ClusterStanding::gone;

SliceMap outcome(const SliceRows& rows) {
  SliceMap slices;
  for (const SliceRow& row : rows)
    if (row.has() > 0) slices[row.id] = row.has();
  return slices;
}

SliceMap divided(SliceRows rows, std::int64_t wanted, SliceTerms terms = {}) {
  std::int64_t had = 0;
  for (const SliceRow& row : rows) had += row.had;
  return divide_slices(rows, wanted, had, terms) ? outcome(rows) : SliceMap{{"undecided", 0}};
}

SliceMap placed(SliceRows rows, std::int64_t count, PoolPolicy policy) {
  for (SliceRow& row : rows) row.kept = row.had;
  place(rows, count, policy);
  return outcome(rows);
}

SliceMap reduced(SliceRows rows, std::int64_t surplus) {
  for (SliceRow& row : rows) row.kept = row.had;
  reduce(rows, surplus);
  return outcome(rows);
}

}  // namespace

TEST_CASE("pack fills the least room that takes all, where there are slices first") {
  CHECK(placed({{"a", kOpen, 7}, {"b", kOpen, 7}}, 6, PoolPolicy::pack) == SliceMap{{"a", 6}});
  CHECK(placed({{"a", kOpen, 9}, {"b", kOpen, 7}}, 6, PoolPolicy::pack) == SliceMap{{"b", 6}});
  CHECK(placed({{"a", kOpen, 3}, {"b", kOpen, 5}}, 6, PoolPolicy::pack) ==
        SliceMap{{"a", 1}, {"b", 5}});
  // The namespace is at b: b is filled before a is looked at.
  CHECK(placed({{"a", kOpen, 9}, {"b", kOpen, 5, 2}}, 4, PoolPolicy::pack) ==
        SliceMap{{"a", 1}, {"b", 5}});
  CHECK(placed({{"a", kClosed, 9}}, 1, PoolPolicy::pack).empty());
}

TEST_CASE("spread evens out, then goes where most is free, then to the lower id") {
  CHECK(placed({{"a", kOpen, 9}, {"b", kOpen, 9}, {"c", kOpen, 9}}, 4, PoolPolicy::spread) ==
        SliceMap{{"a", 2}, {"b", 1}, {"c", 1}});
  CHECK(placed({{"a", kOpen, 3}, {"b", kOpen, 9}}, 1, PoolPolicy::spread) == SliceMap{{"b", 1}});
  CHECK(placed({{"a", kOpen, 9, 2}, {"b", kOpen, 9}}, 2, PoolPolicy::spread) ==
        SliceMap{{"a", 2}, {"b", 2}});
}

TEST_CASE("a reduction takes unused slices, from gone clusters first") {
  CHECK(reduced({{"a", kOpen, 9, 3}, {"b", kGone, 0, 3}}, 2) == SliceMap{{"a", 3}, {"b", 1}});
  // What pods fill goes last, wherever it is.
  CHECK(reduced({{"a", kOpen, 9, 3}, {"b", kGone, 0, 3, 0, 3}}, 2) == SliceMap{{"a", 1}, {"b", 3}});
  CHECK(reduced({{"a", kAway, 0, 3}, {"b", kClosed, 0, 4}, {"c", kOpen, 9, 9}}, 1) ==
        SliceMap{{"a", 3}, {"b", 3}, {"c", 9}});
  CHECK(reduced({{"a", kOpen, 9, 2}, {"b", kOpen, 9, 2}}, 1) == SliceMap{{"a", 2}, {"b", 1}});
}

TEST_CASE("what does not fit whole is not placed, or in part") {
  const SliceRows rows{{"a", kOpen, 5, 2}};
  CHECK(divided(rows, 9) == SliceMap{{"a", 2}});
  CHECK(divided(rows, 9, {PoolPolicy::pack, Fit::partial, SliceSize::same}) == SliceMap{{"a", 5}});
  CHECK(divided(rows, 5) == SliceMap{{"a", 5}});
}

TEST_CASE("an edit moves slices where they fit, and keeps what is elsewhere") {
  CHECK(divided({{"a", kOpen, 9, 4, 1}, {"b", kOpen, 9, 0, 3}}, 4) == SliceMap{{"a", 1}, {"b", 3}});
  CHECK(divided({{"a", kOpen, 9, 4}, {"b", kOpen, 2, 0, 4}}, 4) == SliceMap{{"a", 2}, {"b", 2}});
  CHECK(divided({{"a", kOpen, 9, 4}, {"b", kAway, 0, 0, 4}}, 4) == SliceMap{{"a", 4}});
  CHECK(divided({{"a", kOpen, 9, 4, 9}}, 4) == SliceMap{{"a", 4}});
}

TEST_CASE("slices on a gone cluster move as far as others have room") {
  CHECK(divided({{"a", kGone, 0, 3}, {"b", kOpen, 9, 1}}, 4) == SliceMap{{"b", 4}});
  CHECK(divided({{"a", kGone, 0, 3}, {"b", kOpen, 2, 1}}, 4) == SliceMap{{"a", 2}, {"b", 2}});
  // Of two gone clusters those on the lower id stay.
  CHECK(divided({{"a", kGone, 0, 2}, {"b", kGone, 0, 2}, {"c", kOpen, 1}}, 4) ==
        SliceMap{{"a", 2}, {"b", 1}, {"c", 1}});
  CHECK(divided({{"a", kAway, 0, 3}, {"b", kOpen, 9, 1}}, 4) == SliceMap{{"a", 3}, {"b", 1}});
}

TEST_CASE("slices of another size all fit, or none is changed") {
  const SliceTerms changed{PoolPolicy::pack, Fit::partial, SliceSize::changed};
  CHECK(divided({{"a", kOpen, 2, 4}, {"b", kOpen, 3}}, 4, changed) == SliceMap{{"a", 2}, {"b", 2}});
  CHECK(divided({{"a", kOpen, 2, 4}, {"b", kOpen, 1}}, 4, changed) == SliceMap{{"undecided", 0}});
}

TEST_CASE("reductions, one slice after the other") {
  struct Row {
    const char* what;
    SliceRows rows;
    std::int64_t surplus;
    SliceMap left;
  };
  // id, standing, room, had, asked, needed
  const Row rows[] = {
      {"nothing is too much", {{"a", kOpen, 9, 3}}, 0, {{"a", 3}}},
      {"all may go", {{"a", kOpen, 9, 3}, {"b", kAway, 0, 1}}, 9, {}},
      {"the largest unused first",
       {{"a", kOpen, 9, 4, 0, 1}, {"b", kOpen, 9, 2}},
       2,
       {{"a", 3}, {"b", 1}}},
      {"equals in turn, higher ids first", {{"a", kOpen, 9, 2}, {"b", kOpen, 9, 2}}, 3, {{"a", 1}}},
      {"away and closed are alike",
       {{"a", kClosed, 0, 2}, {"b", kAway, 0, 2}},
       1,
       {{"a", 2}, {"b", 1}}},
      {"gone before away before open",
       {{"a", kOpen, 9, 5}, {"b", kAway, 0, 1}, {"c", kGone, 0, 1}},
       3,
       {{"a", 4}}},
      {"a used slice of a gone cluster after unused ones of open ones",
       {{"a", kOpen, 9, 2}, {"b", kGone, 0, 1, 0, 1}},
       2,
       {{"b", 1}}},
      {"then used ones, gone clusters first",
       {{"a", kOpen, 9, 1, 0, 1}, {"b", kGone, 0, 1, 0, 1}},
       1,
       {{"a", 1}}},
      {"of used ones where fewest are missing",
       {{"a", kOpen, 9, 2, 0, 2}, {"b", kOpen, 9, 2, 0, 5}},
       1,
       {{"a", 1}, {"b", 2}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(reduced(row.rows, row.surplus) == row.left);
  }
}

TEST_CASE("decisions in full, all or nothing") {
  struct Row {
    const char* what;
    SliceRows rows;
    std::int64_t wanted;
    SliceMap got;
  };
  const Row rows[] = {
      {"an edit is followed by id until all is given",
       {{"a", kOpen, 9, 0, 3}, {"b", kOpen, 9, 4, 3}},
       4,
       {{"a", 3}, {"b", 1}}},
      {"an edit beyond the room keeps what is there",
       {{"a", kOpen, 1, 3, 9}, {"b", kOpen, 9, 1}},
       4,
       {{"a", 3}, {"b", 1}}},
      {"a closed cluster keeps what an edit asks of it, and gets no more",
       {{"a", kClosed, 0, 2, 4}, {"b", kOpen, 9, 2}},
       4,
       {{"a", 2}, {"b", 2}}},
      {"an edit to a gone cluster is void",
       {{"a", kGone, 0, 0, 4}, {"b", kOpen, 9, 4}},
       4,
       {{"b", 4}}},
      {"what an edit leaves goes from old places as a reduction does",
       {{"a", kOpen, 9, 3}, {"b", kAway, 0, 1}, {"c", kOpen, 9, 0, 2}},
       4,
       {{"a", 2}, {"c", 2}}},
      {"the mandatory part counts as unused where it is",
       {{"a", kOpen, 9, 3, 1, 1}, {"b", kOpen, 9, 3, 0, 1}},
       4,
       {{"a", 2}, {"b", 2}}},
      {"more than fits keeps what there is", {{"a", kOpen, 4, 3}, {"b", kOpen, 1}}, 6, {{"a", 3}}},
      {"and an edit still moves that",
       {{"a", kOpen, 4, 3}, {"b", kOpen, 1, 0, 1}},
       6,
       {{"a", 2}, {"b", 1}}},
      {"and gone clusters are still left",
       {{"a", kGone, 0, 3}, {"b", kOpen, 2}},
       6,
       {{"a", 1}, {"b", 2}}},
      {"a place with more than fits takes nothing from the room of others",
       {{"a", kOpen, 1, 3}, {"b", kOpen, 2}},
       5,
       {{"a", 3}, {"b", 2}}},
      {"moves and new slices go as one",
       {{"a", kGone, 0, 2}, {"b", kOpen, 5}, {"c", kOpen, 4}},
       4,
       {{"c", 4}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(divided(row.rows, row.wanted) == row.got);
  }
}

TEST_CASE("in part, moves take the room before new slices") {
  const SliceTerms part{PoolPolicy::pack, Fit::partial, SliceSize::same};
  CHECK(divided({{"a", kGone, 0, 2}, {"b", kOpen, 3}}, 4, part) == SliceMap{{"b", 3}});
  CHECK(divided({{"a", kGone, 0, 4}, {"b", kOpen, 3}}, 6, part) == SliceMap{{"a", 1}, {"b", 3}});
  CHECK(divided({{"a", kGone, 0, 1}}, 6, part) == SliceMap{{"a", 1}});
}

TEST_CASE("slices of another size stay on clusters that are not open, whatever fits there") {
  const SliceTerms changed{PoolPolicy::spread, Fit::all, SliceSize::changed};
  CHECK(divided({{"a", kAway, 0, 3}, {"b", kOpen, 1, 3}}, 4, changed) ==
        SliceMap{{"a", 3}, {"b", 1}});
  // An edit has no more than the room either.
  CHECK(divided({{"a", kOpen, 1, 3, 3}, {"b", kOpen, 9}}, 3, changed) ==
        SliceMap{{"a", 1}, {"b", 2}});
  // Moves that find no room are no reason to refuse the new size.
  CHECK(divided({{"a", kGone, 0, 3}, {"b", kOpen, 1}}, 3, changed) == SliceMap{{"a", 2}, {"b", 1}});
}

TEST_CASE("placing stops where nothing is free, and large numbers do not overflow") {
  CHECK(placed({{"a", kOpen, 2}, {"b", kGone, 9}}, 5, PoolPolicy::spread) == SliceMap{{"a", 2}});
  CHECK(placed({{"a", kOpen, 1, 3}}, 1, PoolPolicy::pack) == SliceMap{{"a", 3}});
  CHECK(total_free({{"a", kOpen, INT64_MAX}, {"b", kOpen, INT64_MAX}}) == INT64_MAX);
  CHECK(total_free({{"a", kOpen, 1, 0, 0, 0, 5}, {"b", kOpen, 2}, {"c", kAway, 7}}) == 2);
}
