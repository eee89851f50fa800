// What a gang asks of one cluster, read once: entries are resolved to requests, classes to lists of
// selectors. The search then reads nothing but the plan and the index.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/devices/fit.h"

namespace fairlead::fitting {

/// A request's `exactly`, or one of its alternatives.
struct Ask {
  const DeviceAsk* facts = nullptr;
  std::string name;      ///< `request` or `request/alternative`
  bool nothing = false;  ///< an extended resource that no class here gives: no device
  SelectorListId list = 0;
  std::size_t of_class = 0;                ///< how many selectors of the list are the class's
  std::vector<std::uint32_t> constraints;  ///< the claim's constraints that apply to it
  std::uint32_t all_number = 0;            ///< among its pod's asks for all devices

  bool all() const { return facts->mode == AllocationMode::all; }
};

struct Request {
  std::uint32_t claim = 0;  ///< in PodPlan::claims
  std::string name;
  std::vector<Ask> asks;
  std::string extended;  ///< the extended resource that was requested; empty: a claim was
};

/// A claim that is solved together with the pod.
struct ClaimPlan {
  std::string entry;
  std::uint32_t order = 0;                           ///< of the entry in its pod
  std::vector<const DeviceConstraint*> constraints;  ///< without those that are not understood
  std::optional<std::uint32_t> named;                ///< in GangPlan::solvers
};

/// Returns the attribute whose value must be the same for all devices of the request, the first if
/// there are several; null if there is none.
const std::string* matched_by(const ClaimPlan& claim, const Ask& ask);

/// A named claim for which the pod needs no device any more, but which says where the pod can be.
struct Pin {
  std::uint32_t order = 0;                    ///< of the entry in its pod
  const ResourceClaimFacts* claim = nullptr;  ///< allocated
  const std::vector<DeviceId>* reserved = nullptr;
  std::optional<std::uint32_t> named;  ///< solved with an earlier pod: GangPlan::solvers
};

/// What each pod of a run asks.
struct PodPlan {
  const PodDeviceFacts* pod = nullptr;
  std::vector<std::string> entries;  ///< in order, extended resources last
  std::vector<ClaimPlan> claims;
  std::vector<Request> requests;  ///< of all claims, in order
  std::vector<Pin> pins;
  std::uint32_t alls = 0;  ///< requests and alternatives for all devices

  /// Whether some alternative asks with adminAccess.
  bool asks_admin() const;
  /// Whether a device that breaks a constraint can end the search on a node.
  bool can_break() const;
};

/// Consecutive pods with the same plan. Pods without claims are in no run.
struct Run {
  std::uint32_t pod_set = 0;
  std::uint32_t plan = 0;  ///< in GangPlan::plans
  std::int64_t count = 0;
};

struct GangPlan {
  std::vector<PodPlan> plans;
  std::vector<Run> runs;
  /// For each named claim that is solved here, the index of its first pod.
  std::vector<std::int64_t> solvers;
};

/// The entries of a question, resolved.
class Resolver {
 public:
  Resolver(ClusterDeviceIndex& devices, const FitQuestion& question);

  /// Returns what is missing in the cluster, or what is not understood.
  std::optional<FitRefusal> refusal() const { return refusal_; }
  /// Returns the plan of the pods of the first `pod_sets` sets together.
  GangPlan gang(std::size_t pod_sets) const;
  /// Returns the plan of one pod of a set, without the rest of its gang. No run if the pod has no
  /// claims.
  GangPlan alone(std::size_t pod_set) const;
  /// Returns such a plan for every set, by its number, without runs. It is empty for a set whose
  /// pods have no claims.
  GangPlan each_alone() const;
  /// Returns the classes that the question's requests name, each once, without missing ones.
  std::vector<std::string> classes() const;

 private:
  struct Entry {
    std::string name;
    const DeviceClaimSpec* spec = nullptr;  // what is to be solved; null for a pinned one
    const std::string* named = nullptr;     // the name of a named claim
    NamedClaim claim;
    std::string extended;
    bool no_class = false;
  };
  using Entries = std::vector<Entry>;

  void resolve_claims();
  void resolve_extended(const PodDeviceFacts& pod, Entries& entries);
  void find_classes();
  void find_unsupported();
  std::optional<std::string> unsupported(const Entry& entry) const;
  std::optional<std::string> unsupported(const Entry& entry, const DeviceRequest& request) const;
  std::optional<std::string> unsupported(const std::vector<DeviceSelector>& selectors,
                                         int steps_max, const std::string& of) const;
  bool too_many(const Entry& entry) const;
  void refuse(FitReason reason, std::string detail);
  void add_claim(const Entry& entry, std::uint32_t order, PodPlan& plan) const;
  /// `solved`: the named claims that earlier pods solve, to which this one adds its own.
  PodPlan plan(std::size_t pod_set, std::vector<std::string>& solved) const;

  ClusterDeviceIndex& devices_;
  const FitQuestion& question_;
  std::vector<Entries> entries_;      // by pod set
  std::deque<DeviceClaimSpec> made_;  // made for extended resources
  std::optional<FitRefusal> refusal_;
};

}  // namespace fairlead::fitting
