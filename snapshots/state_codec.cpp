#include "snapshots/state_codec.h"

#include "snapshots/canonical_bytes.h"

namespace fairlead {

const Digest& state_shape() { return canonical_shape<State>(); }

std::string encode_state(const State& state) { return canonical_bytes(state); }

Result<State> decode_state(std::string_view bytes) {
  return from_canonical_bytes<State>(bytes, "state");
}

Digest state_digest(const State& state) { return sha256(encode_state(state)); }

}  // namespace fairlead
