#include "engine/fold/multikueue/worker_quota.h"

#include <algorithm>
#include <utility>

#include "engine/fold/cluster.h"
#include "engine/fold/queues.h"

namespace fairlead {

namespace {

// The Placements whose workers the queue dispatches to.
std::set<std::string> placements_of(const State& state, const Queue& queue) {
  std::set<std::string> placements;
  for (const std::string& name : queue.facts.admission_checks) {
    const auto check = state.multikueue.checks.find(name);
    if (check == state.multikueue.checks.end() || !check->second.ours) continue;
    if (!check->second.placement.empty()) placements.insert(check->second.placement);
  }
  return placements;
}

// A leaver still takes work until it has been absent for good.
bool counts(const State& state, const WorkerList& list, const Worker& worker) {
  if (!worker.listed || worker.cluster.empty()) return false;
  return worker.selected || list.frozen_since || list.use == ListUse::kept ||
         state.now < worker.since + list.windows.move_window;
}

// By cluster: what brought it there.
using Workers = std::map<std::string, std::vector<Seq>>;
Workers workers_of(const State& state, const Queue& queue) {
  Workers workers;
  for (const std::string& placement : placements_of(state, queue)) {
    const auto list = state.multikueue.lists.find(placement);
    if (list == state.multikueue.lists.end()) continue;
    for (const auto& [name, worker] : list->second.workers)
      if (counts(state, list->second, worker)) workers[worker.cluster] = worker.because;
  }
  return workers;
}

bool is_watched(const Cluster& cluster) {
  return cluster.nodes_known || !cluster.member_queues.empty() ||
         !cluster.member_local_queues.empty();
}

bool has_claim(const State& state, const std::string& queue, const std::string& cluster) {
  const auto claims = state.claims_of_queue.find(queue);
  return claims != state.claims_of_queue.end() &&
         std::any_of(claims->second.begin(), claims->second.end(), [&](const std::string& name) {
           return state.claims.at(name).terms->cluster == cluster;
         });
}

ShareFrom source_of(const State& state, const std::string& queue, const std::string& cluster) {
  const auto at = state.clusters.find(cluster);
  if (at != state.clusters.end() && at->second.detached) return ShareFrom::detached;
  if (at != state.clusters.end() && is_watched(at->second)) return ShareFrom::member;
  return has_claim(state, queue, cluster) ? ShareFrom::claims : ShareFrom::unwatched;
}

struct Offer {
  std::map<QuotaKey, Int128> sums;
  std::vector<Seq> because;
};
Offer offer_of(const State& state, const std::string& queue, const Cluster& cluster) {
  Offer offer;
  for (const std::string& name : related_queues(state, queue, cluster)) {
    const auto at = cluster.member_queues.find(name);
    if (at == cluster.member_queues.end()) continue;
    offer.because.push_back(at->second.seq);
    for (const ResourceGroup& group : at->second.groups)
      for (const FlavorQuotas& flavor : group.flavors)
        for (const ResourceQuota& quota : flavor.resources) {
          const std::string& resource =
              canonical_resource(state.configuration.resource_aliases, quota.name);
          offer.sums[{flavor.name, resource}] += to_amount(resource, quota.nominal);
        }
  }
  std::sort(offer.because.begin(), offer.because.end());
  return offer;
}

// One share at one moment.
struct Judging {
  const State& state;
  WorkerShare& share;
  DebounceSettings settings;
  Liveness liveness = Liveness::live;
  LogTime next = kForever;
};

// True if a value is another than before.
bool measure(Judging& of, const Offer& offer) {
  for (const auto& [pair, sum] : offer.sums) of.share.values.try_emplace(pair);
  bool changed = false;
  for (auto& [pair, damped] : of.share.values) {
    const auto sum = offer.sums.find(pair);
    const Amount amount = sum == offer.sums.end() ? 0 : saturate(sum->second);
    if (!damped.high.empty() && damped.usable == amount) continue;
    if (damped.high.empty() && of.share.known) damped.observe(LogTime{0}, 0, 0);
    damped.observe(of.state.now, amount, amount);
    of.share.last_changed = of.state.now;
    changed = true;
  }
  return changed;
}

void judge_liveness(Judging& of) {
  if (of.liveness == of.share.was) return;
  of.share.was = of.liveness;
  if (of.liveness != Liveness::live) return;
  for (auto& [pair, damped] : of.share.values) damped.begin_anew(of.state.now);
  of.share.first_valued = of.share.last_changed = of.state.now;
}

// As a cluster's first value; of a worker that nobody watches there is only an end of waiting.
void accept_first(Judging& of) {
  const DebounceSettings& settings = of.settings;
  const LogTime quiet = of.share.from == ShareFrom::unwatched
                            ? kForever
                            : of.share.last_changed + settings.first_quiet;
  const LogTime latest = of.share.first_valued + settings.grow_window;
  const bool at_once = settings.grow_window.ns == 0 || settings.first_quiet.ns == 0;
  const LogTime now = of.state.now;
  if (of.liveness != Liveness::live) return;
  if (!at_once && now < quiet && now < latest) {
    of.next = std::min({of.next, quiet, latest});
    return;
  }
  for (auto& [pair, damped] : of.share.values)
    damped.accept_first(at_once || now >= quiet ? damped.usable
                                                : damped.low.over(now, settings.grow_window));
  of.share.known = true;
}

void step(Judging& of) {
  if (of.liveness == Liveness::lost) return;
  const Fall fall = of.share.from == ShareFrom::detached ? Fall::at_once : Fall::damped;
  const Growth growth = of.liveness == Liveness::live ? Growth::allowed : Growth::frozen;
  for (auto& [pair, damped] : of.share.values) {
    damped.step(of.state.now, of.settings, quantum_of(pair.resource), fall, growth);
    of.next = std::min(of.next, damped.next_deadline(of.state.now, of.settings));
  }
}

void judge_share(const State& state, const std::string& queue, const std::string& name,
                 WorkerShare& share, const std::vector<Seq>& because, LogTime& next) {
  if (share.from == ShareFrom::claims) {
    share.known = true;
    return;
  }
  const auto at = state.clusters.find(name);
  const bool offers = share.from == ShareFrom::member;
  Judging of{state, share, settings_of(state, name),
             at == state.clusters.end() ? Liveness::live : at->second.was};
  const Offer offer = offers ? offer_of(state, queue, at->second) : Offer{};
  if (measure(of, offer)) {
    for (const Seq seq : because) remember(share.because, seq);
    for (const Seq seq : offer.because) remember(share.because, seq);
  }
  judge_liveness(of);
  if (share.known)
    step(of);
  else
    accept_first(of);
  next = std::min(next, of.next);
}

// It gives nothing any more, and nothing that it gave still counts.
bool is_over(const WorkerShare& share) {
  const bool gone = share.from == ShareFrom::left || share.from == ShareFrom::detached;
  return gone && (!share.known ||
                  std::all_of(share.values.begin(), share.values.end(),
                              [](const auto& entry) { return entry.second.accepted == 0; }));
}

void judge_shares(State& state, const std::string& name, Queue& queue) {
  const Workers workers = workers_of(state, queue);
  auto& shares = queue.workers.shares;
  for (const auto& [cluster, because] : workers) {
    const auto [at, added] = shares.try_emplace(cluster);
    if (added) at->second.first_valued = at->second.last_changed = state.now;
  }
  LogTime next = kForever;
  for (auto& [cluster, share] : shares) {
    const auto worker = workers.find(cluster);
    const ShareFrom from =
        worker == workers.end() ? ShareFrom::left : source_of(state, name, cluster);
    // What somebody else tells from now on is waited for again.
    if (from == ShareFrom::member &&
        (share.from == ShareFrom::unwatched || share.from == ShareFrom::claims)) {
      share = {};
      share.first_valued = share.last_changed = state.now;
    }
    share.from = from;
    judge_share(state, name, cluster, share,
                worker == workers.end() ? std::vector<Seq>{} : worker->second, next);
  }
  std::erase_if(shares, [](const auto& entry) { return is_over(entry.second); });
  state.deadlines.set(QuotaDeadline{name}, next);
  const bool told =
      !shares.empty() && std::all_of(shares.begin(), shares.end(),
                                     [](const auto& entry) { return entry.second.known; });
  if (told) queue.workers.known = true;
}

// What stands is the administrator's again, as it stands.
void stop_following(State& state, const std::string& name, Queue& queue) {
  queue.workers.follows = queue.workers.known = false;
  queue.workers.shares.clear();
  const std::set<QuotaKey> named = named_pairs(state, name);
  std::erase_if(queue.written, [&](const auto& entry) { return !named.contains(entry.first); });
  state.deadlines.set(QuotaDeadline{name}, kForever);
}

void judge_follower(State& state, const std::string& name) {
  const auto at = state.queues.find(name);
  if (at == state.queues.end()) return;
  Queue& queue = at->second;
  const bool follows = queue.present && queue.workers.asked && !placements_of(state, queue).empty();
  const bool before = std::exchange(queue.workers.follows, follows);
  if (follows) judge_shares(state, name, queue);
  if (!follows && before) stop_following(state, name, queue);
  if (follows || before) touch_queue(state, name);
}

}  // namespace

void open_follower(State& state, const std::string& queue) {
  const auto at = state.queues.find(queue);
  if (at == state.queues.end()) return;
  const WorkerQuota& terms = at->second.workers;
  auto& followers = state.multikueue.followers;
  const bool was = followers.contains(queue);
  const bool is = at->second.present && (terms.asked || !terms.malformed.empty());
  if (is) followers.insert(queue);
  if (!is) followers.erase(queue);
  if (is || was) state.multikueue.open_followers.insert(queue);
}

void open_followers(State& state) {
  state.multikueue.open_followers.insert(state.multikueue.followers.begin(),
                                         state.multikueue.followers.end());
}

void close_worker_quotas(State& state) {
  for (const std::string& name : state.multikueue.followers)
    if (state.open_queues.contains(name)) state.multikueue.open_followers.insert(name);
  for (const std::string& name : std::exchange(state.multikueue.open_followers, {}))
    judge_follower(state, name);
}

std::set<std::string> related_queues(const State& state, const std::string& queue,
                                     const Cluster& cluster) {
  std::set<std::string> related;
  for (const auto& [id, local_queue] : state.local_queues) {
    if (local_queue.cluster_queue != queue) continue;
    const auto there = cluster.member_local_queues.find(id);
    if (there != cluster.member_local_queues.end()) related.insert(there->second);
  }
  return related;
}

Amount share_of(const State& state, const std::string& cluster, const WorkerShare& share,
                const QuotaKey& pair) {
  const auto value = share.values.find(pair);
  if (!share.known || value == share.values.end()) return 0;
  const auto at = state.clusters.find(cluster);
  return at != state.clusters.end() && at->second.hub_opens ? 0 : value->second.accepted;
}

}  // namespace fairlead
