// Encodes State as canonical bytes (canonical_bytes.h), and decodes it. Bytes of another shape are
// refused rather than misread: the caller folds the log instead.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/fold/state.h"

namespace fairlead {

/// Returns the canonical bytes of `state`. Equal states give equal bytes.
std::string encode_state(const State& state);

/// Gives the same bytes to `take`, in pieces: of a million nodes they are half a gigabyte.
void write_state(const State& state, std::function<void(std::string_view)> take);

/// Decodes a state. Fails with `incompatible` if a program with another State wrote `bytes`, with
/// `corrupt` if they are malformed.
Result<State> decode_state(std::string_view bytes);

/// Returns the digest of the types of which State is composed.
const Digest& state_shape();

/// Returns SHA-256 of encode_state().
Digest state_digest(const State& state);

}  // namespace fairlead
