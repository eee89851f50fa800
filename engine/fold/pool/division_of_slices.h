// Which super clusters get the slices of one namespace: pure functions on one row per cluster.
//
// A decision begins with what another writer asked for (mandatory), keeps what it can where it is,
// and places the rest. Nothing is moved for balance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/fold/pool/pool_state.h"

namespace fairlead {

/// A super cluster as a decision about one namespace sees it; rows are in the order of the ids.
struct SliceRow {
  std::string id;
  ClusterStanding standing{};
  std::int64_t room = 0;    ///< slices that fit there beside other namespaces'; 0 unless open
  std::int64_t had = 0;     ///< before the decision
  std::int64_t asked = 0;   ///< by the edit
  std::int64_t needed = 0;  ///< filled by pods
  // The outcome, whose sum is what the namespace has then.
  std::int64_t mandatory = 0;
  std::int64_t kept = 0;
  std::int64_t moving = 0;  ///< of `kept`, while it is not decided whether it moves
  std::int64_t placed = 0;

  std::int64_t has() const { return mandatory + kept + moving + placed; }
  std::int64_t free() const { return standing == ClusterStanding::open ? room - has() : 0; }
};
using SliceRows = std::vector<SliceRow>;

/// Whether the slices keep their size. A slice of a new size may not stay where it does not fit.
enum class SliceSize : std::uint8_t { same, changed };
/// What is done where not everything fits: nothing, or as much as fits.
enum class Fit : std::uint8_t { all, partial };

struct SliceTerms {
  PoolPolicy policy{};
  Fit fit{};
  SliceSize size{};
};

/// Takes `surplus` slices from `kept`, one at a time: unused ones first, then those on gone
/// clusters, then those on closed and away ones, then where most are unused, then the higher id.
void reduce(SliceRows& rows, std::int64_t surplus);

/// Places `count` slices on open clusters, as many as fit. pack: first on clusters where the
/// namespace has slices; on the cluster with the least room that takes all of them, else on the one
/// with the most room. spread: each slice where the namespace has the fewest.
void place(SliceRows& rows, std::int64_t count, PoolPolicy policy);

/// Returns the sum of the free slices of all rows.
std::int64_t total_free(const SliceRows& rows);

/// Gives the namespace `wanted` slices. With Fit::all it gets `fallback` slices if they do not all
/// fit. Returns false, with the rows undecided, if slices of a new size do not all fit.
[[nodiscard]] bool divide_slices(SliceRows& rows, std::int64_t wanted, std::int64_t fallback,
                                 const SliceTerms& terms);

}  // namespace fairlead
