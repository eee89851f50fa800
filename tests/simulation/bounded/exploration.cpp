#include "tests/simulation/bounded/exploration.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>
#include <variant>

#include "engine/fold/canonical_bytes.h"
#include "engine/fold/evolve.h"
#include "engine/fold/held.h"
#include "engine/plan/plan.h"
#include "replay/virtual_hub.h"
#include "snapshots/state_codec.h"
#include "tests/simulation/anew.h"

namespace fairlead {
namespace {

// No deadline of the default settings is further away: a suppressed node is released after an hour.
constexpr Duration kUntilRest = hours(6);
constexpr std::size_t kWritesUntilRestMax = 60;

struct Place {
  State state;
  DirtySet dirty;
  std::vector<Event> log;
  bool closed = false;             ///< the moment was planned, and no event behind it shows so
  std::set<std::size_t> happened;  ///< steps, by their place in the story
  std::size_t duplicates = 0;
  std::map<std::string, std::size_t> latest;  ///< by what it is about: the input that came last
};

DirtySet all_of_it() {
  DirtySet dirty;
  dirty.everything = true;
  return dirty;
}

// What the ready nodes of a cluster had, by the log alone: each value with the time since when.
std::vector<std::pair<LogTime, Amount>> offered(const std::vector<Event>& log,
                                                const std::string& cluster) {
  std::map<std::string, Amount> nodes;
  std::vector<std::pair<LogTime, Amount>> values;
  for (const Event& event : log) {
    if (event.source != cluster) continue;
    if (const auto* gone = std::get_if<ObjectGone>(&event.fact)) {
      nodes.erase(gone->key.name);
    } else if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) {
      const auto& facts = std::get<NodeFacts>(seen->facts);
      nodes[seen->key.name] = facts.ready ? facts.allocatable.find("cpu").value_or(0) : 0;
    }
    Amount sum = 0;
    for (const auto& [name, amount] : nodes) sum += amount;
    values.emplace_back(event.log_time, sum);
  }
  return values;
}

struct Extremes {
  Amount least = INT64_MAX, most = 0;
};
// Over the `window` up to `now`. What was reported at `now` counts, or what held until then.
Extremes extremes(const std::vector<std::pair<LogTime, Amount>>& values, LogTime now,
                  Duration window, bool until_now) {
  Extremes found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (until_now && values[i].first >= now) break;
    const LogTime end = i + 1 < values.size() ? values[i + 1].first : kForever;
    if (end + window <= now) continue;
    found.least = std::min(found.least, values[i].second);
    found.most = std::max(found.most, values[i].second);
  }
  return found;
}

// Returns whether the log removes a node or a flavor, or changes the configuration after its start.
// Such a step takes effect without damping.
bool was_ordered(const std::vector<Event>& log) {
  std::size_t configurations = 0;
  for (const Event& event : log) {
    const auto* gone = std::get_if<ObjectGone>(&event.fact);
    if (gone && (gone->key.kind == Kind::node || gone->key.kind == Kind::resource_flavor))
      return true;
    if (std::holds_alternative<ConfigChanged>(event.fact)) ++configurations;
  }
  return configurations > 1;
}

