// Time that passes only when its owner says so: a day of it takes as long as what happens in it.
//
// Work that is due runs on the owner's thread, in the order of time and, of one moment, in the
// order in which it was asked for. So whatever runs on it alone happens again exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "connectors/kube/transport/transport.h"
#include "engine/base/time.h"

namespace fairlead::model {

/// Not thread-safe. Outlives what was asked of it.
class VirtualTime final : public Clock {
 public:
  explicit VirtualTime(LogTime start) : now_(start) {}
  ~VirtualTime() override;
  VirtualTime(const VirtualTime&) = delete;
  VirtualTime& operator=(const VirtualTime&) = delete;

  LogTime now() override { return now_; }
  /// Runs `work` once after `span`. Destroying the timer cancels it.
  std::unique_ptr<Transport::Timer> after(Duration span, std::function<void()> work);
  /// The same, for what is never cancelled.
  void post(Duration span, std::function<void()> work);

  /// When the next work is due; kForever: there is none.
  LogTime next_due() const { return due_.empty() ? kForever : due_.begin()->first.first; }
  /// Goes on to `then`, which is not in the past, and runs all work that is due by then, also what
  /// that asks for.
  void advance_to(LogTime then);

 private:
  using Place = std::pair<LogTime, std::uint64_t>;
  class Cancel;
  Place enqueue(Duration span, std::function<void()> work);

  LogTime now_;
  std::uint64_t asked_ = 0;
  std::map<Place, std::function<void()>> due_;
};

}  // namespace fairlead::model
