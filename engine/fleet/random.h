// Pseudo-random numbers that are the same for the same seed, with every standard library.
#pragma once

#include <cstdint>

namespace fairlead {

/// splitmix64: the standard library's distributions differ from one library to the next.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// Returns a number from 0 to `end` - 1; `end` is at least 1.
  std::int64_t below(std::int64_t end) {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    mixed ^= mixed >> 31;
    return static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(end));
  }

 private:
  std::uint64_t state_;
};

}  // namespace fairlead