std::string quotas_of(const Queue& queue) {
  std::string text;
  for (const ResourceGroup& group : queue.facts.groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        text += flavor.name + " " + quota.name + " " + quota.nominal.text() + " ";
  return text;
}

State closed_of(const Place& place) {
  State closed = place.state;
  DirtySet ignored = place.dirty;
  close_moment(closed, ignored);
  return closed;
}

class Exploration {
 public:
  Exploration(const Story& story, const StoryBounds& bounds) : story_(story), bounds_(bounds) {}

  StoryCounts run() {
    Place place;
    for (const Event& event : story_.beginning) fold(place, event);
    reach(place);
    return counts_;
  }

 private:
  static void fold(Place& place, Event event) {
    event.seq = next(place.state.seq);
    evolve(place.state, event, place.dirty);
    place.log.push_back(std::move(event));
    place.closed = false;
  }
  static void fold(Place& place, LogTime time, std::string source, Fact fact) {
    Event event;
    event.log_time = time;
    event.epoch = place.state.epoch;
    event.source = std::move(source);
    event.fact = std::move(fact);
    fold(place, std::move(event));
  }

  void reach(const Place& place) {
    const std::string key = sha256(encode_state(place.state) + canonical_bytes(place.dirty) +
                                   canonical_bytes(place.happened) + canonical_bytes(place.latest) +
                                   std::to_string(place.duplicates) + (place.closed ? "c" : ""))
                                .hex();
    if (!seen_.insert(key).second) {
      ++counts_.merged;
      return;
    }
    ++counts_.states;
    judge(place);
    for (std::size_t i = 0; i < std::min(bounds_.steps, story_.steps.size()); ++i) {
      const bool again = place.happened.contains(i);
      if (again && (story_.steps[i].kind != StoryStep::Kind::input ||
                    place.duplicates == bounds_.duplicates))
        continue;
      path_.push_back(story_.steps[i].name);
      Place next = place;
      if (again) ++next.duplicates;
      next.happened.insert(i);
      happen(next, i);
      moves_slowly(place, next);
      reach(next);
      path_.pop_back();
    }
  }

  void happen(Place& place, std::size_t index) {
    const StoryStep& step = story_.steps[index];
    // What follows a closed moment has a later time.
    const LogTime now = place.state.now + Duration{place.closed ? 1 : 0};
    switch (step.kind) {
      case StoryStep::Kind::input:
        place.latest[step.about] = index;
        return fold(place, now + bounds_.gap, step.source, step.fact);
      case StoryStep::Kind::time_passes: {
        Place closed = place;  // the close may set a deadline
        close_moment(closed.state, closed.dirty);
        const LogTime due = closed.state.deadlines.next();
        if (due == kForever) return;
        place = std::move(closed);
        return fold(place, std::max(due, now + Duration{1}), std::string(kSelf), TimerFired{due});
      }
      case StoryStep::Kind::written:
      case StoryStep::Kind::died_writing: return write(place, step.kind);
    }
  }

  // What follows has a later time, as after every closed moment of a hub.
  static void write(Place& place, StoryStep::Kind kind) {
    close_moment(place.state, place.dirty);
    place.closed = true;
    const LogTime now = place.state.now + Duration{1};
    std::vector<std::pair<Seq, PatchIntended>> sent;
    for (const PatchIntended& intent : plan(place.state, place.dirty)) {
      fold(place, now, std::string(kSelf), intent);
      sent.emplace_back(place.state.seq, intent);
    }
    for (const auto& [seq, intent] : sent) {
      if (kind == StoryStep::Kind::died_writing) break;
      const std::string version = std::to_string(1000 + seq.value);
      const std::string uid = intent.uid.empty() ? "made-" + version : intent.uid;
      fold(place, now + Duration{1}, std::string(kSelf), PatchAccepted{seq, 200, uid, version});
      if (intent.expected)
        fold(place, now + Duration{1}, intent.cluster,
             ObjectObserved{intent.target, intent.version, uid, version, 2, *intent.expected, {}});
    }
    if (kind == StoryStep::Kind::died_writing)
      fold(place, now + seconds(1), std::string(kSelf), EpochStarted{"next", "test", 0, 0});
  }

  void judge(const Place& place) {
    std::string path;
    for (const std::string& name : path_) path += name + "; ";
    INFO(story_.name << ": " << path);
    replays(place);
    State closed = place.state;
    DirtySet dirty = place.dirty;
    close_moment(closed, dirty);
    REQUIRE(simulation::differs_derived_anew(closed).empty());
    plans_the_same(closed, dirty);
    keeps_bounds(closed);
    writes_are_of_what_is_there(place, closed);
    comes_to_rest(place, closed);
  }

  // The place was reached by copies, which have no memos. This fold has them all.
  static void replays(const Place& place) {
    State state;
    DirtySet dirty;
    for (const Event& event : place.log) evolve(state, event, dirty);
    if (place.closed) close_moment(state, dirty);
    REQUIRE(state_digest(state) == state_digest(place.state));
    State closed = place.state;
    DirtySet since = place.dirty;
    close_moment(state, dirty);
    close_moment(closed, since);
    REQUIRE(state_digest(state) == state_digest(closed));
    close_moment(closed, since);
    REQUIRE(state_digest(state) == state_digest(closed));
  }

  static void plans_the_same(const State& closed, const DirtySet& dirty) {
    DirtySet once = dirty, twice = dirty, all = all_of_it();
    const std::vector<PatchIntended> intents = plan(closed, once);
    REQUIRE(intents == plan(closed, twice));
    REQUIRE(intents == plan(closed, all));
  }

  static void keeps_bounds(const State& closed) {
    for (const auto& [cluster_name, cluster] : closed.clusters) {
      const auto claims = closed.claims.of_cluster.find(cluster_name);
      if (claims == closed.claims.of_cluster.end()) continue;
      std::map<std::string, Int128> accepted, granted;
      for (const auto& [key, value] : cluster.capacity)
        accepted[key.resource] += value.damped.accepted;
      for (const std::string& name : claims->second) {
        const Claim& claim = closed.claims.by_name.at(name);
        if (!claim.winner || !claim.known) continue;
        for (const Grant& grant : claim.grants) {
          REQUIRE(grant.granted >= 0);
          REQUIRE(grant.granted <= grant.row.assigned);
          granted[grant.row.resource] += grant.granted;
        }
      }
      for (const auto& [resource, sum] : granted) {
        INFO(cluster_name << " " << resource);
        const auto percent = closed.configuration.overbook_percent;
        REQUIRE((sum * 100 <= accepted[resource] * percent));
      }
    }
  }

  // What was accepted grows only to what was there for all of growWindow, and falls only below what
  // was not there in all of shrinkWindow, unless the fall was ordered.
  void moves_slowly(const Place& before, const Place& after) const {
    INFO(story_.name << ": " << path_.back());
    const State was = closed_of(before), is = closed_of(after);
    const DebounceSettings& windows = is.configuration.debounce;
    const bool at_once = was_ordered(after.log);
    for (const auto& [name, cluster] : is.clusters) {
      const auto values = offered(after.log, name);
      const auto over = [&](Duration window, bool until_now) {
        return extremes(values, is.now, window, until_now);
      };
      for (const auto& [key, value] : cluster.capacity) {
        const auto known = was.clusters.find(name);
        if (known == was.clusters.end() || !known->second.capacity.contains(key)) continue;
        const Amount now = value.damped.accepted;
        const Amount earlier = known->second.capacity.at(key).damped.accepted;
        INFO(name << " " << earlier << " -> " << now);
        if (now > earlier)
          REQUIRE(std::max(over(windows.grow_window, false).least,
                           over(windows.grow_window, true).least) >= now);
        if (now < earlier && !at_once)
          REQUIRE(std::min(over(windows.shrink_window, false).most,
                           over(windows.shrink_window, true).most) <= now);
      }
    }
  }

  // What was written to a former object of a name does not count for the one that is there.
  static void writes_are_of_what_is_there(const Place& place, const State& closed) {
    for (const auto& [key, write] : closed.writes.by_key) {
      if (write.last_write_seq == Seq{}) continue;
      const Event& event = place.log.at(write.last_write_seq.value - 1);
      const std::string& uid = std::get<PatchIntended>(event.fact).uid;
      const auto object = held(closed, key.cluster, key.object);
      INFO(key.object.name << " " << uid);
      REQUIRE((uid.empty() || (object && object->uid == uid)));
    }
  }

  // As a hub that starts here, whose writes all succeed at once.
  void comes_to_rest(const Place& place, const State& closed) {
    ++counts_.rests;
    Seq last = closed.seq;
    VirtualPorts ports;
    ports.append = [&last](std::vector<EventDraft> drafts, LogTime at) {
      return Result<std::vector<Event>>(numbered(std::move(drafts), at, last));
    };
    VirtualHub hub(ports, Feedback::assumed, closed);
    const LogTime begin = closed.now + Duration{1};
    REQUIRE(hub.append(begin, {{std::string(kSelf), {}, EpochStarted{"rest", "test", 0, 0}}})
                .has_value());
    hub.set_planning(Planning::off);
    hub.set_planning(Planning::on);
    REQUIRE(hub.run_to(begin + kUntilRest).has_value());
    const std::size_t writes = hub.writes().size();
    REQUIRE(writes <= kWritesUntilRestMax);
    hub.set_planning(Planning::off);
    hub.set_planning(Planning::on);
    REQUIRE(hub.run_to(begin + kUntilRest + hours(1)).has_value());
    REQUIRE(hub.writes().size() == writes);
    REQUIRE(hub.state().writes.outstanding.empty());
    std::string grants;
    for (const auto& [name, claim] : hub.state().claims.by_name)
      for (const Grant& grant : claim.grants)
        grants += name + " " + grant.row.cluster_queue + " " + grant.row.flavor + " " +
                  std::to_string(grant.granted) + "\n";
    for (const auto& [name, queue] : hub.state().queues.by_name)
      if (queue.present) grants += name + " " + quotas_of(queue) + "\n";
    const auto [at, first] = granted_at_rest_.emplace(place.latest, grants);
    REQUIRE(at->second == grants);
  }

  const Story& story_;
  const StoryBounds bounds_;
  StoryCounts counts_;
  std::vector<std::string> path_;
  std::set<std::string> seen_;
  std::map<std::map<std::string, std::size_t>, std::string> granted_at_rest_;
};

}  // namespace

StoryCounts explore(const Story& story, const StoryBounds& bounds) {
  return Exploration(story, bounds).run();
}

}  // namespace fairlead
