// What of a cluster's devices can be derived again and is kept so that it is not: where pools have
// their slices and nodes, and which resources devices count for.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/devices/cel.h"
#include "engine/devices/device_use.h"
#include "engine/devices/pools.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/devices/device_state.h"
#include "schema/kinds/devices.h"

namespace fairlead {

struct ReachTally;

/// A pool of one cluster: drivers choose the names of their pools.
struct DevicePoolKey {
  std::string driver;
  std::string pool;

  friend auto operator<=>(const DevicePoolKey&, const DevicePoolKey&) = default;
};

/// A class that gives a resource its name, compiled.
struct NamingClass {
  std::string name;
  std::vector<CelSelector> selectors;
};
/// A counter or a capacity that a resource is counted by, instead of by devices.
struct NamingSource {
  enum class Kind : std::uint8_t { counter, capacity };
  Kind kind{};
  std::string name;
  std::string driver;
  CelSelector selector;
};
/// A resource that devices count for.
struct DeviceResource {
  std::string resource;               ///< canonical
  std::vector<NamingClass> classes;   ///< by name
  std::vector<NamingSource> sources;  ///< empty: each device is one
  /// In the order of dra.deviceClassMappings; those that only classes name behind them, by name.
  std::size_t order = 0;
};

/// How a node counts for devices that reach it.
struct NodeClass {
  std::vector<NodeFlavor> flavors;  ///< by candidate set
  bool growing = false;             ///< it does not flap
  std::set<std::string> own;        ///< device resources that the node itself offers

  friend auto operator<=>(const NodeClass&, const NodeClass&) = default;
};
/// The eligible nodes that a reach over several nodes includes.
struct ReachTally {
  NodeReach reach;
  std::map<NodeClass, std::int64_t> nodes;  ///< how many of each class, none 0
  std::set<DevicePoolKey> pools;            ///< that have such devices
};
/// A node as the tallies have counted it.
struct TalliedNode {
  NodeClass as;
  std::vector<ReachTally*> in;
};

/// The derived part of a pool: its slices, and the nodes and reaches that its count depends on.
struct DevicePoolIndex {
  std::vector<const std::pair<const std::string, SliceRecord>*> slices;  ///< by name
  std::vector<const std::string*> nodes;  ///< by nodeName: keys of DeviceIndex::pools_of_node
  std::vector<ReachTally*> tallies;
};

/// Valid once `derived`, and so are the DevicePoolIndexes of the cluster's pools.
struct DeviceIndex {
  bool derived = false;
  /// By nodeName: keys of DeviceCapacityPart::pools.
  std::map<std::string, std::vector<const DevicePoolKey*>, std::less<>> pools_of_node;
  std::map<std::string, ReachTally> tallies;                  ///< by the reach as text
  std::map<std::string, TalliedNode> tallied;                 ///< empty while there are no tallies
  std::map<std::string, CelSelector, std::less<>> selectors;  ///< compiled, by text
  std::map<DeviceId, std::int64_t> used;           ///< how many allocations name a device
  std::vector<const DeviceTaintRuleFacts*> rules;  ///< by name
  bool named = false;                     ///< `resources` follow the classes and the configuration
  std::vector<DeviceResource> resources;  ///< by resource
};

}  // namespace fairlead
