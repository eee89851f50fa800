#include "snapshots/state_frame.h"

#include <zstd.h>

#include <algorithm>

#include "engine/base/check.h"

namespace fairlead {
namespace {

constexpr int kCompression = 1;

/// Returns the largest decompressed size that a frame of `bytes` may declare.
std::uint64_t state_bytes_max(std::uint64_t bytes) {
  const std::uint64_t many = std::min(bytes, kStateBytesMax) * kStateBytesPerFrameByteMax;
  return std::min(std::max(many, kSmallStateBytes), kStateBytesMax);
}

}  // namespace

// Refuses what state_size() would refuse later: a snapshot that is saved can be read.
Result<std::string> compress_state(std::string_view plain) {
  std::string frame(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compress(frame.data(), frame.size(), plain.data(), plain.size(), kCompression);
  check(!ZSTD_isError(size), "Zstandard could not compress into a large enough buffer");
  frame.resize(size);
  if (const std::uint64_t most = state_bytes_max(size); plain.size() > most)
    return Error{ErrorCode::unavailable, "the state has " + std::to_string(plain.size()) +
                                             " bytes, a snapshot of it takes up to " +
                                             std::to_string(most)};
  return frame;
}

Result<std::uint64_t> state_size(std::string_view frame) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
    return Error{ErrorCode::corrupt, "its state is no Zstandard frame of a known size"};
  if (const std::uint64_t most = state_bytes_max(frame.size()); size > most)
    return Error{ErrorCode::corrupt, "its state of " + std::to_string(frame.size()) +
                                         " bytes decompresses to " + std::to_string(size) +
                                         ", more than the " + std::to_string(most) +
                                         " that a log of this size can hold"};
  return std::uint64_t{size};
}

Result<PlainState> decompress_state(std::string_view frame) {
  const auto size = state_size(frame);
  if (!size) return size.error();
  PlainState plain{std::make_unique_for_overwrite<char[]>(*size), *size};
  const std::size_t read =
      ZSTD_decompress(plain.bytes.get(), plain.size, frame.data(), frame.size());
  if (ZSTD_isError(read) || read != plain.size)
    return Error{ErrorCode::corrupt, "its state cannot be decompressed"};
  return plain;
}

}  // namespace fairlead
