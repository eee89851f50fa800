// Folds the devices of a cluster into its capacity. Internal to the fold.
//
// Events of one moment mark pools; count_devices, when the moment closes, counts those pools again
// and moves the sums of Cluster::capacity by the difference. From there a device is capacity like
// any other. A pool that was complete and is being updated keeps counting by its last complete
// slices for dra.poolHold.
#pragma once

#include <string>
#include <string_view>

#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Notes that a slice changes, appears or goes (`known` or `observed` is null) at `seq`. Called
/// before the change.
void note_slice(Cluster& cluster, const std::string& name, const SliceRecord* known,
                const ResourceSliceFacts* observed, Seq seq);
/// Adds a slice of the cluster to the index; called after it was stored.
void note_stored_slice(Cluster& cluster, const std::string& name);
/// Notes that a class changed at `seq`.
void note_class(Cluster& cluster, Seq seq);
/// Notes that a rule changes. Called before the change with null for what is absent.
void note_rule(Cluster& cluster, const DeviceTaintRuleFacts* known,
               const DeviceTaintRuleFacts* observed, Seq seq);
/// Notes that a claim changes. Called before the change with null for what is absent.
void note_claim(Cluster& cluster, const ResourceClaimFacts* known,
                const ResourceClaimFacts* observed, Seq seq);
/// Notes that a node of the source in force changed, appeared, went, or flaps no more.
void note_node(Cluster& cluster, const std::string& node, Seq seq);
/// Notes that everything must be counted again, and adds the present sums of devices to the nodes'
/// sums, which were counted from zero.
void recount_devices(Cluster& cluster, Seq seq);

/// Counts the pools again that the moment marked, or whose hold is over. Sets
/// DeviceCapacityPart::devices_known_changed if condition DevicesKnown may have changed.
void count_devices(CountReader state, Cluster& cluster);
/// Returns when the first hold of a pool ends; kForever if none does.
LogTime next_device_deadline(const Cluster& cluster);

/// What condition DevicesKnown says of a cluster.
struct DevicesKnown {
  bool all = false;         ///< nothing is left out; the condition is True
  std::string_view reason;  ///< a literal
  std::string message;
};
/// Returns nullopt where no slice was ever published, or devices do not count.
std::optional<DevicesKnown> devices_known(const Configuration& configuration,
                                          const Cluster& cluster);

}  // namespace fairlead
