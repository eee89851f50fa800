// A simulated fleet: plays a script on API models, in the place of clusters, controllers and
// people.
//
// It calls the models, which need no server for it, and the hub observes it only through them.
// People may change the same objects with kubectl: a fleet's writes change only their own fields.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead {

/// Called with each entry of the script as it is played: the actor, and what it did.
using FleetLogger = std::function<void(std::string_view who, const std::string& what)>;

/// Owned by one thread. The models outlive it.
class Fleet {
 public:
  Fleet() = default;
  virtual ~Fleet() = default;
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// Creates the objects that exist from the start.
  virtual Result<void> begin() = 0;
  /// Plays what is due at `now`, one entry of the script a call, so call it again soon. One that is
  /// impossible (a user deleted the object) is reported and left out.
  virtual void advance(LogTime now) = 0;
  /// The number of its writes to the API so far, without the hub's.
  virtual std::uint64_t writes() const = 0;
  /// The settings of the hub that its administrator has changed by now, as for `--set`.
  virtual std::vector<std::string> settings() const { return {}; }
};

}  // namespace fairlead
