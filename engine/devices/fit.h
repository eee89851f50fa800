// Whether a pod, or a gang of pods, fits: the search for devices in one cluster.
//
// The search follows the rules of the scheduler's allocator in Kubernetes 1.36 with its default
// features, so that "fits" means "will be allocated there". CPU and memory are not looked at. The
// search is depth-first, in an order that facts alone decide, and its first full solution is the
// answer: equal facts reserve equal devices, on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/devices/cluster_devices.h"
#include "engine/devices/device_use.h"
#include "schema/kinds/devices.h"

namespace fairlead {

/// Why a gang has no place in a cluster. An answer has the first that applies.
enum class FitReason : std::uint8_t {
  template_not_found,
  claim_not_found,
  class_not_found,
  unsupported,    ///< it asks for what is not understood here
  budget,         ///< the steps ran out
  pool_updating,  ///< it asks for All, and a pool is not complete
  selector_error,
  no_devices,    ///< no node can meet one of the requests, even by itself
  no_node,       ///< no node meets the requests together
  gang_too_big,  ///< every pod fits alone
};
/// Returns the reason as conditions spell it: "NoDevices".
std::string_view text_of(FitReason reason);

/// A reason, and what it is about: see docs of the condition DevicesReserved.
struct FitRefusal {
  FitReason reason = FitReason::no_node;
  std::string detail;

  friend bool operator==(const FitRefusal&, const FitRefusal&) = default;
};

/// Pods that are all alike.
struct PodSetToFit {
  std::string name;
  std::int64_t count = 1;
  const PodDeviceFacts* pod = nullptr;
};

/// A claim that pods name.
struct NamedClaim {
  const ResourceClaimFacts* facts = nullptr;
  /// What is reserved for it already, if it is not allocated: its pods must reach all of these.
  const std::vector<DeviceId>* reserved = nullptr;
};

/// One question to one cluster.
struct FitQuestion {
  std::vector<PodSetToFit> pod_sets;
  /// Return the template or claim of a name in the consumer's namespace in the cluster.
  std::function<const ResourceClaimTemplateFacts*(const std::string& name)> template_of;
  std::function<std::optional<NamedClaim>(const std::string& name)> claim_of;
  /// Returns the tolerations of a node's flavor, null for none: they count beside the pod's.
  std::function<const std::vector<Toleration>*(const std::string& node)> flavor_tolerations;
  /// The extended resources that some class in these clusters maps to devices. Beside them only
  /// deviceclass.resource.kubernetes.io/<class> requests devices.
  std::set<std::string> extended;
  /// The most devices that are tried. The searches for a reason may try as many again.
  std::int64_t steps_max = 100'000;
};

/// One device of a solution.
struct FitDevice {
  std::string request;  ///< `request` or `request/alternative`
  DeviceId device;
  bool admin = false;  ///< with adminAccess: the device is not charged for it
  bool share = false;
  Capacities consumed;  ///< of a share

  friend bool operator==(const FitDevice&, const FitDevice&) = default;
};
/// One claim entry of a pod, solved together with that pod.
struct FitClaim {
  std::string entry;
  std::vector<FitDevice> devices;  ///< in the order in which they were taken
  /// For an extended resource that the node's device plugin serves: how much of the node's
  /// allocatable it takes, instead of devices. Else 0.
  Amount of_plugin = 0;

  friend bool operator==(const FitClaim&, const FitClaim&) = default;
};
struct FitPod {
  std::uint32_t pod_set = 0;
  std::string node;
  std::vector<FitClaim> claims;  ///< as the pod lists them, without named ones of earlier pods

  friend bool operator==(const FitPod&, const FitPod&) = default;
};

struct FitAnswer {
  std::optional<FitRefusal> refusal;  ///< none: the gang fits
  std::vector<FitPod> pods;       ///< of all pod sets, in order, without pods that have no claims
  std::int64_t alternatives = 0;  ///< the sum of the indexes of the chosen alternatives
  std::int64_t steps = 0;         ///< devices tried, without those for the reason
};

/// Searches for the first solution of all pods together.
FitAnswer fit(ClusterDeviceIndex& devices, const FitQuestion& question);

/// Whether what is left of a former solution could be taken again as it is: every node may be used
/// and every device taken, in its order. The index must not hold what the solution itself reserves.
bool still_fits(ClusterDeviceIndex& devices, const FitQuestion& question,
                const std::vector<FitPod>& pods);

/// Returns what a solution reserves: all of its devices but those with adminAccess.
std::vector<DeviceUse> reservation_of(const FitAnswer& answer);
/// Returns the amounts of device plugins that a solution reserves.
std::vector<PluginUse> plugin_uses_of(const std::vector<FitPod>& pods);

/// Returns how many devices would be free after `answer`. A device counts if its pool is complete,
/// if the selectors of a class in the question are true for it, and if no part of it is used or
/// reserved.
std::int64_t free_devices_after(ClusterDeviceIndex& devices, const FitQuestion& question,
                                const FitAnswer& answer);

}  // namespace fairlead
