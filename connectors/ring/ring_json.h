// The JSON of a RingCommit, as both stores keep it:
//
//   {"log":"6f...","slots":1024,"commit":7,"first":512,"count":3,"pack":"BASE64"}
//
// `pack` is absent in a slot that was not used yet, whose `first` and `count` are 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "connectors/kube/document/json_document.h"
#include "engine/base/result.h"
#include "engine/log/replicated/commit_store.h"

namespace fairlead {

std::string ring_json(const RingCommit& commit);
/// Reads what ring_json() writes, of the slot with that number. Fails with `corrupt` for anything
/// else, also for a member that it does not know; `where` is the value's name in the message, to
/// which a member's is added.
Result<RingCommit> read_ring_json(JsonView value, std::uint32_t slot, std::string_view where);

/// Reads the number of a slot: decimal digits, as std::to_string() writes them.
std::optional<std::uint32_t> read_slot_number(std::string_view text);

}  // namespace fairlead
