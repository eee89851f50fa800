// State into canonical bytes and back.
//
// The bytes follow the shape of the structs in engine/fold: every field in order, maps and sets in
// theirs, so equal states give equal bytes on every compiler. The bytes carry no field names; a
// shape (a digest of the types) stands before them, and bytes of another shape are refused rather
// than misread: whoever meets some folds the log instead.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/fold/state.h"

namespace fairlead {

/// The canonical bytes of `state`. Equal states give equal bytes.
std::string encode_state(const State& state);

/// The state that `bytes` hold. `incompatible` if a program with another State wrote them,
/// `corrupt` if they hold no state.
Result<State> decode_state(std::string_view bytes);

/// Names the types that State is made of.
const Digest& state_shape();

/// SHA-256 of encode_state.
Digest state_digest(const State& state);

}  // namespace fairlead
