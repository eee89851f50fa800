// A value over log time: the steps at which it moved.
//
// A series is bounded. One that has as many steps as its owner allows is reduced to about half of
// them, in such a way that a chart of the whole looks the same: of each stretch of time the first,
// the least, the greatest and the last step stay, so a dip of one second never disappears.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/base/time.h"
#include "engine/base/types.h"

namespace fairlead {

/// Who set a value. `none` if the value is derived and not written.
enum class StepWriter : std::uint8_t { none, fairlead, foreign };

/// From `time` on the value is `value`, until the next step.
struct Step {
  LogTime time;
  Seq seq;           ///< the last event of the moment
  Int128 value = 0;  ///< in Amount units of its resource; kNoValue: there is none
  StepWriter writer = StepWriter::none;

  friend bool operator==(const Step&, const Step&) = default;
};
/// There is no value: the pair does not exist, or nothing is known of it.
inline constexpr Int128 kNoValue = Int128{1} << 126;

/// More steps of one series are never kept.
inline constexpr std::size_t kStepsMax = 16'384;

/// Returns the steps from `from` to `to`, ascending, and before them the one that is in force at
/// `from`. More than `points` steps are reduced to at most that many, or to five where that is
/// more. `steps` ascend.
std::vector<Step> steps_between(std::span<const Step> steps, LogTime from, LogTime to,
                                std::size_t points);

class StepSeries {
 public:
  /// Adds a step; its time is not before the last step's. A step of the same time replaces the last
  /// one, a step without a new value is dropped. At `most` steps the series is reduced.
  void push(const Step& step, std::size_t most = kStepsMax);
  /// Reduces a series of `most` steps or more.
  void reduce(std::size_t most);

  std::span<const Step> steps() const { return contents_.steps; }
  /// Whether steps were left out: between two steps others may have been.
  bool reduced() const { return contents_.reduced; }

  struct Contents {
    std::vector<Step> steps;
    bool reduced = false;
  };
  const Contents& contents() const { return contents_; }
  void adopt(Contents contents) { contents_ = std::move(contents); }

 private:
  Contents contents_;
};

}  // namespace fairlead
