// The first solution of all pods together. Pods are placed in order, each on the first node by name
// on which it has a solution beside the earlier pods. Where a pod fits nowhere, the pod before it
// moves on to a later node, but never to other devices of the same node: kube-scheduler takes one
// pod after the other, and does not give devices back for a later one.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "engine/devices/fit/kinds.h"
#include "engine/devices/fit/node_filter.h"
#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/pod_solver.h"
#include "engine/devices/fit/supply.h"
#include "engine/devices/fit/taken.h"

namespace fairlead::fitting {

enum class GangOutcome : std::uint8_t { found, none, budget };

class GangSearch {
 public:
  /// `gang` must outlive the search. It stops after `steps_max` devices that were tried.
  GangSearch(ClusterDeviceIndex& devices, const FitQuestion& question, const GangPlan& gang,
             std::int64_t steps_max);

  GangOutcome run();

  std::int64_t steps() const { return solver_.steps(); }
  const Findings& findings() const { return solver_.findings(); }
  /// Writes the solution that was found.
  void write(FitAnswer& answer) const;

 private:
  struct Frame {
    std::uint32_t run = 0;
    std::int64_t left = 0;    // pods of the run after this one
    std::uint32_t first = 0;  // number of the node that it began with
    std::uint32_t node = 0;   // ...and of the one where it is
    bool skipped = false;  // it passed over a node on which it fits, to leave room for the others
    PodSearch pod;
  };

  // Whether the allocator met an error on a node, and the versions of its pools then.
  struct ErrorOf {
    std::uint64_t versions = 0;
    bool is_error = false;
  };

  bool may_hold_rest();
  bool has_failed(const Frame& frame) const;
  bool has_next() const;
  bool place_next();
  void push_next();
  bool ends_in_error(const Frame& frame);
  bool is_error(const Frame& frame, std::uint32_t node);
  bool place(Frame& frame);
  bool go_on(Frame& frame);
  bool accept(Frame& frame);
  void drop_last();
  std::uint32_t first_node(const Frame& frame) const;
  bool independent();
  bool is_where_claims_are(const Frame& frame, const DeviceNode& node) const;
  std::uint64_t versions(DeviceNode& node);

  ClusterDeviceIndex& devices_;
  const GangPlan& gang_;
  Taken taken_;
  Kinds kinds_;
  NodeFilter filter_;
  Supply supply_;
  PodSolver solver_;
  bool independent_;
  bool tight_ = false;  // a pod has fitted nowhere: from now on each step looks ahead
  std::vector<Frame> frames_;
  // By plan and node, the versions of its pools when a pod found nothing there; 0: none has failed.
  std::vector<std::uint64_t> failed_;
  std::vector<ErrorOf> errors_;  // by plan and node, too; empty if there can be no errors
  // Where the rest found no place: how many pods were placed, the first node of the next one, and
  // what was taken. It does not matter which pod took what.
  std::set<std::tuple<std::size_t, std::uint32_t, TakenState>> dead_ends_;
};

}  // namespace fairlead::fitting
