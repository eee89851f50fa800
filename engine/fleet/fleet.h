// A living fleet: plays a script on API models, as clusters, controllers and people would do it.
//
// It writes to the models and reads from them like any other client; the hub learns of nothing in
// any other way. People may change the same objects with kubectl: a fleet changes only what it
// means to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead {

/// Told of everything that happens, when it does: who, and what.
using Tell = std::function<void(std::string_view who, const std::string& what)>;

/// Owned by one thread. The servers that it plays on outlive it.
class Fleet {
 public:
  Fleet() = default;
  virtual ~Fleet() = default;
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// Creates what is there from the start.
  virtual Result<void> begin() = 0;
  /// Plays what is due at `now`, one happening at a time: call it again soon. What cannot be done
  /// (somebody deleted the object) is told and left out.
  virtual void advance(LogTime now) = 0;
  /// Writes to the API so far, the hub's not counted.
  virtual std::uint64_t writes() const = 0;
};

}  // namespace fairlead
