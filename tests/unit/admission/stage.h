// A State with a cluster, a claim, a queue and flavors, and requests about them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/admission/admission_mirror.h"
#include "engine/admission/judge.h"

namespace fairlead::admission_test {

inline ClaimAssignment row(const std::string& queue, const std::string& flavor,
                           std::map<std::string, std::string> resources) {
  return {queue, flavor, std::move(resources), {}, {}};
}

inline ClaimFacts claim_facts(std::map<std::string, std::string> nominal,
                              std::vector<ClaimAssignment> rows,
                              const std::string& cluster = "east") {
  ClaimFacts facts;
  facts.spec.cluster_name = cluster;
  facts.spec.nominal_resources = std::move(nominal);
  facts.spec.assignments = std::move(rows);
  return facts;
}

/// A queue with one group of one resource; `quotas` by flavor.
inline ClusterQueueFacts queue_facts(const std::string& resource,
                                     const std::map<std::string, std::string>& quotas) {
  ClusterQueueFacts facts;
  ResourceGroup group{{resource}, {}};
  for (const auto& [flavor, nominal] : quotas)
    group.flavors.push_back({flavor, {{resource, *Quantity::parse(nominal), {}, {}}}});
  facts.groups = {group};
  return facts;
}

inline AdmissionRequest create(Kind kind, const std::string& name, Facts facts) {
  AdmissionRequest request;
  request.uid = "r1";
  request.user = "alice";
  request.operation = AdmissionOperation::create;
  request.key = {kind, "", name};
  request.object = AdmissionObject{std::move(facts), false, {}};
  return request;
}
inline AdmissionRequest update(Kind kind, const std::string& name, Facts before, Facts after) {
  AdmissionRequest request = create(kind, name, std::move(after));
  request.operation = AdmissionOperation::update;
  request.old_object = AdmissionObject{std::move(before), false, {}};
  return request;
}
inline AdmissionRequest remove(Kind kind, const std::string& name, Facts facts) {
  AdmissionRequest request = create(kind, name, std::move(facts));
  request.operation = AdmissionOperation::remove;
  request.old_object = std::exchange(request.object, std::nullopt);
  return request;
}

/// The hub: flavors od and spot, the queue q, and the cluster east, whose claim is k.
struct Stage {
  State state;

  Stage() {
    state.flavors.by_name = {{"od", {}}, {"spot", {}}};
    state.queues.by_name["q"].present = true;
  }
  Cluster& accepts(const std::map<CapacityKey, Amount>& accepted) {
    Cluster& cluster = state.clusters["east"];
    cluster.known = true;
    for (const auto& [key, amount] : accepted) {
      cluster.capacity[key].damped.accepted = amount;
      if (!key.flavor.empty()) cluster.mapped.insert(key);
      cluster.totals_accepted = key.flavor.empty();
    }
    return cluster;
  }
  Claim& claims(const ClaimFacts& facts, const std::string& name = "k") {
    Claim& claim = state.claims.by_name[name];
    claim.facts = facts;
    claim.terms = std::get<ClaimTerms>(understand(facts.spec, default_resource_aliases()));
    claim.winner = true;
    state.claims.of_cluster[facts.spec.cluster_name].insert(name);
    return claim;
  }
  void uses(const std::string& flavor, const std::string& resource, Amount amount) {
    state.queues.by_name["q"].facts.usage.push_back({flavor, resource, amount});
  }
  void sets(AdmissionRule rule, RuleAction action) {
    state.configuration.webhook_rules[rule] = action;
  }
  AdmissionVerdict judged(const AdmissionRequest& request) const {
    return judge(view_of(state), request);
  }
  /// "rule action field: message" of each finding.
  std::vector<std::string> findings(const AdmissionRequest& request) const {
    std::vector<std::string> all;
    for (const Finding& finding : judged(request).findings)
      all.push_back(std::string(info(finding.rule).name) + " " +
                    std::string(text_of(finding.action)) + " " + finding_text(finding));
    return all;
  }
};

using Texts = std::vector<std::string>;

}  // namespace fairlead::admission_test
