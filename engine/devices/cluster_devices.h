// The devices of one cluster, indexed for the search.
//
// It gets each fact as it comes and goes, and derives what has changed with the next question: a
// changed slice costs work on its own pool, not on the cluster. Facts stay with their owner, at
// addresses that do not change; the index adds some 100 bytes per device. What it answers is a
// function of the facts that it holds, not of the order in which they came. Not thread-safe:
// questions change what it remembers, too.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/devices/indexed_pool.h"
#include "schema/facts.h"

namespace fairlead {

/// Devices that reach a node, one after the other in their pool: [begin, end) of
/// IndexedPool::devices. Empty for an incomplete pool, which is listed all the same.
struct DevicePlace {
  IndexedPool* pool;
  std::uint32_t begin;
  std::uint32_t end;
};

/// A node, known or only named by a slice.
struct DeviceNode {
  const std::string* key = nullptr;     ///< its name, where the index keeps it
  const NodeFacts* facts = nullptr;     ///< null: not known
  Labels labels;                        ///< as node selectors were last compared with them
  std::uint32_t number = 0;             ///< in ClusterDeviceIndex::nodes(), if it is known
  std::vector<PublishedSlice*> slices;  ///< that reach it, without those that reach every node
  std::vector<DevicePlace> places;      ///< in the order of the search; see places_version_
  std::uint64_t places_version = 0;

  const std::string& name() const { return *key; }
};

/// The verdicts of a list of selectors about the devices that reach each node.
struct NodeTallies {
  struct OfNode {
    std::uint32_t yes = 0;    ///< devices of its complete pools for which the list is true
    bool has_errors = false;  ///< the list is an error on some device of these pools
  };
  std::vector<OfNode> nodes;  ///< by DeviceNode::number
  bool has_errors = false;    ///< on one of the nodes
  // When they were counted:
  std::uint64_t version = 0;  ///< of the index...
  std::size_t changes = 0;    ///< ...and how many nodes had changed since
};

/// Large: slices, nodes, classes, taint rules and uses are indexed together, because a change of
/// one makes stale what was derived from the others: mark_stale() and note_change() decide what.
class ClusterDeviceIndex {
 public:
  ClusterDeviceIndex() = default;
  ~ClusterDeviceIndex() = default;
  ClusterDeviceIndex(const ClusterDeviceIndex&) = delete;
  ClusterDeviceIndex& operator=(const ClusterDeviceIndex&) = delete;

  // ---- facts ----

  /// A slice has come, or its facts have changed.
  void set_slice(const std::string& name, const ResourceSliceFacts& facts);
  void erase_slice(const std::string& name);
  void set_class(const std::string& name, const DeviceClassFacts& facts);
  void erase_class(const std::string& name);
  void set_taint_rule(const std::string& name, const DeviceTaintRuleFacts& facts);
  void erase_taint_rule(const std::string& name);
  void set_node(const std::string& name, const NodeFacts& facts);
  void erase_node(const std::string& name);
  /// Replaces the uses of `user`, a claim or a booking. A user that is gone has none.
  void set_uses(const std::string& user, std::vector<DeviceUse> uses);
  /// Replaces what is reserved for `consumer`. A consumer without a reservation has nothing.
  void set_reservation(const std::string& consumer, std::vector<DeviceUse> uses,
                       std::vector<PluginUse> plugin_uses = {});

  // ---- questions ----

  /// The known nodes by name, bytewise.
  const std::vector<DeviceNode*>& nodes();
  /// Returns the devices that reach a node in the order of the search: pools by (driver, pool)
  /// bytewise, but last those in which a device with bindingConditions reaches it; slices by name;
  /// devices as listed.
  const std::vector<DevicePlace>& places(DeviceNode& node);
  /// The pools that have a slice for every node because it has counter sets, and are not complete.
  const std::vector<IndexedPool*>& incomplete_everywhere();
  /// The complete pools that reach more than one node, by (driver, pool).
  const std::vector<IndexedPool*>& wide_pools();
  using Pools = std::map<IndexedPool::Key, IndexedPool>;
  /// All pools by (driver, pool). One without slices is only known from uses.
  Pools& pools();
  /// Every IndexedPool::number is smaller.
  std::size_t pool_numbers() const { return pools_.size() + free_numbers_.size(); }
  /// Returns the device; null if no slice that counts publishes it.
  const Device* find(const DeviceId& device);
  /// Returns the device's facts, for pin_uses.
  const DeviceFacts* published(const DeviceId& device);
  /// Whether the device reaches the node, in whatever state its pool is.
  bool reaches_node(const Device& device, const DeviceNode& node) const;
  /// Returns its taints, sorted.
  std::vector<Taint> taints(const Device& device) const;
  /// Returns how much is reserved of an extended resource that the node's device plugin serves.
  Int128 plugin_reserved(const std::string& node, const std::string& resource) const;
  /// Whether a claim or a booking uses it, whole or in part. A reservation does not count as a use.
  bool is_used(const Device& device) const;

