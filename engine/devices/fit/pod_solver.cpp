#include "engine/devices/fit/pod_solver.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/devices/fit/node_filter.h"

namespace fairlead::fitting {

namespace {

// Source: resource.k8s.io/v1 AllocationResultsMaxSize.
constexpr std::int64_t kResultsMax = 32;

}  // namespace

PodOutcome PodSolver::first(const PodPlan& plan, DeviceNode& node, PodSearch& pod) {
  pod.plan = &plan;
  pod.node = &node;
  pod.first_pick = taken_.picks().size();
  pod.first_open = opens_.size();
  pod.first_plugin_pick = taken_.plugin_picks();
  pod.alls.assign(plan.alls, {});
  // The scheduler compares amounts before it looks for devices, so no error is met here.
  if (!plugins_have_enough(pod)) return PodOutcome::none;
  if (plan.alls > 0 && !precheck(pod)) return PodOutcome::unfit;
  // The Resolver has bounded the counts that requests name; how many "all" is depends on the node.
  if (plan.alls > 0 && exceeds_results(pod)) return PodOutcome::none;
  const PodOutcome outcome = run(pod, Signal::forward);
  if (outcome == PodOutcome::found) take_of_plugins(pod);
  return outcome;
}

// No two requests are for the same resource, because each is named by its resource.
bool PodSolver::plugins_have_enough(const PodSearch& pod) const {
  return std::all_of(pod.plan->requests.begin(), pod.plan->requests.end(),
                     [&](const Request& request) {
                       return !is_offered(request, *pod.node) ||
                              taken_.plugin_left(*pod.node, request.extended) >= amount_of(request);
                     });
}

void PodSolver::take_of_plugins(const PodSearch& pod) {
  for (const Request& request : pod.plan->requests)
    if (is_offered(request, *pod.node))
      taken_.take_of_plugin(*pod.node, request.extended, amount_of(request));
}

bool PodSolver::is_empty(const PodSearch& pod) const {
  return taken_.picks().size() == pod.first_pick && taken_.plugin_picks() == pod.first_plugin_pick;
}

// The scheduler counts what "all" is before it searches, and fails if it cannot.
bool PodSolver::precheck(PodSearch& pod) {
  const auto each = [&](const auto& visit) {
    for (const Request& request : pod.plan->requests)
      for (const Ask& ask : request.asks)
        if (ask.all() && !is_offered(request, *pod.node) && !visit(request, ask)) return false;
    return true;
  };
  const bool complete = each([&](const Request&, const Ask&) {
    const IndexedPool* pool = incomplete_pool(devices_, *pod.node);
    if (pool && findings_.pool_updating.empty())
      findings_.pool_updating = pool->driver() + "/" + pool->name();
    return !pool;
  });
  return complete &&
         each([&](const Request& request, const Ask& ask) { return find_all(pod, request, ask); });
}

bool PodSolver::find_all(PodSearch& pod, const Request& request, const Ask& ask) {
  if (ask.nothing) return true;
  std::vector<Position>& all = pod.alls[ask.all_number];
  const auto& places = devices_.places(*pod.node);
  for (std::uint32_t place = 0; place < places.size(); ++place)
    for (std::uint32_t index = places[place].begin; index < places[place].end; ++index) {
      const Device& device = places[place].pool->devices[index];
      std::size_t failed = 0;
      const SelectorVerdict verdict = devices_.verdict(device, ask.list, failed);
      if (verdict == SelectorVerdict::error) {
        note_error(pod, request, ask, failed);
        return false;
      }
      if (verdict == SelectorVerdict::yes &&
          taken_.capacities_fit(device, ask, Shares::of_earlier_pods))
        all.push_back({place, index});
    }
  return true;
}

// Whether a claim would have too many devices, whichever alternatives are chosen.
bool PodSolver::exceeds_results(const PodSearch& pod) const {
  std::vector<std::int64_t> least(pod.plan->claims.size());
  for (const Request& request : pod.plan->requests) {
    if (is_offered(request, *pod.node)) continue;
    std::int64_t fewest = kResultsMax + 1;
    for (const Ask& ask : request.asks) fewest = std::min(fewest, wanted(pod, ask));
    least[request.claim] += fewest;
  }
  return std::any_of(least.begin(), least.end(),
                     [](auto devices) { return devices > kResultsMax; });
}

PodOutcome PodSolver::run(PodSearch& pod, Signal signal) {
  for (;;) switch (signal) {
      case Signal::forward: signal = forward(pod); break;
      case Signal::done: return PodOutcome::found;
      case Signal::failed:
        if (opens_.size() == pod.first_open) return PodOutcome::none;
        signal = retry(pod);
        break;
      case Signal::exceeded:
        if (opens_.size() == pod.first_open) return PodOutcome::none;
        signal = drop_request(pod);
        break;
      case Signal::unfit: abandon(pod); return PodOutcome::unfit;
      // What is taken stays taken: the caller's search ends with this one, and gives it back.
      case Signal::budget: return PodOutcome::budget;
    }
}

// Takes the next device of the request that is open, or opens the next request.
PodSolver::Signal PodSolver::forward(PodSearch& pod) {
  std::uint32_t request = 0;
  if (opens_.size() > pod.first_open) {
    const Open& open = opens_.back();
    const std::size_t taken = taken_.picks().size() - open.first_pick;
    if (static_cast<std::int64_t>(taken) < wanted(pod, ask_of(pod, open))) {
      if (ask_of(pod, open).all()) return pick_of_all(pod);
      Position at;
      if (taken > 0) at = taken_.picks().back().at;
      if (taken > 0) ++at.index;
      return pick_from(pod, at);
    }
    request = open.request + 1;
  }
  const auto& requests = pod.plan->requests;
  while (request < requests.size() && is_offered(requests[request], *pod.node)) ++request;
  if (request == requests.size()) return Signal::done;
  opens_.push_back({request, 0, taken_.picks().size(), true});
  return next_alternative(pod);
}

// Goes on behind the last device that was taken, or with the next alternative.
PodSolver::Signal PodSolver::retry(PodSearch& pod) {
  Open& open = opens_.back();
  const std::size_t picks = taken_.picks().size();
  if (picks > open.first_pick) {
    const Pick& pick = taken_.picks().back();
    Device& device = *pick.device;
    const Position at = pick.at;
    taken_.give_back();
    // A request for all devices needs each of them: there is no other in place of this one.
    if (ask_of(pod, open).all()) return Signal::failed;
    // After give_back(): a device that is taken has no kind.
    note_dead_end(picks - 1, kinds_.of(device));
    return pick_from(pod, {at.place, at.index + 1});
  }
  // This alternative failed for want of devices, not because the claim would have too many of them:
  // other devices of the requests before may help it.
  open.all_exceed = false;
  ++open.alternative;
  return next_alternative(pod);
}

PodSolver::Signal PodSolver::drop_request(PodSearch& pod) {
  Open& open = opens_.back();
  // Only the claim's own devices count towards its bound: a request of another claim goes on as
  // after any failure.
  if (request_of(pod, open).claim != exceeded_claim_) return Signal::failed;
  give_back_to(open.first_pick);
  ++open.alternative;
  return next_alternative(pod);
}

PodSolver::Signal PodSolver::next_alternative(PodSearch& pod) {
  Open& open = opens_.back();
  const Request& request = request_of(pod, open);
  // Dead ends at these depths were noted for another alternative or for other devices before it.
  std::erase_if(dead_ends_, [&](const DeadEnd& one) { return one.depth >= open.first_pick; });
  for (; open.alternative < request.asks.size(); ++open.alternative) {
    const std::int64_t count = wanted(pod, ask_of(pod, open));
    // Kubernetes wants one device at least where all are asked for.
    if (count <= 0 && ask_of(pod, open).all()) {
      open.all_exceed = false;
    } else if (count <= 0 || taken_before(pod, request.claim) + count <= kResultsMax) {
      return Signal::forward;
    }
  }
  exceeded_claim_ = request.claim;
  const Signal signal = open.all_exceed ? Signal::exceeded : Signal::failed;
  opens_.pop_back();
  return signal;
}

// Whether enough devices from `at` on could be taken for what the request still wants, all with one
// value where a constraint says so. If not, the search would try each of them in vain: `failed`, or
// `unfit` if a selector is an error on one of them, which that search would meet.
PodSolver::Signal PodSolver::look_ahead(PodSearch& pod, Position at) {
  const Open& open = opens_.back();
  const Request& request = request_of(pod, open);
  const Ask& ask = ask_of(pod, open);
  const std::string* matched = matched_by(pod.plan->claims[request.claim], ask);
  const auto taken = static_cast<std::int64_t>(taken_.picks().size() - open.first_pick);
  const std::int64_t missing = wanted(pod, ask) - taken;
  std::vector<std::pair<std::string_view, std::int64_t>> found;  // by value
  std::optional<std::size_t> error;
  std::int64_t looked_at = 0;
  const auto& places = devices_.places(*pod.node);
  for (; at.place < places.size(); ++at.place, at.index = 0)
    for (at.index = std::max(at.index, places[at.place].begin); at.index < places[at.place].end;
         ++at.index) {
      IndexedPool& pool = *places[at.place].pool;
      const Device& device = pool.devices[at.index];
      ++looked_at;
      if (taken_.is_out(device, ask, request.claim)) continue;
      std::size_t failed = 0;
      const SelectorVerdict verdict = devices_.verdict(device, ask.list, failed);
      if (verdict == SelectorVerdict::error && !error) error = failed;
      if (verdict != SelectorVerdict::yes || !is_takeable(pod, pool, device)) continue;
      // A device without the attribute breaks the constraint, so is_takeable() has ruled it out.
      const auto value = matched ? *attribute_of(device, *matched) : std::string_view();
      auto of_value = std::find_if(found.begin(), found.end(),
                                   [&](const auto& one) { return one.first == value; });
      if (of_value == found.end()) of_value = found.insert(of_value, {value, 0});
      // Each pick leaves less to the next ones: the count may be too large, never too small. What
      // was looked at is not counted here, because the picks that follow count it.
      if (++of_value->second == missing) return Signal::forward;
    }
  passed_ += looked_at;
  if (is_spent()) return Signal::budget;
  if (!error) return Signal::failed;
  note_error(pod, request, ask, *error);
  return Signal::unfit;
}

PodSolver::Signal PodSolver::pick_from(PodSearch& pod, Position at) {
  const Open& open = opens_.back();
  const Ask& ask = ask_of(pod, open);
  if (ask.nothing) return Signal::failed;
  if (ask.facts->count > 1) {
    const Signal ahead = look_ahead(pod, at);
    if (ahead != Signal::forward) return ahead;
  }
  const auto& places = devices_.places(*pod.node);
  for (; at.place < places.size(); ++at.place, at.index = 0) {
    at.index = std::max(at.index, places[at.place].begin);
    for (; at.index < places[at.place].end; ++at.index) {
      const Try result = attempt(pod, at);
      if (is_spent()) return Signal::budget;
      if (result == Try::taken) return Signal::forward;
      if (result == Try::unfit) return Signal::unfit;
    }
  }
  return Signal::failed;
}

PodSolver::Signal PodSolver::pick_of_all(PodSearch& pod) {
  const Open& open = opens_.back();
  const auto& all = pod.alls[ask_of(pod, open).all_number];
  const Try result = attempt_of_all(pod, all[taken_.picks().size() - open.first_pick]);
  if (is_spent()) return Signal::budget;
  if (result == Try::unfit) return Signal::unfit;
  return result == Try::taken ? Signal::forward : Signal::failed;
}

// Whether a device for which the selectors are true can be the next one of the request.
bool PodSolver::is_takeable(const PodSearch& pod, IndexedPool& pool, const Device& device) {
  const Open& open = opens_.back();
  const Request& request = request_of(pod, open);
  const Ask& ask = ask_of(pod, open);
  const ClaimPlan& claim = pod.plan->claims[request.claim];
  return taken_.capacities_fit(device, ask, Shares::of_all) &&
         taken_.taints_tolerated(device, ask) && taken_.counters_fit(pool, device) &&
         taken_.constraints_hold(device, ask, claim, request.claim);
}

PodSolver::Try PodSolver::attempt(PodSearch& pod, Position at) {
  const Open& open = opens_.back();
  const Request& request = request_of(pod, open);
  const Ask& ask = ask_of(pod, open);
  IndexedPool& pool = *devices_.places(*pod.node)[at.place].pool;
  Device& device = pool.devices[at.index];
  if (is_dead_end(device, taken_.picks().size())) return Try::not_takeable;
  ++passed_;
  if (taken_.is_out(device, ask, request.claim)) return Try::not_takeable;
  ++steps_;
  std::size_t failed = 0;
  const SelectorVerdict verdict = devices_.verdict(device, ask.list, failed);
  if (verdict == SelectorVerdict::error) {
    note_error(pod, request, ask, failed);
    return Try::unfit;
  }
  if (verdict != SelectorVerdict::yes || !is_takeable(pod, pool, device)) return Try::not_takeable;
  taken_.take(pool, device, ask, request.claim, at);
  return Try::taken;
}

PodSolver::Try PodSolver::attempt_of_all(PodSearch& pod, Position at) {
  const Open& open = opens_.back();
  const Request& request = request_of(pod, open);
  const Ask& ask = ask_of(pod, open);
  IndexedPool& pool = *devices_.places(*pod.node)[at.place].pool;
  Device& device = pool.devices[at.index];
  ++steps_;
  if (taken_.is_out(device, ask, request.claim) || !taken_.taints_tolerated(device, ask) ||
      !taken_.counters_fit(pool, device))
    return Try::not_takeable;
  // The scheduler gives the node up when a request for all devices meets one that a constraint
  // forbids. It looks at capacities after that.
  if (!taken_.constraints_hold(device, ask, pod.plan->claims[request.claim], request.claim))
    return Try::unfit;
  if (!taken_.capacities_fit(device, ask, Shares::of_all)) return Try::not_takeable;
  taken_.take(pool, device, ask, request.claim, at);
  return Try::taken;
}

void PodSolver::abandon(PodSearch& pod) {
  taken_.give_back_of_plugins(pod.first_plugin_pick);
  give_back_to(pod.first_pick);
  opens_.resize(pod.first_open);
  std::erase_if(dead_ends_, [&](const DeadEnd& one) { return one.depth >= pod.first_pick; });
}

void PodSolver::give_back_to(std::size_t picks) {
  while (taken_.picks().size() > picks) taken_.give_back();
}

std::int64_t PodSolver::wanted(const PodSearch& pod, const Ask& ask) {
  if (!ask.all()) return ask.facts->count;
  return static_cast<std::int64_t>(pod.alls[ask.all_number].size());
}

// Returns how many devices the claim has for its requests before the one that was opened last.
std::int64_t PodSolver::taken_before(const PodSearch& pod, std::uint32_t claim) const {
  std::size_t first = opens_.back().first_pick;
  for (std::size_t i = opens_.size(); i > pod.first_open; --i) {
    // The requests of a claim are next to each other in the plan, and so are their picks.
    if (request_of(pod, opens_[i - 1]).claim != claim) break;
    first = opens_[i - 1].first_pick;
  }
  return static_cast<std::int64_t>(opens_.back().first_pick - first);
}

void PodSolver::note_error(const PodSearch& pod, const Request& request, const Ask& ask,
                           std::size_t failed) {
  if (!findings_.selector_error.empty()) return;
  findings_.selector_error = failed < ask.of_class
                                 ? ask.facts->device_class
                                 : pod.plan->claims[request.claim].entry + "/" + request.name;
}

// Dead ends further down were found beside a pick that has just been given back, so they no longer
// hold. Without them depths ascend in dead_ends_, and the entries of this depth are its last.
void PodSolver::note_dead_end(std::size_t depth, std::optional<std::uint32_t> kind) {
  std::erase_if(dead_ends_, [&](const DeadEnd& one) { return one.depth > depth; });
  if (kind) dead_ends_.push_back({depth, *kind});
}

bool PodSolver::is_dead_end(const Device& device, std::size_t depth) {
  if (dead_ends_.empty() || dead_ends_.back().depth != depth) return false;
  const auto kind = kinds_.of(device);
  return kind && std::any_of(dead_ends_.begin(), dead_ends_.end(), [&](const DeadEnd& one) {
           return one.depth == depth && one.kind == *kind;
         });
}

std::int64_t PodSolver::alternatives() const {
  std::int64_t sum = 0;
  for (const Open& open : opens_) sum += open.alternative;
  return sum;
}

}  // namespace fairlead::fitting
