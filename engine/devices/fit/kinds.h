// Which devices a gang cannot tell apart.
//
// Two devices are of one kind if swapping them changes nothing that a request or a constraint of
// the gang looks at. Where the search has failed with one of them as a request's next device, it
// would fail with a later one of the same kind, too. A request goes on with later devices only, so
// swapping the two turns every solution with the later device into one with the earlier device, and
// those have been ruled out. Requests for all devices are an exception where there are constraints:
// which device breaks a constraint first can end the search on the node.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/taken.h"

namespace fairlead::fitting {

class Kinds {
 public:
  Kinds(ClusterDeviceIndex& devices, const Taken& taken, const GangPlan& gang);

  /// Returns the kind of a device of a pool, by number; nullopt if it is like no other: it is
  /// shared, in use, taken, or says itself which nodes it reaches.
  std::optional<std::uint32_t> of(const Device& device);

 private:
  std::string looks(const Device& device);

  ClusterDeviceIndex& devices_;
  const Taken& taken_;
  bool usable_ = true;
  std::vector<const Ask*> asks_;         // all of the gang, each once
  std::vector<std::string> attributes_;  // that constraints compare
  std::map<std::string, std::uint32_t> numbers_;
  std::unordered_map<const Device*, std::uint32_t> known_;  // looked up, never walked
};

}  // namespace fairlead::fitting
