// How large a state may be that a snapshot holds.
#include "snapshots/state_frame.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

// The head of a Zstandard frame that declares `plain` bytes, `size` bytes long.
std::string frame_that_says(std::uint64_t plain, std::size_t size) {
  std::string frame("\x28\xb5\x2f\xfd\xe0", 5);
  for (unsigned i = 0; i < 8; ++i) frame += static_cast<char>(plain >> 8 * i & 0xFF);
  frame.resize(size, '\0');
  return frame;
}

TEST_CASE("a state is decompressed to what was compressed") {
  const std::string plain(100'000, 'x');
  const auto frame = compress_state(plain);
  REQUIRE(frame.has_value());
  CHECK(*state_size(*frame) == plain.size());
  CHECK(decompress_state(*frame)->text() == plain);
  CHECK(decompress_state(*compress_state(""))->text().empty());
  CHECK(decompress_state(frame->substr(0, frame->size() - 1)).error().code == ErrorCode::corrupt);
  CHECK(decompress_state("no frame").error().code == ErrorCode::corrupt);
}

TEST_CASE("what comes in pieces is compressed as a whole, and its frame declares its size") {
  const auto compressed = [](std::size_t pieces, std::size_t size) {
    StateCompressor compressor;
    std::string plain;
    for (std::size_t i = 0; i < pieces; ++i) {
      std::string piece(size, static_cast<char>('a' + i % 26));
      piece += std::to_string(i * 7919);
      plain += piece;
      compressor.add(piece);
    }
    return std::pair(plain, *compressor.finish());
  };
  for (const auto& [pieces, size] : {std::pair<std::size_t, std::size_t>{0, 0},
                                     {3, 10},
                                     {100, 65'536},
                                     {1, 3 << 20},
                                     {5000, 500}}) {
    const auto [plain, frame] = compressed(pieces, size);
    INFO(pieces << " pieces of " << size);
    CHECK(*state_size(frame) == plain.size());
    CHECK(decompress_state(frame)->text() == plain);
    CHECK(decompress_state(frame.substr(0, frame.size() - 1)).has_error());
  }
  CHECK(compressed(3, 10).second == *compress_state(compressed(3, 10).first));
}

TEST_CASE("a frame expands to no more than its size allows") {
  CHECK(state_size(frame_that_says(kSmallStateBytes, 20)).has_value());
  CHECK(state_size(frame_that_says(kSmallStateBytes + 1, 20)).error().code == ErrorCode::corrupt);
  constexpr std::size_t kFrame = std::size_t{1} << 20;
  CHECK(state_size(frame_that_says(kFrame * kStateBytesPerFrameByteMax, kFrame)).has_value());
  CHECK(state_size(frame_that_says(kFrame * kStateBytesPerFrameByteMax + 1, kFrame)).has_error());
  constexpr std::size_t kLarge = std::size_t{9} << 20;
  CHECK(state_size(frame_that_says(kStateBytesMax, kLarge)).has_value());
  CHECK(state_size(frame_that_says(kStateBytesMax + 1, kLarge)).has_error());
}

TEST_CASE("a state that could not be read again is not compressed") {
  const std::string plain(kSmallStateBytes + 1, 'x');
  CHECK(compress_state(plain).error().code == ErrorCode::unavailable);
  StateCompressor compressor;
  compressor.add(plain);
  CHECK(compressor.finish().error().code == ErrorCode::unavailable);
}

}  // namespace
}  // namespace fairlead
