// Views of State for the webhook, from the hub's thread to those that answer.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "engine/admission/admission_mirror.h"

namespace fairlead {

/// The hub's thread notes and publishes; any thread may call current(). A lock is held for the copy
/// of one pointer: libstdc++'s atomic<shared_ptr> takes a spin lock for the same, one that the
/// thread sanitizer does not know.
class AdmissionFeed {
 public:
  /// Until the hub publishes, the view is unsynced and has the terms of `configuration`.
  explicit AdmissionFeed(const Configuration& configuration);

  void note(std::span<const Event> events) { mirror_.note(events); }
  void note(const State& state, const DirtySet& dirty) { mirror_.note(state, dirty); }
  /// Makes the view of `state` and hands it out from now on.
  void publish(const State& state, ViewState synced);

  std::shared_ptr<const AdmissionView> current() const;

 private:
  AdmissionMirror mirror_;
  mutable std::mutex mutex_;  // guards current_
  std::shared_ptr<const AdmissionView> current_;
};

}  // namespace fairlead
