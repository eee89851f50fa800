// Which parts of State a rule changes and which it reads: the type of its first parameter.
//
// A StateView names parts of State, those that it reads as const, and refers to each under the name
// that it has in State. A State converts to any of them, and so does a view to one of fewer parts
// or of more const ones. A rule therefore hands on what it was given, and a call of a rule that
// changes more than the caller may does not compile. Views are passed by value, as a std::span is.
// rooms.h lists those of the rooms.
#pragma once

#include <array>
#include <set>
#include <string>

#include "engine/base/time.h"
#include "engine/base/types.h"
#include "engine/fold/capacity/liveness.h"
#include "engine/fold/name_map.h"
#include "schema/fields/field.h"

namespace fairlead {

class Deadlines;
struct ClaimTables;
struct Cluster;
struct Configuration;
struct DeviceSearches;
struct Dispatch;
struct FlavorTables;
struct FleetClaims;
struct MultiKueue;
struct Pool;
struct QueueTables;
struct UsageTables;
struct WriteTables;

/// Of the hub's ClusterMetrics and ManagedClusters.
using HubStreams = std::array<Liveness, 2>;

// The parts of State that share a type with others.
struct DirtyClusters;  ///< which clusters' present moment is not decided yet
struct AllDirty;       ///< whether all is planned
struct LogPosition;    ///< of the event that is folded; no rule changes it

/// A reference to one part of State.
template <class Part>
struct PartOfState;

template <Of<Configuration> T>
struct PartOfState<T> {
  T& configuration;
  explicit PartOfState(auto& of) : configuration(of.configuration) {}
};
template <Of<FlavorTables> T>
struct PartOfState<T> {
  T& flavors;
  explicit PartOfState(auto& of) : flavors(of.flavors) {}
};
template <Of<NameMap<Cluster>> T>
struct PartOfState<T> {
  T& clusters;
  explicit PartOfState(auto& of) : clusters(of.clusters) {}
};
template <Of<ClaimTables> T>
struct PartOfState<T> {
  T& claims;
  explicit PartOfState(auto& of) : claims(of.claims) {}
};
template <Of<QueueTables> T>
struct PartOfState<T> {
  T& queues;
  explicit PartOfState(auto& of) : queues(of.queues) {}
};
template <Of<MultiKueue> T>
struct PartOfState<T> {
  T& multikueue;
  explicit PartOfState(auto& of) : multikueue(of.multikueue) {}
};
template <Of<DeviceSearches> T>
struct PartOfState<T> {
  T& searches;
  explicit PartOfState(auto& of) : searches(of.searches) {}
};
template <Of<Dispatch> T>
struct PartOfState<T> {
  T& dispatch;
  explicit PartOfState(auto& of) : dispatch(of.dispatch) {}
};
template <Of<FleetClaims> T>
struct PartOfState<T> {
  T& fleet;
  explicit PartOfState(auto& of) : fleet(of.fleet) {}
};
template <Of<Pool> T>
struct PartOfState<T> {
  T& pool;
  explicit PartOfState(auto& of) : pool(of.pool) {}
};
template <Of<WriteTables> T>
struct PartOfState<T> {
  T& writes;
  explicit PartOfState(auto& of) : writes(of.writes) {}
};
template <Of<UsageTables> T>
struct PartOfState<T> {
  T& usage;
  explicit PartOfState(auto& of) : usage(of.usage) {}
};
template <Of<Deadlines> T>
struct PartOfState<T> {
  T& deadlines;
  explicit PartOfState(auto& of) : deadlines(of.deadlines) {}
};
template <Of<HubStreams> T>
struct PartOfState<T> {
  T& hub_streams;
  explicit PartOfState(auto& of) : hub_streams(of.hub_streams) {}
};
template <>
struct PartOfState<DirtyClusters> {
  std::set<std::string>& dirty_clusters;
  explicit PartOfState(auto& of) : dirty_clusters(of.dirty_clusters) {}
};
template <>
struct PartOfState<AllDirty> {
  bool& all_dirty;
  explicit PartOfState(auto& of) : all_dirty(of.all_dirty) {}
};
template <>
struct PartOfState<const LogPosition> {
  const Seq& seq;
  const Seq& input_seq;
  const LogTime& now;
  explicit PartOfState(auto& of) : seq(of.seq), input_seq(of.input_seq), now(of.now) {}
};

template <class... Part>
struct StateView : PartOfState<Part>... {
  StateView(const StateView&) = default;
  /// `of` is a State or a view of one.
  template <class Whole>
  StateView(Whole&& of) : PartOfState<Part>(of)... {}  // NOLINT: it hands on what it was given
};

}  // namespace fairlead
