#include "engine/devices/fit/gang_search.h"

#include <algorithm>

namespace fairlead::fitting {

GangSearch::GangSearch(ClusterDeviceIndex& devices, const FitQuestion& question,
                       const GangPlan& gang, std::int64_t steps_max)
    : devices_(devices),
      gang_(gang),
      taken_(devices),
      kinds_(devices, taken_, gang),
      filter_(devices, question, gang),
      supply_(devices, taken_, filter_, gang),
      solver_(devices, taken_, kinds_, steps_max),
      independent_(independent()),
      failed_(gang.plans.size() * devices.nodes().size()) {}

GangOutcome GangSearch::run() {
  if (gang_.runs.empty()) return GangOutcome::found;
  // A single pod is always searched for: Reasons takes what keeps it out from the findings of this
  // search.
  const bool several = gang_.runs.size() > 1 || gang_.runs.front().count > 1;
  if (several && !may_hold_rest()) return GangOutcome::none;
  bool placed = place_next();
  for (;;) {
    if (solver_.is_spent()) return GangOutcome::budget;
    if (placed) {
      if (!has_next()) return GangOutcome::found;
      taken_.enter_pod();
      placed = place_next();
      continue;
    }
    tight_ = true;
    drop_last();
    if (frames_.empty()) return GangOutcome::none;
    placed = go_on(frames_.back());
  }
}

// Drops the last pod, which found no node. Where pods cannot affect each other (independent()) and
// this one passed over no node, every node is full from the node of the pod before it on. If the
// two pods are equal, that pod cannot move on either: it is dropped, too, and so on up to a pod
// that passed over a node. So a gang of equal pods that is too big costs no search.
void GangSearch::drop_last() {
  const std::uint32_t run = frames_.back().run;
  for (;;) {
    const Frame& last = frames_.back();
    const std::uint32_t first = last.first;
    const bool full = independent_ && !last.skipped;
    frames_.pop_back();
    if (frames_.empty()) return;
    // Its picks have been given back, so the state is what the pods before it have left.
    dead_ends_.emplace(frames_.size(), first, taken_.state());
    taken_.return_to_pod();
    if (!full || frames_.back().run != run) return;
    solver_.abandon(frames_.back().pod);
  }
}

bool GangSearch::has_next() const {
  return frames_.back().left > 0 || frames_.back().run + 1 < gang_.runs.size();
}

bool GangSearch::place_next() {
  push_next();
  return !ends_in_error(frames_.back()) && place(frames_.back());
}

void GangSearch::push_next() {
  Frame next;
  if (!frames_.empty()) {
    const Frame& last = frames_.back();
    next.run = last.left > 0 ? last.run : last.run + 1;
    next.left = last.left > 0 ? last.left - 1 : gang_.runs[next.run].count - 1;
  } else {
    next.left = gang_.runs.front().count - 1;
  }
  next.first = next.node = first_node(next);
  next.pod.first_pick = taken_.picks().size();
  frames_.push_back(std::move(next));
}

// Of two equal pods the later one need not look at nodes before the earlier one's: with the two
// swapped, that solution would have come first.
std::uint32_t GangSearch::first_node(const Frame& frame) const {
  if (frames_.empty() || !independent_ || frames_.back().run != frame.run) return 0;
  return frames_.back().node;
}

// Whether pods on different nodes cannot affect each other. Then it depends on the node alone how
// many equal pods fit on it, and their order does not matter. Pods do affect each other where a
// pool with devices for one of them reaches several nodes.
bool GangSearch::independent() {
  // Whether a later pod meets an error depends on what was taken before it.
  for (std::uint32_t plan = 0; plan < gang_.plans.size(); ++plan)
    if (!filter_.fallible(plan).empty()) return false;
  const auto& wide = devices_.wide_pools();
  const auto wanted = [&](const Ask& ask) {
    return !ask.nothing && std::any_of(wide.begin(), wide.end(), [&](IndexedPool* pool) {
      const PoolTally tally = devices_.tally(*pool, ask.list, TallyOf::all);
      return tally.yes > 0 || tally.has_errors;
    });
  };
  for (const PodPlan& plan : gang_.plans)
    for (const Request& request : plan.requests)
      if (std::any_of(request.asks.begin(), request.asks.end(), wanted)) return false;
  return true;
}

// Whether the scheduler gives the pod up because its allocator meets an error on a node that the
// pod may be on, even if others would do. Asks every node, so that each kind of error is found.
// Source: Kubernetes 1.36, pkg/scheduler/schedule_one.go: an error of a filter ends the cycle.
bool GangSearch::ends_in_error(const Frame& frame) {
  const std::uint32_t plan = gang_.runs[frame.run].plan;
  // Where the pod before it has the same plan, only the node of that pod has changed since.
  const Frame* last = frames_.size() > 1 ? &frames_[frames_.size() - 2] : nullptr;
  if (last && (gang_.runs[last->run].plan != plan || !devices_.wide_pools().empty()))
    last = nullptr;
  bool ends = false;
  for (const std::uint32_t node : filter_.fallible(plan))
    if (!last || last->node == node) ends = is_error(frame, node) || ends;
  return ends;
}

bool GangSearch::is_error(const Frame& frame, std::uint32_t number) {
  const std::uint32_t plan = gang_.runs[frame.run].plan;
  DeviceNode& node = *devices_.nodes()[number];
  if (!filter_.is_usable(plan, node) || !is_where_claims_are(frame, node)) return false;
  // Either answer will do: run() ends the search because of its steps.
  if (solver_.is_spent()) return true;
  solver_.count_passed();
  errors_.resize(failed_.size());
  ErrorOf& known = errors_[plan * devices_.nodes().size() + number];
  if (known.versions == versions(node)) return known.is_error;
  PodSearch pod;
  const PodOutcome outcome = solver_.first(gang_.plans[plan], node, pod);
  if (outcome == PodOutcome::found) solver_.abandon(pod);
  // The versions of now: the search raised them, and took nothing that it did not give back.
  known = {versions(node), outcome == PodOutcome::unfit};
  return known.is_error;
}

// Looks for a node for the frame's pod from frame.node on.
bool GangSearch::place(Frame& frame) {
  const auto& nodes = devices_.nodes();
  const std::uint32_t plan = gang_.runs[frame.run].plan;
  for (; frame.node < nodes.size(); ++frame.node) {
    if (!filter_.may_fit(plan, frame.node)) continue;
    DeviceNode& node = *nodes[frame.node];
    if (!filter_.is_usable(plan, node)) continue;
    std::uint64_t& failed = failed_[plan * nodes.size() + frame.node];
    if (failed != 0 && failed == versions(node)) continue;
    if (!is_where_claims_are(frame, node)) continue;
    const PodOutcome outcome = solver_.first(gang_.plans[plan], node, frame.pod);
    if (outcome == PodOutcome::none || outcome == PodOutcome::unfit) {
      failed = versions(node);
      continue;
    }
    if (outcome == PodOutcome::found && accept(frame)) return true;
    if (solver_.is_spent()) return false;
  }
  return false;
}

// Goes on with the last pod to later nodes.
bool GangSearch::go_on(Frame& frame) {
  // A pod that took nothing leaves the same to the others, wherever it is.
  const bool empty = solver_.is_empty(frame.pod);
  solver_.abandon(frame.pod);
  frame.skipped = true;
  if (empty) return false;
  ++frame.node;
  return place(frame);
}

// Whether this solution leaves enough for the pods to come; it is given back if not.
bool GangSearch::accept(Frame& frame) {
  if (solver_.is_empty(frame.pod)) solver_.count_step();
  if (!tight_ || (!has_failed(frame) && may_hold_rest())) return true;
  solver_.abandon(frame.pod);
  frame.skipped = true;
  return false;
}

// Whether the pods after this one have already failed beside what is taken now. Not known where
// pods share named claims: where a pod may go then also depends on which pod holds a claim.
bool GangSearch::has_failed(const Frame& frame) const {
  if (!gang_.solvers.empty() || !has_next()) return false;
  // As first_node() will choose it for the next pod: run() has noted the dead end with that.
  const std::uint32_t first = independent_ && frame.left > 0 ? frame.node : 0;
  return dead_ends_.contains({frames_.size(), first, taken_.state()});
}

bool GangSearch::may_hold_rest() {
  if (frames_.empty()) {
    return std::all_of(gang_.runs.begin(), gang_.runs.end(),
                       [&](const Run& run) { return supply_.may_hold(run.plan, run.count); });
  }
  // What the last pod takes with adminAccess does not count for the pods to come.
  taken_.enter_pod();
  bool may = true;
  const Frame& last = frames_.back();
  if (last.left > 0) may = supply_.may_hold(gang_.runs[last.run].plan, last.left);
  for (std::size_t run = last.run + 1; may && run < gang_.runs.size(); ++run)
    may = supply_.may_hold(gang_.runs[run].plan, gang_.runs[run].count);
  taken_.return_to_pod();
  return may;
}

// Named claims that earlier pods are solved with: the node must be reached by their devices.
bool GangSearch::is_where_claims_are(const Frame& frame, const DeviceNode& node) const {
  for (const Pin& pin : gang_.plans[gang_.runs[frame.run].plan].pins) {
    if (!pin.named) continue;
    const auto solver = static_cast<std::size_t>(gang_.solvers[*pin.named]);
    if (solver + 1 == frames_.size()) continue;  // by this pod, with another entry
    // A frame follows the solver's, this pod's own at the latest.
    const auto end = frames_[solver + 1].pod.first_pick;
    const auto& claims = frames_[solver].pod.plan->claims;
    for (std::size_t i = frames_[solver].pod.first_pick; i < taken_.picks().size() && i < end;
         ++i) {
      const Pick& pick = taken_.picks()[i];
      if (claims[pick.claim].named == pin.named && !devices_.reaches_node(*pick.device, node))
        return false;
    }
  }
  return true;
}

// Versions only rise while a gang is searched, so an equal sum means that each of them is equal.
// They rise also when a device is given back: a state that was there before is recognized by
// Taken::state() alone (dead_ends_).
std::uint64_t GangSearch::versions(DeviceNode& node) {
  std::uint64_t sum = 1 + taken_.plugin_version(node);  // 0 says that nothing has failed
  for (const DevicePlace& place : devices_.places(node)) sum += place.pool->version;
  return sum;
}

void GangSearch::write(FitAnswer& answer) const {
  answer.alternatives = solver_.alternatives();
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const Frame& frame = frames_[i];
    FitPod& pod = answer.pods.emplace_back();
    pod.pod_set = gang_.runs[frame.run].pod_set;
    pod.node = frame.pod.node->name();
    for (const ClaimPlan& claim : frame.pod.plan->claims) pod.claims.push_back({claim.entry, {}});
    for (const Request& request : frame.pod.plan->requests)
      if (is_offered(request, *frame.pod.node))
        pod.claims[request.claim].of_plugin = amount_of(request);
    const std::size_t end =
        i + 1 < frames_.size() ? frames_[i + 1].pod.first_pick : taken_.picks().size();
    for (std::size_t at = frame.pod.first_pick; at < end; ++at) {
      const Pick& pick = taken_.picks()[at];
      FitDevice& device = pod.claims[pick.claim].devices.emplace_back();
      device.request = pick.ask->name;
      device.device = {pick.pool->driver(), pick.pool->name(), pick.device->facts().name};
      device.admin = pick.admin;
      device.share = pick.device->shared;
      for (std::size_t c = 0; c < pick.consumed.size(); ++c) {
        const DeviceCapacity& capacity = pick.device->facts().capacity[c];
        device.consumed[capacity.name] = {pick.consumed[c], capacity.value.format()};
      }
    }
  }
}

}  // namespace fairlead::fitting
