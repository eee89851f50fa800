// ManifestWorks: what members were sent and what they are known to admit. Internal to the fold.
#pragma once

#include "engine/fold/state.h"

namespace fairlead {

/// Names of the two works of a cluster, in the namespace of the cluster.
inline constexpr std::string_view kQuotaWork = "fairlead-quota";
inline constexpr std::string_view kQueueWork = "fairlead-queues";

void observe_work(State& state, const ObjectObserved& seen, Seq seq);
void forget_work(State& state, const ObjectKey& key);
/// A work is on its way: until it is settled the member admits only what both contents admit.
void expect_work(State& state, const PatchIntended& intent);

}  // namespace fairlead
