// One thread that does all network I/O of the connector.
//
// HTTP clients, reflectors and discovery live on it and are touched nowhere else, so none of them
// needs a lock. Asio stays behind this facade: io_types.h is for the files that implement it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/base/time.h"

namespace fairlead {

/// Owns the thread. Everything posted runs on it, in order.
class IoLoop {
 public:
  IoLoop();
  /// stop(), if that was not called.
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  /// Runs `work` on the loop's thread soon. From any thread. Dropped after stop().
  void post(std::function<void()> work);
  /// Runs `work` on the loop's thread and waits for it. Never from that thread. Nothing happens
  /// after stop().
  void run(std::function<void()> work);
  /// Runs `work` once after `span`. Destroy (or reset) the handle on the loop's thread to call it
  /// off.
  class Timer {
   public:
    virtual ~Timer() = default;
  };
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work);
  /// Monotonic time of this machine; not a wall clock.
  LogTime now() const;
  /// True on the loop's thread.
  bool inside() const;
  /// Ends the thread, after what is posted and what was cancelled has ended; what has not ended
  /// within half a second is dropped. From any other thread; may be called again.
  void stop();

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
