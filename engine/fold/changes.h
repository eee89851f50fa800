// What a rule changed that other rooms derive from.
//
// A rule changes its own part of State and returns the rest as Changes. Only fold/close.cpp knows
// what follows from them: hand_on() marks what is derived again when the open moment closes.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/claims/claim_state.h"
#include "engine/fold/deadlines.h"

namespace fairlead {

/// What happened to our write of an object or of its status, which is planned again.
enum class WriteChange : std::uint8_t {
  concluded,  ///< it was answered, observed or given up
  due,        ///< only the time to write has come: what is written follows from the same inputs
};

/// What changed of a cluster that its claims, their statuses or workers' shares follow.
struct CapacityChange {
  std::string cluster;
  std::optional<ClaimPart> claims;  ///< what is derived again of its claims; nullopt: nothing
  bool numbers = false;             ///< of statuses: these wait until the values hold still
  bool presence = false;            ///< whether the hub counts it, on which workers' shares depend
};

/// What a rule changed that others follow.
struct [[nodiscard]] Changes {
  std::vector<std::pair<WriteKey, WriteChange>> writes;
  std::vector<CapacityChange> capacities;

  void merge(Changes other) {
    writes.insert(writes.end(), std::make_move_iterator(other.writes.begin()),
                  std::make_move_iterator(other.writes.end()));
    capacities.insert(capacities.end(), std::make_move_iterator(other.capacities.begin()),
                      std::make_move_iterator(other.capacities.end()));
  }
};

/// The claims of the cluster are derived again: what they are granted, and what is written of it.
inline Changes claims_follow(std::string cluster) {
  Changes changes;
  changes.capacities.push_back({std::move(cluster), ClaimPart::all});
  return changes;
}

}  // namespace fairlead
