// Makes views of State, each from the one before: only the entries of what changed since are made
// anew, so that a step of the hub costs what it changed, however many claims a queue has.
//
// A moment's dirty set alone would not do. It lacks claims that are gone; and it holds every claim
// and every cluster around a queue that changed, because their statuses follow from it: of those
// the claims are left out, and the clusters are compared before they are copied.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/admission/admission_view.h"
#include "engine/fold/state.h"

namespace fairlead {

/// Owned by the thread that owns State.
class AdmissionMirror {
 public:
  /// Notes the objects that events are about.
  void note(std::span<const Event> events);
  /// Notes the objects that the moment of `state` which has just closed marked dirty.
  void note(const State& state, const DirtySet& dirty);

  /// Returns the view of `state`, of which everything that changed since the last call was noted.
  /// The first call reads all of it. An unsynced view has the terms alone.
  std::shared_ptr<const AdmissionView> next(const State& state, ViewState synced);

 private:
  /// What a claim contributed to the indexes below.
  struct Counted {
    std::string cluster;
    bool in_force = false;
    std::vector<AssignmentRow> rows;
  };
  struct PairClaims {
    std::set<std::string> claims;
    std::size_t in_force = 0;
  };
  struct QueueClaims {
    std::map<std::string, std::size_t> claims;  ///< with the number of rows
    std::map<QuotaKey, PairClaims> pairs;
  };

  bool is_current() const;
  void note_all(const State& state);
  void add_competitors(const State& state);
  void recount_claims(const State& state);
  void count_out(const std::string& name);
  void count_in(const State& state, const std::string& name);
  SharedMap<ClaimEntry>::Changes claim_changes(const State& state) const;
  SharedMap<ClusterEntry>::Changes cluster_changes(const State& state) const;
  SharedMap<QueueEntry>::Changes queue_changes(const State& state) const;
  SharedMap<FlavorEntry>::Changes flavor_changes(const State& state) const;
  std::shared_ptr<const QueueEntry> queue_entry(const State& state, const std::string& name) const;

  // DirtySet since the last view.
  std::set<std::string> clusters_, claims_, queues_, flavors_;
  bool everything_ = true;

  // Indexes of all claims, by name.
  std::map<std::string, Counted> counted_;
  std::map<std::string, std::string> in_force_;  // by cluster
  std::map<std::string, QueueClaims> of_queue_;
  std::map<std::string, std::map<std::string, std::size_t>> of_flavor_;  // with the number of rows

  AdmissionView last_;
  std::shared_ptr<const AdmissionView> made_;  // the last one that was returned as synced
};

/// Returns the view of `state` alone, which counts as synced.
AdmissionView view_of(const State& state);

}  // namespace fairlead
