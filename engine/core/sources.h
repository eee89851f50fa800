// Which streams a hub should have, and what follows for State where there is none.
//
// Both are derived from State and its configuration: the kinds that are read of the hub, of members
// and of tenants, and in which namespaces; the members and tenants themselves; what counts as lost
// until a stream lists it; and the kinds of the hub that planning waits for, because before every
// object is known, what is missing would look as if it were gone.
//
// A driver keeps the streams of Watch open and closes all others. It knows no rule about them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/first_lists.h"
#include "engine/fold/pool/tenants.h"
#include "engine/fold/state.h"
#include "engine/ingest/watch_fact.h"
#include "engine/ingest/watch_scope.h"

namespace fairlead {

/// What is watched at one API server.
struct Streams {
  std::map<Kind, WatchScope> kinds;  ///< all that are ever watched there
  std::optional<ObjectKey> object;   ///< one that is watched by its name

  /// Returns whether a rule reads `kind` there at present.
  bool reads(Kind kind) const;
  friend bool operator==(const Streams&, const Streams&) = default;
};

/// The streams that should exist.
struct Watch {
  struct Member {
    MemberKubeconfig access;
    bool super = false;  ///< a super cluster of the pool

    friend bool operator==(const Member&, const Member&) = default;
  };
  Streams hub;
  Streams member, super_cluster, tenant;  ///< of each of them
  std::map<SourceName, Member> members;
  std::map<SourceName, TenantAccess> tenants;
  Seq configuration;  ///< of the ConfigChanged that they follow from

  const Streams& of(const Member& which) const { return which.super ? super_cluster : member; }
  friend bool operator==(const Watch&, const Watch&) = default;
};

/// Whether the Workloads of members are read, and the Cohorts there, which decide whether a
/// Workload fits.
bool are_member_workloads_read(const State& state);

/// Returns the streams that should exist in `state`.
Watch watch_of(const State& state);

/// A claim on a cluster that no line of members.kubeconfigs names any more: it keeps what it has
/// until lostAfter, and does not grow (observe_members).
struct UnwatchedClaim {
  std::string cluster;
  std::string claim;
  LogTime since;
};
std::vector<UnwatchedClaim> unwatched_claims(const State& state, const Watch& watch);

/// The streams of an engine that leads, which follow its State.
class Sources {
 public:
  /// As they were followed last.
  const Watch& watch() const { return watch_; }
  /// Kinds of the hub without a complete list, and without a StreamLost of a kind that may stay
  /// unread.
  const std::set<Kind>& awaited() const { return awaited_; }
  /// Whether a configuration was followed.
  bool began() const { return began_; }

  /// Follows the configuration in force. Planning waits for the first list of each kind that came
  /// into use. `lists` learns which sources begin anew. Returns what is lost by it, to be offered
  /// before anything that a new stream reports.
  std::vector<WatchFact> follow_configuration(const State& state, FirstLists& lists);
  /// Follows the tenants alike.
  std::vector<WatchFact> follow_tenants(const State& state, FirstLists& lists);
  /// Follows whether Workloads of members are read, alike.
  std::vector<WatchFact> follow_workloads(const State& state);

  /// Notes a fact of a stream: a list of a kind ends the wait for it. Returns false if there should
  /// be no such stream: the fact is to be dropped.
  bool note(const WatchFact& fact);
  /// Returns the kinds of the hub that were noted as not to be read, and are not waited for.
  std::vector<Kind> refused() { return std::exchange(refused_, {}); }

  /// Whether watch() changed since changed_watch(), or has to.
  bool due(const State& state) const;
  /// Returns watch() if it changed since the last call, else null.
  const Watch* changed_watch();

 private:
  Watch watch_;
  bool began_ = false;
  bool changed_ = false;
  Seq tenancy_;  ///< Pool::tenancy_seq when the tenants were followed
  std::set<Kind> awaited_;
  std::vector<Kind> refused_;
};

}  // namespace fairlead
