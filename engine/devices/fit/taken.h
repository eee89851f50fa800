// What a search has taken so far, beside all that is used and reserved.
//
// Devices are taken and given back in the order of a stack. A device knows its last pick, and each
// pick the one before it, so that no lookup is needed to see what holds a device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/devices/fit/plan.h"

namespace fairlead::fitting {

/// The position of a device in the order of the search on a node: the number of its place, and
/// its index in its pool.
struct Position {
  std::uint32_t place = 0;
  std::uint32_t index = 0;
};

/// See Taken::state().
__extension__ using TakenState = unsigned __int128;

struct Pick {
  IndexedPool* pool = nullptr;
  Device* device = nullptr;
  const Ask* ask = nullptr;
  Position at;
  std::uint32_t pod = 0;
  std::uint32_t claim = 0;   ///< of its pod
  std::uint32_t before = 0;  ///< 1 + the pick of this device before it, 0 if there is none
  bool admin = false;
  bool charged = false;    ///< the pool's counters are charged with the device for this pick
  bool suspended = false;  ///< they were, until the pod was left
  /// For a shared device, by its capacities: what this pick takes, and what this pick and all
  /// earlier ones that outlast their pod take together.
  std::vector<Int128> consumed;
  std::vector<Int128> lasting;
  mutable TakenState fingerprint = 0;  ///< 0: not asked for yet
};

/// Returns the value of an attribute by its full name: as the device writes it, or without the
/// driver's domain.
std::optional<std::string_view> attribute_of(const Device& device, std::string_view name);

/// Whose shares count.
enum class Shares : std::uint8_t { of_all, of_earlier_pods };

class Taken {
 public:
  explicit Taken(ClusterDeviceIndex& devices) : devices_(devices) {}
  ~Taken();
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  const std::vector<Pick>& picks() const { return picks_; }

  /// Begins the next pod. What earlier pods took with adminAccess does not count for it.
  void enter_pod();
  /// Goes back to the pod before, whose picks are the last ones.
  void return_to_pod();

  /// Whether the device is used, reserved or taken in a way that keeps the request out.
  bool is_out(const Device& device, const Ask& ask, std::uint32_t claim) const;
  /// Whether its capacities are large enough for the request beside the shares that count.
  bool capacities_fit(const Device& device, const Ask& ask, Shares shares) const;
  bool counters_fit(IndexedPool& pool, const Device& device);
  bool taints_tolerated(const Device& device, const Ask& ask) const;
  /// Whether the device may join what the pod took for the claim.
  bool constraints_hold(const Device& device, const Ask& ask, const ClaimPlan& plan,
                        std::uint32_t claim) const;

  void take(IndexedPool& pool, Device& device, const Ask& ask, std::uint32_t claim, Position at);
  void give_back();

  /// Returns how much of an extended resource the device plugin of a node has left.
  Int128 plugin_left(const DeviceNode& node, const std::string& resource) const;
  void take_of_plugin(const DeviceNode& node, const std::string& resource, Amount amount);
  /// Gives the amounts back that were taken last, until `left` are taken.
  void give_back_of_plugins(std::size_t left);
  std::size_t plugin_picks() const { return plugin_picks_.size(); }
  /// Returns a number that rises whenever an amount of the node is taken or given back.
  std::uint64_t plugin_version(const DeviceNode& node) const;

  /// Returns a fingerprint of what outlasts the pods so far, whichever pod took it and in which
  /// order: equal for equal states, different for different ones except by a chance of 2^-128.
  TakenState state() const;

  /// Whether a pick that outlasts its pod holds the device, which is not a shared one.
  bool is_taken_for_good(const Device& device) const;
  /// Returns how many more requests like this one the shared device can serve.
  std::int64_t shares_left(const Device& device, const Ask& ask) const;

 private:
  const Pick* last(const Device& device) const {
    return device.pick == 0 ? nullptr : &picks_[device.pick - 1];
  }
  const Pick* before(const Pick& pick) const {
    return pick.before == 0 ? nullptr : &picks_[pick.before - 1];
  }
  /// Whether the pick means anything to the pod that takes now.
  bool counts(const Pick& pick) const { return !pick.admin || pick.pod == pod_; }
  Int128 shares(const Device& device, std::size_t capacity, Shares of) const;
  bool is_charged(const Device& device) const;

  struct PluginPick {
    const DeviceNode* node = nullptr;
    const std::string* resource = nullptr;  // of the plan
    Amount amount = 0;
  };
  struct OfPlugins {
    std::map<std::string_view, Int128> taken;  // by resource
    std::uint64_t version = 0;
  };

  ClusterDeviceIndex& devices_;
  std::vector<Pick> picks_;
  std::vector<PluginPick> plugin_picks_;
  std::map<std::uint32_t, OfPlugins> of_plugins_;  // by DeviceNode::number
  std::uint32_t pod_ = 0;
};

}  // namespace fairlead::fitting
