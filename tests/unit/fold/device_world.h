// Members with devices, and Workloads that ask for them: what tests of reservations, bookings and
// candidates have in common.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/dispatch/question.h"
#include "engine/fold/objects.h"
#include "tests/support/edit_workload.h"

namespace fairlead {

/// A State at 1000 s that dispatches by devices. Each node of a member has a pool of its own name,
/// of driver gpu.example.com. The namespace of all that asks is team.
struct DeviceWorld {
  static constexpr const char* kDriver = "gpu.example.com";

  State state;
  Seq last{10};  ///< of the events so far

  DeviceWorld() {
    state.now = LogTime{} + seconds(1000);
    state.configuration.multikueue.dispatcher = true;
    state.configuration.dra.dispatch = true;
    state.configuration.dra.quota = false;
  }

  /// Folds one observation and returns its seq; without facts the object is gone.
  Seq sees(const std::string& source, const ObjectKey& key, std::optional<Facts> facts,
           const std::string& uid = "u") {
    ObjectObserved seen;
    seen.key = key;
    seen.uid = uid;
    if (facts) seen.facts = *std::move(facts);
    last = next(last);
    if (source != kHub) note_member(state, source);
    fold_object(state, source, key, facts ? &seen : nullptr, last);
    return last;
  }
  /// The node of the member is ready and has these devices, of class gpu. The template one asks for
  /// one of them.
  Seq has_devices(const std::string& cluster, const std::string& node,
                  const std::vector<std::string>& names) {
    DeviceClassFacts gpus;
    gpus.selectors.push_back({"device.driver == \"" + std::string(kDriver) + "\""});
    sees(cluster, {Kind::device_class, "", "gpu"}, gpus);
    sees(cluster, {Kind::resource_claim_template, "team", "one"}, one_gpu());
    has_node(cluster, node);
    return publishes(cluster, node, names);
  }
  /// The node is ready.
  Seq has_node(const std::string& cluster, const std::string& node) {
    NodeFacts facts;
    facts.ready = true;
    return sees(cluster, {Kind::node, "", node}, facts);
  }
  /// The devices of the node are these now.
  Seq publishes(const std::string& cluster, const std::string& node,
                const std::vector<std::string>& names) {
    ResourceSliceFacts slice;
    slice.driver = kDriver;
    slice.pool = node;
    slice.generation = slice.slice_count = 1;
    slice.reach.kind = NodeReachKind::node;
    slice.reach.node = node;
    for (const std::string& name : names) slice.devices.emplace_back().name = name;
    return sees(cluster, {Kind::resource_slice, "", node}, slice);
  }
  static ResourceClaimTemplateFacts one_gpu() {
    DeviceAsk ask;
    ask.device_class = "gpu";
    ResourceClaimTemplateFacts facts;
    facts.spec.requests = {{"r", false, {ask}}};
    return facts;
  }
  /// A Workload of `pods` pods that want one device each.
  WorkloadRecord& workload(const std::string& name, std::int64_t pods = 1) {
    WorkloadRecord& record = state.multikueue.workloads[{"team", name}];
    auto seen = edit(record.seen);
    seen->uid = name;
    WorkloadPodSet& set = seen->facts.pod_sets.emplace_back();
    set.name = "main";
    set.count = pods;
    set.pod.claims = {{"gpu", "", "one"}};
    return record;
  }
  /// Returns what the member would give to the Workload now.
  FitAnswer answer(const std::string& cluster, const std::string& name) {
    const NamespacedName id{"team", name};
    const auto seen = state.multikueue.workloads.at(id).seen.read();
    return fit(search_index(state, cluster).devices,
               question_of(state, cluster, id, pod_sets_of(seen->facts), {}));
  }
  /// Returns the names of the devices of a solution, in order.
  static std::vector<std::string> devices_of(const std::vector<FitPod>& pods) {
    std::vector<std::string> names;
    for (const FitPod& pod : pods)
      for (const FitClaim& claim : pod.claims)
        for (const FitDevice& device : claim.devices) names.push_back(device.device.device);
    return names;
  }
  /// Brings the indexes to what was observed, as the close of a moment does before it decides.
  void update_indexes() { recompute_searches(state); }
  /// Ends the moment: what it changed is decided.
  void end_moment() {
    end_changes(state);
    state.dispatch.dirty_clusters.clear();
    state.fleet.dirty_claims.clear();
  }
};

}  // namespace fairlead
