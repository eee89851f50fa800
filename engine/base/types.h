// The strong integers of the log.
#pragma once

#include <compare>
#include <cstdint>

namespace fairlead {

/// The position of an event in the log: dense, from 1. 0 means "none".
struct Seq {
  std::uint64_t value = 0;
  friend auto operator<=>(Seq, Seq) = default;
};
constexpr Seq next(Seq seq) { return {seq.value + 1}; }

/// The term of a process that writes the log: from 1, grows with every one. 0 means "before any".
struct Epoch {
  std::uint64_t value = 0;
  friend auto operator<=>(Epoch, Epoch) = default;
};

}  // namespace fairlead
