// One thread that does all network I/O of the connector.
//
// HTTP clients, reflectors and discovery are used on this thread only, so none of them needs a
// lock. Asio stays behind this facade: io_types.h is for the files that implement it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "connectors/kube/transport/transport.h"
#include "engine/base/time.h"

namespace fairlead {

/// Owns the thread. Posted work runs on it, in order.
class IoLoop {
 public:
  IoLoop();
  /// Calls stop() if the caller did not.
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  /// Runs `work` on the loop's thread soon. From any thread. After stop() the work is dropped.
  void post(std::function<void()> work);
  /// Runs `work` on the loop's thread and waits for it. Must not be called on that thread. Does
  /// nothing after stop().
  void run(std::function<void()> work);
  using Timer = Transport::Timer;
  /// Runs `work` once after `span`. Destroy (or reset) the handle on the loop's thread to cancel
  /// it.
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work);
  /// Returns the monotonic time of this machine; not a wall clock.
  LogTime now() const;
  /// Returns how long the thread has waited for something to do. A deadline of a peer is measured
  /// by it: what came while the thread was busy lies in our own queue. On the loop's thread.
  Duration idle() const;
  /// Notes the end of such a wait before what may take long. Posted work and timers do it.
  void woke() const;
  /// Whether the caller is on the loop's thread.
  bool inside() const;
  /// Ends the thread after posted work and cancelled operations have ended; what has not ended
  /// within half a second is dropped. From any other thread; may be called again.
  void stop();

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
