// The compressed state inside a snapshot.
//
// A frame of a few kilobytes can stand for gigabytes. A snapshot may come from a bundle that anyone
// made, so what its frame says about its size is checked before memory is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead {

/// The largest state that is stored or read. The state of a million nodes takes about half of it.
inline constexpr std::uint64_t kStateBytesMax = std::uint64_t{2} << 30;
/// A frame of any size may stand for this much.
inline constexpr std::uint64_t kSmallStateBytes = std::uint64_t{64} << 20;
/// Beyond kSmallStateBytes, a byte of the frame stands for at most this many. Every object that a
/// log can hold has a name and a UID of its own, so no state that events fold to comes near it.
inline constexpr std::uint64_t kStateBytesPerFrameByteMax = 256;

/// A decompressed state.
struct PlainState {
  std::unique_ptr<char[]> bytes;  ///< a string would write zeros first, also where a frame lies
  std::size_t size = 0;

  std::string_view text() const { return {bytes.get(), size}; }
};

/// Compresses the canonical bytes of a state. Fails with `unavailable` if they are more than
/// state_size would accept.
Result<std::string> compress_state(std::string_view plain);

/// How many bytes `frame` says that it stands for. `corrupt` if it says nothing, or more than the
/// bounds above.
Result<std::uint64_t> state_size(std::string_view frame);

/// Fails as state_size, before memory is allocated; `corrupt` too if the frame is damaged.
Result<PlainState> decompress_state(std::string_view frame);

}  // namespace fairlead
