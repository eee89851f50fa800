// A pool of one cluster as the search for devices walks through it.
//
// Everything here is derived from facts that their owner keeps alive: a slice's facts may change in
// place, as long as ClusterDeviceIndex gets them before its next question.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/devices/device_use.h"
#include "engine/devices/pools.h"
#include "engine/devices/selector_lists.h"

namespace fairlead {

struct IndexedPool;
struct DeviceNode;

/// A slice of any generation.
struct PublishedSlice {
  const std::string* key = nullptr;  ///< its name, where the index keeps it
  const ResourceSliceFacts* facts = nullptr;
  IndexedPool* pool = nullptr;
  std::vector<DeviceNode*> reached;  ///< the nodes that it, or a device of it, names or selects
  bool everywhere = false;           ///< it, or a device of it, reaches all nodes
  bool selects = false;              ///< it has a node selector, of its own or of a device
  bool counts = false;               ///< is of the highest generation
  std::uint32_t first = 0;           ///< where its devices begin in the pool's, if it counts
  /// Verdicts about its devices, as 1 + SelectorVerdict, 0 where a selector was not asked: [text *
  /// devices + device].
  std::vector<std::uint8_t> verdicts;

  const std::string& name() const { return *key; }
};

/// All uses of one device name, published or not.
struct DeviceUses {
  std::vector<const DeviceUse*> used;
  std::vector<const DeviceUse*> reserved;
  std::uint32_t whole = 0;  ///< how many of both take the whole device
  Capacities consumed;      ///< the sum of the shares in both

  /// Whether shares of it are used or reserved.
  bool has_shares() const { return used.size() + reserved.size() > whole; }
  bool empty() const { return used.empty() && reserved.empty(); }
  /// Derives `whole` and `consumed` again.
  void sum_up();
};

/// One published device. Its facts are in its slice, by index.
struct Device {
  PublishedSlice* slice = nullptr;
  const DeviceUses* uses = nullptr;  ///< null if it is neither used nor reserved
  std::uint32_t pick = 0;            ///< 1 + the last pick of it in the search that is running
  std::uint16_t index = 0;           ///< in its slice
  bool shared : 1 = false;           ///< allowMultipleAllocations
  bool binds : 1 = false;            ///< has bindingConditions
  bool counted : 1 = false;          ///< consumes counters
  bool tainted : 1 = false;          ///< by its slice or by a rule

  const DeviceFacts& facts() const { return slice->facts->devices[index]; }
  bool used_whole() const { return uses && uses->whole > 0; }
  bool has_shares() const { return uses && uses->has_shares(); }
};

/// What is left of the counters of a pool.
class PoolCounters {
 public:
  /// Adds the sets of a slice.
  void add(const ResourceSliceFacts& slice);
  /// Whether every counter that the device consumes is left.
  bool fit(const DeviceFacts& device) const;
  void charge(const std::vector<CounterSet>& consumes);
  void give_back(const std::vector<CounterSet>& consumes);
  /// Returns what is left of a counter; null if the pool lacks it.
  const Int128* left(std::string_view set, std::string_view counter) const;

 private:
  Int128* find(std::string_view set, std::string_view counter);

  std::map<std::string_view, std::map<std::string_view, Int128>> left_;
};

/// Which devices of a pool a tally counts.
enum class TallyOf : std::uint8_t { all, not_used_whole };

/// The verdicts of a list of selectors about the devices of a pool.
struct PoolTally {
  SelectorListId list = 0;
  TallyOf of = TallyOf::all;
  bool has_errors = false;  ///< the list is an error on some device
  std::uint32_t yes = 0;    ///< devices for which the list is true
};

struct IndexedPool {
  using Key = std::pair<std::string, std::string>;
  const Key* key = nullptr;             ///< (driver, pool), where the index keeps it
  std::vector<PublishedSlice*> slices;  ///< by name, of all generations
  std::map<std::string, DeviceUses, std::less<>> uses;  ///< by device, published or not
  /// Uses whose cost is unknown: while there are any, no device with counters can be taken.
  std::uint32_t unknown_costs = 0;

  // Derived from the slices that count.
  PoolStatus status = PoolStatus::complete;
  bool has_counters = false;           ///< a slice that counts has counter sets
  bool is_wide = false;                ///< it reaches more than one node
  bool stale = true;                   ///< the slices have changed since...
  bool queued = false;                 ///< ...and the index knows it
  std::vector<Device> devices;         ///< slices by name, devices as listed
  std::vector<std::uint32_t> by_name;  ///< of `devices`, by the device's name, if they are many

  // Derived from the uses, when they are asked for.
  std::unique_ptr<PoolCounters> counters;
  std::vector<PoolTally> tallies;

  std::uint32_t number = 0;   ///< of this pool in its cluster; numbers of gone pools are used again
  std::uint64_t version = 0;  ///< rises whenever a search takes a device or gives it back

  const std::string& driver() const { return key->first; }
  const std::string& name() const { return key->second; }
  bool complete() const { return status == PoolStatus::complete; }
  /// Returns null if no device of that name is published.
  Device* find(std::string_view device);
  /// Derives what the slices say again, and links the uses.
  void rebuild(const std::vector<const DeviceTaintRuleFacts*>& rules);
  /// Links a device with its uses again, after those have changed.
  void link_uses(const std::string& device);
  /// Returns what is left of the counters beside all that is used and reserved.
  PoolCounters& counters_left();

 private:
  void sort_names();
};

}  // namespace fairlead
