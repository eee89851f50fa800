// Private to the ring: what a slot holds, compared with what is expected there.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/digest.h"
#include "engine/base/result.h"
#include "engine/log/pack.h"
#include "engine/log/replicated/ring.h"

namespace fairlead {

/// What a slot holds, seen from one commit that belongs into it.
enum class SlotState : std::uint8_t {
  missing,    ///< there is no such slot
  unused,     ///< made, and no commit yet
  damaged,    ///< a pack that does not read, or not as the slot says
  older,      ///< a commit before this one
  same,       ///< this commit
  other,      ///< another commit of its number
  later,      ///< a commit after it
  other_log,  ///< of another log, or of a ring of another size
};

/// Returns what is in a slot, where the commit `number` with the digest `expected` belongs. Without
/// a digest a commit of its number is `other`.
SlotState state_of_slot(const RingPlace& place, const std::optional<RingSlot>& found,
                        std::uint64_t number, const std::optional<Digest>& expected);

/// Returns the header of `commit` if it continues `place`. Fails with `corrupt`, naming commit and
/// seq, or with `incompatible` if a newer program wrote the pack.
Result<PackHeader> check_continues(const RingPlace& place, const RingCommit& commit);

/// Returns the digest of a commit whose pack was made here or was verified.
Digest digest_of(const RingCommit& commit);

}  // namespace fairlead
