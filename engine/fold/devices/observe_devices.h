// Folds objects of resource.k8s.io that a member reports. Internal to the fold.
#pragma once

#include <string>

#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Each folds one object of the member `cluster`; `facts` is null if it is gone.
void observe_slice(DeviceRoom state, const std::string& cluster, const std::string& name,
                   const ResourceSliceFacts* facts, Seq seq);
void observe_device_class(DeviceRoom state, const std::string& cluster, const std::string& name,
                          const DeviceClassFacts* facts, Seq seq);
void observe_taint_rule(DeviceRoom state, const std::string& cluster, const std::string& name,
                        const DeviceTaintRuleFacts* facts, Seq seq);
void observe_resource_claim(DeviceRoom state, const std::string& cluster, const NamespacedName& id,
                            const ResourceClaimFacts* facts, Seq seq);
void observe_claim_template(DeviceRoom state, const std::string& cluster, const NamespacedName& id,
                            const ResourceClaimTemplateFacts* facts, Seq seq);
/// Folds the metadata of a Pod of the member; nullopt if it is gone. Only Pods of Workloads and
/// of tenants are kept.
void observe_member_pod(DeviceRoom state, const std::string& cluster, const NamespacedName& id,
                        const Seen<PodFacts>& seen, Seq seq);

}  // namespace fairlead
