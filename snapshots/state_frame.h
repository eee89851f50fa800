// The compressed state inside a snapshot.
//
// A frame of a few kilobytes can decompress to gigabytes. A snapshot may come from a bundle of
// unknown origin, so the size in its frame is checked before memory is allocated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead {

/// The largest state in bytes that is stored or read. That of a million nodes needs about half.
inline constexpr std::uint64_t kStateBytesMax = std::uint64_t{2} << 30;
/// The size in bytes up to which a frame of any length may decompress.
inline constexpr std::uint64_t kSmallStateBytes = std::uint64_t{64} << 20;
/// The largest ratio of compression beyond kSmallStateBytes. Every object has a name and a UID of
/// its own, so no state that is folded from events comes near it.
inline constexpr std::uint64_t kStateBytesPerFrameByteMax = 256;

/// A decompressed state.
struct PlainState {
  std::unique_ptr<char[]> bytes;  ///< a std::string would zero the memory before it is filled
  std::size_t size = 0;

  std::string_view text() const { return {bytes.get(), size}; }
};

/// Compresses the canonical bytes of a state. Fails with `unavailable` if state_size() would refuse
/// the frame.
Result<std::string> compress_state(std::string_view plain);

/// Compresses canonical bytes that come in pieces: neither they nor a buffer of their size are
/// held.
class StateCompressor {
 public:
  StateCompressor();
  ~StateCompressor();
  StateCompressor(const StateCompressor&) = delete;
  StateCompressor& operator=(const StateCompressor&) = delete;

  void add(std::string_view piece);
  /// Returns the frame. Once, at the end. Fails as compress_state() does.
  Result<std::string> finish();

 private:
  struct Stream;
  std::string first_;               ///< the bytes so far, while they are few
  std::unique_ptr<Stream> stream_;  ///< null until they are many
};

/// Returns the decompressed size that `frame` declares. Fails with `corrupt` if it declares none,
/// or more than the bounds above.
Result<std::uint64_t> state_size(std::string_view frame);

/// Decompresses a state. Fails like state_size(), before memory is allocated, and with `corrupt` if
/// the frame is damaged.
Result<PlainState> decompress_state(std::string_view frame);

}  // namespace fairlead