  /// Returns null if there is no such class.
  const DeviceClassFacts* find_class(const std::string& name) const;
  /// Returns the class that gives an extended resource: the newest that names it, and of equally
  /// new ones the first by name. Null if none does. Source: Kubernetes 1.36
  /// pkg/scheduler/framework/plugins/dynamicresources/extended.
  const std::string* class_giving(const std::string& resource) const;

  /// Selectors that have been asked for. Numbers are valid until forget_selectors().
  SelectorLists& selectors() { return lists_; }
  /// Returns the verdict of the first selector in the list that is not true, and sets `failed` to
  /// its place; `yes` if all are true. Remembered until the slice changes.
  SelectorVerdict verdict(const Device& device, SelectorListId list, std::size_t& failed);
  SelectorVerdict verdict(const Device& device, SelectorListId list);
  /// Counts the devices of a pool for which the list is true. Remembered until its slices or uses
  /// change.
  PoolTally tally(IndexedPool& pool, SelectorListId list, TallyOf of);
  /// Counts, for each of nodes(), the devices that reach it and for which the list is true. Valid
  /// until a fact is set or erased, or forget_selectors().
  const NodeTallies& node_tallies(SelectorListId list, TallyOf of);
  /// Drops what is remembered about selectors if they have become too many. Numbers of lists are no
  /// longer valid then.
  void forget_selectors();

 private:
  using Key = IndexedPool::Key;
  struct SliceOrder {
    bool operator()(const PublishedSlice* a, const PublishedSlice* b) const {
      return a->name() < b->name();
    }
  };
  using Slices = std::set<PublishedSlice*, SliceOrder>;
  using Users = std::map<std::string, std::vector<DeviceUse>>;
  using UsesOf = std::vector<const DeviceUse*> DeviceUses::*;

  void refresh();
  void rebuild(IndexedPool& pool);
  void mark_stale(IndexedPool& pool);
  void mark_stale(const DeviceTaintRuleFacts& rule);
  void list(IndexedPool& pool);
  void gather_places(DeviceNode& node);
  NodeTallies::OfNode tally(DeviceNode& node, SelectorListId list, TallyOf of);
  void note_change(const IndexedPool& pool);
  void note_change(const DeviceNode& node);
  void count_anew();

  static bool reaches_the_same(const PublishedSlice& slice, const ResourceSliceFacts& facts);
  void forget(PublishedSlice& slice);
  void attach(PublishedSlice& slice);
  void attach(PublishedSlice& slice, const NodeReach& reach);
  void attach(PublishedSlice& slice, DeviceNode& node);
  void connect(PublishedSlice& slice, DeviceNode& node);
  void detach(PublishedSlice& slice);
  void compare_selectors(DeviceNode& node);
  DeviceNode& node_named(const std::string& name);
  void drop_if_unnamed(DeviceNode& node);

  IndexedPool& pool_of(const std::string& driver, const std::string& pool);
  void replace(Users& users, UsesOf kind, const std::string& user, std::vector<DeviceUse> uses);
  void replace(const std::string& consumer, std::vector<PluginUse> uses);
  SelectorVerdict ask(const Device& device, std::uint32_t text);

  Pools pools_;
  std::vector<IndexedPool*> stale_;
  std::vector<std::uint32_t> free_numbers_;
  std::map<std::string, PublishedSlice> slices_;
  Slices everywhere_;   // that reach every node
  Slices by_selector_;  // with a node selector, of its own or of a device
  std::map<std::string, DeviceNode> nodes_;
  std::vector<DeviceNode*> known_;
  bool known_stale_ = false;
  std::uint64_t places_version_ = 1;  // rises when the places of every node are stale
  std::vector<IndexedPool*> incomplete_everywhere_;
  std::vector<IndexedPool*> wide_pools_;
  std::map<std::string, const DeviceClassFacts*> classes_;
  // Copies: a rule that changes also makes stale what it selected before.
  std::map<std::string, DeviceTaintRuleFacts> rules_;
  std::vector<const DeviceTaintRuleFacts*> rules_in_force_;
  Users users_;
  Users consumers_;
  std::map<std::string, std::vector<PluginUse>> plugin_consumers_;
  // Sums over the consumers, by node and resource.
  std::map<std::pair<std::string, std::string>, Int128> plugin_reserved_;
  SelectorLists lists_;
  std::size_t verdict_bytes_ = 0;  // of all slices together
  std::map<std::pair<SelectorListId, TallyOf>, NodeTallies> node_tallies_;
  std::uint64_t version_ = 1;           // rises when each node must be counted anew
  std::vector<std::uint32_t> changed_;  // nodes whose devices or uses have changed since
};

}  // namespace fairlead
