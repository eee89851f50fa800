// The membership rule: which workers the list of one Placement has, at one moment.
//
// A pure function from what is known at a moment to the desired list. The terms, as in
// docs/decisions/0026-a-worker-list-moves-late.md: a *newcomer* is selected and not in the list, a
// *leaver* is in the list and not selected. Kueue evicts what runs on a cluster that leaves the
// list and may start it twice when the cluster comes back, so the list moves late, in one write,
// and is not emptied for a short absence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/base/time.h"
#include "schema/configuration.h"

namespace fairlead {

/// The windows of one list; `0s` means no waiting.
struct MembershipWindows {
  Duration settle;
  Duration move_window;
  Duration drain_timeout;
  Duration empty_grace;
  Duration credential_grace;

  friend bool operator==(const MembershipWindows&, const MembershipWindows&) = default;
};

/// One name that the list has or may get.
struct Candidate {
  bool selected = false;
  LogTime since;               ///< since when it is selected, or absent, without a break
  bool held = false;           ///< a Workload runs there
  bool barred = false;         ///< Workloads that ran there when it left may still run: no newcomer
  bool taken_out = false;      ///< another writer removed it from the list
  std::optional<Int128> rank;  ///< sum of weighted scores; none: unknown, after all others
};

/// Everything that the rule reads.
struct Membership {
  LogTime now;
  MembershipWindows windows;
  std::size_t workers_max = 20;  ///< no list is longer
  std::vector<std::string> list;
  std::map<std::string, Candidate> candidates;  ///< every name of the list among them
  bool placement_gone = false;
  std::optional<LogTime> frozen_since;  ///< nothing is selected, or the Placement is gone, since
  std::vector<std::string> order;       ///< an order of the same members that would be better...
  LogTime order_since;                  ///< ...and since when
};

/// The result of the rule for one name. Values from `entering` on are for names that were not in
/// the list, except `left`.
enum class Standing : std::uint8_t {
  member,
  leaving,
  held,
  kept,
  frozen,
  entering,
  waits_settle,
  waits_move,
  waits_place,
  waits_copies,
  left,
};

/// The desired list, and when to evaluate the rule again if nothing happens.
struct Verdict {
  std::vector<std::string> list;
  bool dissolve = false;  ///< the list should be deleted
  std::map<std::string, Standing> standings;
  std::vector<std::string> order;  ///< Membership::order for the next time; empty: none
  LogTime order_since;
  LogTime next = kForever;
};

/// Applies the rule. `membership.frozen_since` is set exactly while the list is frozen.
Verdict judge(const Membership& membership);

}  // namespace fairlead
