#include "engine/log/replicated/ring_check.h"

#include <string>

#include "engine/base/check.h"

namespace fairlead {

SlotState state_of_slot(const RingPlace& place, const std::optional<RingSlot>& found,
                        std::uint64_t number, const std::optional<Digest>& expected) {
  if (!found) return SlotState::missing;
  const RingCommit& commit = found->commit;
  if (commit.log != place.log || commit.slots != place.slots) return SlotState::other_log;
  if (commit.commit % place.slots != number % place.slots) return SlotState::damaged;
  if (commit.pack.empty()) return SlotState::unused;
  const auto header = read_pack_header(commit.pack);
  // A newer program's pack is not damage: it tells at least whose turn the slot has seen.
  const bool newer = !header && header.error().code == ErrorCode::incompatible;
  if (!header && !newer) return SlotState::damaged;
  if (header && (header->first != commit.first || header->count != commit.count))
    return SlotState::damaged;
  if (commit.commit > number) return SlotState::later;
  if (commit.commit < number) return SlotState::older;
  return header && expected && header->digest == *expected ? SlotState::same : SlotState::other;
}

Result<PackHeader> check_continues(const RingPlace& place, const RingCommit& commit) {
  const auto fault = [&](std::string what) {
    return Error{ErrorCode::corrupt, "commit " + std::to_string(place.next) + " (seq " +
                                         std::to_string(place.last.value + 1) +
                                         " and on) of the ring: " + std::move(what)};
  };
  if (commit.log != place.log) return fault("it is of another log: " + commit.log);
  if (commit.slots != place.slots)
    return fault("its ring has " + std::to_string(commit.slots) + " slots, not " +
                 std::to_string(place.slots));
  if (commit.commit != place.next) return fault("its number is " + std::to_string(commit.commit));
  auto header = read_pack_header(commit.pack);
  if (!header) return Error{header.error().code, fault(header.error().message).message};
  if (header->first != next(place.last) || header->first != commit.first)
    return fault("the pack begins at seq " + std::to_string(header->first.value));
  if (header->count != commit.count) return fault("the pack has another count of events");
  if (header->previous != place.chain) return fault("the hash chain does not continue");
  return header;
}

Digest digest_of(const RingCommit& commit) {
  const auto header = read_pack_header(commit.pack);
  check(header.has_value(), "a pack of the local copy reads");
  return header->digest;
}

}  // namespace fairlead
