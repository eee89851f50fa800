#include "tests/simulation/anew.h"

#include <boost/pfr.hpp>
#include <map>
#include <utility>
#include <vector>

#include "engine/fold/evolve.h"
#include "engine/fold/members/member_deviation.h"

namespace fairlead::simulation {
namespace {

// Numbers the kinds of nodes in the order of the nodes: which place of Cluster::kinds a kind got
// follows from the order in which kinds came and went, and nothing follows from it.
void renumber_kinds(State& state) {
  for (auto& [name, cluster] : state.clusters) {
    std::vector<NodeKind> kinds;
    std::map<std::uint32_t, std::uint32_t> renumbered;
    for (auto* table : {&cluster.reports.nodes, &cluster.reports.metrics_nodes})
      for (auto* entry : table->sorted()) {
        std::uint32_t& kind = entry->second.counted.kind;
        if (kind == 0) continue;
        const auto [at, is_new] =
            renumbered.emplace(kind, static_cast<std::uint32_t>(kinds.size() + 1));
        if (is_new) kinds.push_back(cluster.kinds.at(kind - 1));
        kind = at->second;
      }
    cluster.kinds = std::move(kinds);
  }
}

// Drops what no later window contains, as the fold does when it next looks at the value, and which
// events led to a value: the configuration is one of them now.
void drop_history(State& state) {
  const DebounceSettings& windows = state.configuration.debounce;
  for (auto& [name, cluster] : state.clusters)
    for (auto& [key, value] : cluster.capacity) {
      value.damped.high.over(state.now, windows.shrink_window);
      value.damped.low.over(state.now, windows.grow_window);
      value.causes.clear();
      value.pending = 0;
    }
  for (auto& [placement, list] : state.multikueue.lists) {
    list.causes.clear();
    list.ending.clear();
    for (auto& [name, worker] : list.workers) worker.causes.clear();
  }
}

// The next touch of a member's work follows from the last write of it, and is derived when that is
// answered. Until then the touch may be missing among the deadlines, or be there with the time that
// followed from the write before. `anew` gets the deadline of `state` where it differs by that.
void adopt_touches(const State& state, State& anew) {
  const auto deadline_in = [](const State& of, const ClusterDeadline& key) {
    const auto at = of.deadlines.all().find(key);
    return at == of.deadlines.all().end() ? kForever : at->second;
  };
  for (const auto& [seq, key] : state.writes.outstanding) {
    if (key.object.kind != Kind::manifest_work) continue;
    const ClusterDeadline cluster{key.object.namespace_};
    const LogTime touch = next_touch(anew, cluster.cluster);
    const LogTime is = deadline_in(state, cluster), derived = deadline_in(anew, cluster);
    const bool is_missing = derived == touch && derived < is;
    const bool is_of_before = is < derived && touch != kForever && is <= touch;
    if (is_missing || is_of_before) anew.deadlines.set(cluster, is);
  }
}

// Names the fields that differ by their place in the struct.
template <class T>
std::string differing_fields(const std::string& what, const T& one, const T& other) {
  std::string text;
  boost::pfr::for_each_field(one, [&]<class Field>(const Field& field, auto index) {
    constexpr std::size_t kAt = decltype(index)::value;
    if (!(field == boost::pfr::get<kAt>(other)))
      text += " " + what + " field " + std::to_string(kAt) + ";";
  });
  return text;
}

}  // namespace

std::string differs_derived_anew(State state) {
  DirtySet dirty;
  close_moment(state, dirty);
  State anew = state;  // a copy has no memos
  Event event;
  event.seq = state.configuration_seq;
  event.log_time = state.now;
  event.epoch = state.epoch;
  event.source = std::string(kSelf);
  event.fact = ConfigChanged{state.configuration};
  anew.seq = Seq{event.seq.value - 1};
  evolve(anew, event, dirty);
  anew.seq = state.seq;
  close_moment(anew, dirty);
  for (State* each : {&state, &anew}) {
    renumber_kinds(*each);
    drop_history(*each);
  }
  adopt_touches(state, anew);
  if (anew == state) return {};
  std::string text = differing_fields("State", static_cast<const StateFields&>(state),
                                      static_cast<const StateFields&>(anew));
  text += differing_fields("multikueue", state.multikueue, anew.multikueue);
  for (const auto& [name, list] : state.multikueue.lists)
    if (anew.multikueue.lists.contains(name))
      text += differing_fields("list " + name, list, anew.multikueue.lists.at(name));
  for (const auto& [name, cluster] : state.clusters) {
    if (!anew.clusters.contains(name)) continue;
    const Cluster& other = anew.clusters.at(name);
    text += differing_fields("cluster " + name, cluster, other);
    for (const auto& [key, value] : cluster.capacity)
      if (const auto at = other.capacity.find(key); at != other.capacity.end()) {
        const std::string what = name + " " + key.flavor + " " + key.resource;
        text += differing_fields(what, value, at->second);
        text += differing_fields(what + " damped", value.damped, at->second.damped);
      }
  }
  return text;
}

}  // namespace fairlead::simulation
