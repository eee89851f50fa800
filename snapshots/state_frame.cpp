#include "snapshots/state_frame.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace fairlead {
namespace {

constexpr int kCompression = 1;

/// Returns the largest decompressed size that a frame of `bytes` may declare.
std::uint64_t state_bytes_max(std::uint64_t bytes) {
  const std::uint64_t many = std::min(bytes, kStateBytesMax) * kStateBytesPerFrameByteMax;
  return std::min(std::max(many, kSmallStateBytes), kStateBytesMax);
}

// What is smaller is compressed at once: Zstandard chooses its parameters by the size.
constexpr std::size_t kStreamedStateBytes = std::size_t{1} << 20;

// The head of a frame (RFC 8878, 3.1.1): a magic number of 4 bytes, the descriptor, the size of the
// window and, if the descriptor says so, the size of the content in 8 bytes.
constexpr std::size_t kHeadWithoutSize = 6, kHeadSizeField = 8, kDescriptorAt = 4;
constexpr char kSizeOfEightBytes = '\xC0';  // the upper two bits of the descriptor

// Refuses what state_size() would refuse later: a snapshot that is saved can be read.
Result<std::string> expect_readable(std::string frame, std::uint64_t plain) {
  if (const std::uint64_t most = state_bytes_max(frame.size()); plain > most)
    return Error{ErrorCode::unavailable, "the state has " + std::to_string(plain) +
                                             " bytes, a snapshot of it takes up to " +
                                             std::to_string(most)};
  return frame;
}

}  // namespace

Result<std::string> compress_state(std::string_view plain) {
  std::string frame(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compress(frame.data(), frame.size(), plain.data(), plain.size(), kCompression);
  check(!ZSTD_isError(size), "Zstandard could not compress into a large enough buffer");
  frame.resize(size);
  return expect_readable(std::move(frame), plain.size());
}

// The size of the content is known at the end alone. Zstandard writes a head without it, which is
// then replaced by one that has it.
struct StateCompressor::Stream {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::string buffer = std::string(ZSTD_CStreamOutSize(), '\0');
  std::string frame = std::string(kHeadSizeField, '\0');
  std::uint64_t plain = 0;

  Stream() {
    const auto set = [this](ZSTD_cParameter parameter, int value) {
      return !ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), parameter, value));
    };
    check(context != nullptr && set(ZSTD_c_compressionLevel, kCompression) &&
              set(ZSTD_c_contentSizeFlag, 0),
          "Zstandard could not begin");
  }
  void add(std::string_view piece, ZSTD_EndDirective directive) {
    plain += piece.size();
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    for (std::size_t left = 1; left > 0;) {
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      const std::size_t behind = ZSTD_compressStream2(context.get(), &out, &in, directive);
      check(!ZSTD_isError(behind), "Zstandard could not compress");
      frame.append(buffer.data(), out.pos);
      left = directive == ZSTD_e_end ? behind : in.size - in.pos;
    }
  }
  void complete_head() {
    check(frame.size() > kHeadSizeField + kHeadWithoutSize &&
              frame[kHeadSizeField + kDescriptorAt] == '\0',
          "a head without the size of the content");
    std::copy_n(frame.begin() + kHeadSizeField, kHeadWithoutSize, frame.begin());
    frame[kDescriptorAt] = kSizeOfEightBytes;
    for (std::size_t i = 0; i < kHeadSizeField; ++i)
      frame[kHeadWithoutSize + i] = static_cast<char>(plain >> 8 * i);
  }
};

StateCompressor::StateCompressor() = default;
StateCompressor::~StateCompressor() = default;

void StateCompressor::add(std::string_view piece) {
  if (!stream_ && first_.size() + piece.size() <= kStreamedStateBytes) {
    first_ += piece;
    return;
  }
  if (!stream_) {
    stream_ = std::make_unique<Stream>();
    stream_->add(std::exchange(first_, {}), ZSTD_e_continue);
  }
  stream_->add(piece, ZSTD_e_continue);
}

Result<std::string> StateCompressor::finish() {
  if (!stream_) return compress_state(first_);
  stream_->add({}, ZSTD_e_end);
  stream_->complete_head();
  return expect_readable(std::move(stream_->frame), stream_->plain);
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
