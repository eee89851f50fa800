// The membership rule: which workers the list of one Placement has, at one moment.
//
// A pure function from what is known at a moment to the list that should stand then. The words are
// those of docs/decisions/0026-a-worker-list-moves-late.md: a *newcomer* is selected and not in the
// list, a *leaver* is in the list and not selected. Kueue evicts what runs on a cluster that leaves
// the list and may start it twice when one comes back, so the list moves late, in one write, and is
// never emptied for a while.
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
  LogTime since;               ///< of being selected, or of being absent, without a break
  bool held = false;           ///< a Workload runs there
  bool barred = false;         ///< what ran there when it left may not be over: no newcomer yet
  bool taken_out = false;      ///< a foreign write removed it from the list
  std::optional<Int128> rank;  ///< sum of weighted scores; none: unknown, after all others
};

/// Everything the rule looks at.
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

/// What the rule says of one name. The second row is of names outside the list.
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

/// What should stand, and when to look again if nothing happens.
struct Verdict {
  std::vector<std::string> list;
  bool dissolve = false;  ///< there should be no list any more
  std::map<std::string, Standing> standings;
  std::vector<std::string> order;  ///< Membership::order for the next time; empty: none
  LogTime order_since;
  LogTime next = kForever;
};

/// The rule. `membership.frozen_since` is set exactly while the list is frozen.
Verdict judge(const Membership& membership);

}  // namespace fairlead
