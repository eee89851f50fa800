// A storm: all that a run depends on, as data. The same storm gives the same run.
//
// A seed makes one; a file has one in text: a line `name value` for each field that is not as the
// default, `#` begins a comment.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead::simulation {

/// Rates are of a thousand requests, lines or turns; counts of actions are per hour.
struct Storm {
  std::int64_t seed = 1;
  std::int64_t minutes = 240;  ///< until faults heal
  std::int64_t settle_minutes = 240;
  std::int64_t members = 3;
  std::int64_t nodes = 20;    ///< of each member at the beginning
  std::int64_t replicas = 1;  ///< of the hub

  // Actors.
  std::int64_t node_changes = 12;   ///< a node is cordoned, stops, joins, vanishes, or comes back
  std::int64_t drains = 1;          ///< half of a member's nodes, one after the other
  std::int64_t flaps = 1;           ///< a node stops and answers again, ten times
  std::int64_t claim_edits = 2;     ///< the administrator changes what a claim assigns
  std::int64_t queue_edits = 1;     ///< or a queue that is not about quota
  std::int64_t foreign_quotas = 1;  ///< a second human writes a quota field of ours
};

struct StormField {
  std::string_view name;
  std::int64_t Storm::* value;
  std::int64_t least, most;
};
/// All fields, in the order of a file.
std::span<const StormField> storm_fields();

/// Returns the storm of a seed: a random part of what can happen is turned on.
Storm storm_of(std::uint64_t seed);
/// Reads a file's text. Errors are `bad_input`: "FILE:LINE: ...".
Result<Storm> read_storm(std::string_view text, std::string_view file_name);
std::string to_text(const Storm& storm);

}  // namespace fairlead::simulation
