// Randomness for jitter, and for nothing that is recorded.
#pragma once

#include <cstdint>
#include <random>

namespace fairlead {

/// 64 bits of a source that the thread's connections share: one has 2.5 KiB.
inline std::uint64_t random_bits() {
  thread_local std::mt19937_64 source{std::random_device{}()};
  return source();
}

}  // namespace fairlead
