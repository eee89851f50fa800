// The manifests of a member's quota works: its ClusterQueues, and the ResourceFlavors and
// Topologies that these name.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/members/manifest_work.h"
#include "engine/plan/members/work_proposal.h"

namespace fairlead {

/// Whether the agent takes fields over from another manager.
enum class Force : std::uint8_t { no, yes };

/// Returns one of spec.manifestConfigs: the agent applies the object by server-side apply.
Json applied_by_server_side_apply(Kind kind, const std::string& namespace_, const std::string& name,
                                  Force force);

/// Returns the Topology of the flavor, without which the member's Kueue has its queues inactive;
/// nullopt if it has none or the hub does not have that (the member may have its own).
std::optional<std::string> topology_of(const State& state, const std::string& flavor);

/// The quotas that one member should have.
class MemberQuotas {
 public:
  MemberQuotas(const State& state, const std::string& cluster, HubQuotas& quotas);

  /// Returns the desired groups of a queue at the member. A pair gets the grant, or what the hub
  /// still promises if that is more: a shrink reaches the hub first. A group whose flavors no claim
  /// names has the hub's own values.
  std::vector<ResourceGroup> groups(const std::string& queue) const;

 private:
  struct Wish {
    std::map<QuotaKey, Amount> amounts;  // of owned pairs
    std::map<QuotaKey, GrantReason> withheld;
    std::set<std::string> unclaimed;  // flavors
    bool leaves = false;  // the claim names the queue no more, and the hub promises nothing of it
  };

  Amount granted(const std::string& queue, const QuotaKey& pair) const;
  bool names(const std::string& queue, const QuotaKey& pair) const;
  // `resource` is as the queue spells it. Null if no work has the pair.
  const WorkQuota* in_works(const std::string& queue, const std::string& flavor,
                            const std::string& resource) const;
  bool is_unclaimed(const std::string& queue, const ResourceGroup& group) const;
  Quantity nominal_of(const std::string& queue, const FlavorQuotas& flavor,
                      const ResourceQuota& quota, const Wish& wish) const;

  const State& state_;
  const std::string& name_;
  const Cluster& cluster_;
  HubQuotas& quotas_;
  std::map<MemberPair, Amount> assigned_;  // what the claim names -> its grant
  std::set<std::string> queues_;           // that the claim names
};

/// By the name of the work. No content: the work is to be removed.
using QuotaContents = std::map<std::string, std::optional<WorkContent>>;

/// Returns the desired quota works of the cluster, with `queues` of it.
QuotaContents quota_contents(const State& state, const std::string& cluster,
                             const std::set<std::string>& queues, HubQuotas& quotas);

}  // namespace fairlead
