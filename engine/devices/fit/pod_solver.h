// The first solution of one pod on one node, in the order of the search.
//
// Depth first: requests in order, alternatives in order, devices in order, where a request takes
// its devices in increasing order. What the search would try in vain is skipped where that cannot
// change which solution comes next, nor whether an error is met before it (kinds.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/devices/fit/kinds.h"
#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/taken.h"

namespace fairlead::fitting {

/// What made nodes unfit before a device was tried: the first finding of each kind.
struct Findings {
  std::string pool_updating;   ///< "driver/pool"
  std::string selector_error;  ///< a class, or "entry/request"
};

enum class PodOutcome : std::uint8_t {
  found,
  none,    ///< there is no solution
  unfit,   ///< an error or a broken constraint has ended the search on this node
  budget,  ///< steps ran out
};

/// The progress of the search of one pod.
struct PodSearch {
  const PodPlan* plan = nullptr;
  DeviceNode* node = nullptr;
  std::size_t first_pick = 0;  ///< in Taken::picks()
  std::size_t first_open = 0;  ///< of the solver's open requests
  std::size_t first_plugin_pick = 0;
  /// What requests for all devices take, by Ask::all_number.
  std::vector<std::vector<Position>> alls;
};

/// Solves the pods of one gang, each beside what the others have taken. Large: the search keeps its
/// place in `opens_` instead of a call stack, so each step is a function of its own.
class PodSolver {
 public:
  /// Stops after `steps_max` devices that were tried.
  PodSolver(ClusterDeviceIndex& devices, Taken& taken, Kinds& kinds, std::int64_t steps_max)
      : devices_(devices), taken_(taken), kinds_(kinds), steps_max_(steps_max) {}

  /// Takes the first solution of `plan` on `node`, and notes in `pod` what belongs to the pod.
  PodOutcome first(const PodPlan& plan, DeviceNode& node, PodSearch& pod);
  /// Gives a solution of first() back. The pod must be the last one.
  void abandon(PodSearch& pod);
  /// Whether the solution takes nothing: neither a device nor an amount of a device plugin.
  bool is_empty(const PodSearch& pod) const;

  /// Counts a pod that was placed without a device, so that these come to an end, too.
  void count_step() { ++steps_; }
  /// Counts a node that was only looked at, because its answer may be known.
  void count_passed() { ++passed_; }
  bool is_spent() const { return steps() > steps_max_; }
  /// Returns the sum of the indexes of the chosen alternatives of all pods.
  std::int64_t alternatives() const;
  /// Returns how many devices were tried, plus one for every 16 devices and nodes that were only
  /// looked at. Looking is cheap, but a search that does nothing else must come to an end, too.
  std::int64_t steps() const { return steps_ + passed_ / 16; }
  const Findings& findings() const { return findings_; }

 private:
  // A request that the search has begun.
  struct Open {
    std::uint32_t request = 0;
    std::uint32_t alternative = 0;
    std::size_t first_pick = 0;
    bool all_exceed = true;  // every alternative so far would exceed the devices of a claim
  };
  // What an attempt means for what was decided before it.
  enum class Signal : std::uint8_t {
    forward,
    done,      // every request has what it wants
    failed,    // try the next device
    exceeded,  // other devices for the earlier request cannot help, another alternative may
    unfit,
    budget,
  };
  enum class Try : std::uint8_t { taken, not_takeable, unfit };

  bool plugins_have_enough(const PodSearch& pod) const;
  void take_of_plugins(const PodSearch& pod);
  bool precheck(PodSearch& pod);
  bool find_all(PodSearch& pod, const Request& request, const Ask& ask);
  bool exceeds_results(const PodSearch& pod) const;
  PodOutcome run(PodSearch& pod, Signal signal);
  Signal forward(PodSearch& pod);
  Signal retry(PodSearch& pod);
  Signal drop_request(PodSearch& pod);
  Signal next_alternative(PodSearch& pod);
  Signal look_ahead(PodSearch& pod, Position at);
  Signal pick_from(PodSearch& pod, Position at);
  Signal pick_of_all(PodSearch& pod);
  bool is_takeable(const PodSearch& pod, IndexedPool& pool, const Device& device);
  Try attempt(PodSearch& pod, Position at);
  Try attempt_of_all(PodSearch& pod, Position at);
  void give_back_to(std::size_t picks);

  const Request& request_of(const PodSearch& pod, const Open& open) const {
    return pod.plan->requests[open.request];
  }
  const Ask& ask_of(const PodSearch& pod, const Open& open) const {
    return request_of(pod, open).asks[open.alternative];
  }
  static std::int64_t wanted(const PodSearch& pod, const Ask& ask);
  std::int64_t taken_before(const PodSearch& pod, std::uint32_t claim) const;
  void note_error(const PodSearch& pod, const Request& request, const Ask& ask, std::size_t failed);

  // A kind of device that led nowhere as the pick at that depth.
  struct DeadEnd {
    std::size_t depth;
    std::uint32_t kind;
  };
  void note_dead_end(std::size_t depth, std::optional<std::uint32_t> kind);
  bool is_dead_end(const Device& device, std::size_t depth);

  ClusterDeviceIndex& devices_;
  Taken& taken_;
  Kinds& kinds_;
  std::int64_t steps_max_;
  std::int64_t steps_ = 0;
  std::int64_t passed_ = 0;
  std::vector<Open> opens_;  // of all pods, the last pod's last
  std::vector<DeadEnd> dead_ends_;
  std::uint32_t exceeded_claim_ = 0;
  Findings findings_;
};

}  // namespace fairlead::fitting
