#include "snapshots/state_codec.h"

#include <utility>

#include "engine/base/digest.h"
#include "engine/fold/canonical_bytes.h"

namespace fairlead {

const Digest& state_shape() { return canonical_shape<State>(); }

std::string encode_state(const State& state) { return canonical_bytes(state); }

void write_state(const State& state, std::function<void(std::string_view)> take) {
  write_canonical(state, std::move(take));
}

Result<State> decode_state(std::string_view bytes) {
  return from_canonical_bytes<State>(bytes, "state");
}

Digest state_digest(const State& state) {
  Sha256 digest;
  write_state(state, [&digest](std::string_view piece) { digest.add(piece); });
  return digest.finish();
}

}  // namespace fairlead
