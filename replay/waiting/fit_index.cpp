#include "replay/waiting/fit_index.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace fairlead {

namespace {

struct Demand {
  Requests requests;
  std::shared_ptr<FitHistory> history = std::make_shared<FitHistory>();
  std::size_t users = 0;
  std::size_t number = 0;  // orders demands by when they came
};

}  // namespace

struct FitIndex::Watched {
  QueueRooms rooms;
  std::map<Requests, Demand> demands;
  // By resource, every demand at the amount that it asks for, and by its number.
  using ByAmount = std::map<std::pair<Amount, std::size_t>, Demand*>;
  std::map<std::string, ByAmount> by_amount;
  std::size_t next_number = 0;

  using Candidates = std::map<std::size_t, Demand*>;
  // Those for which it matters whether `before` or `after` is the room for them.
  void add_between(const std::string& resource, Amount before, Amount after,
                   Candidates& out) const {
    const auto of = by_amount.find(resource);
    if (of == by_amount.end() || before == after) return;
    const auto end = of->second.upper_bound({std::max(before, after), SIZE_MAX});
    for (auto at = of->second.upper_bound({std::min(before, after), SIZE_MAX}); at != end; ++at)
      out.emplace(at->second->number, at->second);
  }
  Candidates moved_by(const QueueRooms& after) const {
    Candidates out;
    for (const QueueShape::Group& group : rooms.shape->groups)
      for (const QueueShape::Flavor& flavor : group.flavors)
        for (std::size_t i = 0; i < flavor.resources.size(); ++i) {
          const QuotaRoom& old = rooms.rooms[flavor.first_slot + i];
          const QuotaRoom& now = after.rooms[flavor.first_slot + i];
          if (old == now) continue;
          add_between(flavor.resources[i], old.available, now.available, out);
          add_between(flavor.resources[i], old.potential, now.potential, out);
        }
    return out;
  }
  Candidates all() {
    Candidates out;
    for (auto& [requests, demand] : demands) out.emplace(demand.number, &demand);
    return out;
  }
};

FitIndex::FitIndex() = default;
FitIndex::~FitIndex() = default;
FitIndex::FitIndex(FitIndex&&) noexcept = default;
FitIndex& FitIndex::operator=(FitIndex&&) noexcept = default;

std::shared_ptr<const FitHistory> FitIndex::watch(const std::string& queue,
                                                  const Requests& requests, LogTime now) {
  const auto [at, is_new] = watched_.try_emplace(queue);
  Watched& watched = at->second;
  if (is_new) quotas_.read(queue, watched.rooms);
  Demand& demand = watched.demands[requests];
  if (demand.users++ == 0) {
    demand.requests = requests;
    demand.number = watched.next_number++;
    demand.history->steps.push_back({now, fit_of(requests, watched.rooms), {}});
    for (const auto& [resource, amount] : requests)
      watched.by_amount[resource].emplace(std::pair{amount, demand.number}, &demand);
  }
  return demand.history;
}

void FitIndex::forget(const std::string& queue, const Requests& requests) {
  const auto at = watched_.find(queue);
  if (at == watched_.end()) return;
  Watched& watched = at->second;
  const auto demand = watched.demands.find(requests);
  if (demand == watched.demands.end() || --demand->second.users > 0) return;
  for (const auto& [resource, amount] : requests)
    watched.by_amount[resource].erase({amount, demand->second.number});
  watched.demands.erase(demand);
  if (watched.demands.empty()) watched_.erase(at);
}

std::vector<Shortage> FitIndex::shortage(const std::string& queue, const Requests& requests) const {
  const auto at = watched_.find(queue);
  return at == watched_.end() ? std::vector<Shortage>() : shortage_of(requests, at->second.rooms);
}

void FitIndex::begin_step(FitHistory& history, FitStep step, std::vector<Shortage> before) const {
  history.steps.back().at_end = std::move(before);
  if (!keeps_all_) history.steps.clear();
  history.steps.push_back(std::move(step));
}

void FitIndex::follow(Watched& watched, const QueueRooms& rooms, LogTime now,
                      const std::vector<Seq>& causes) {
  const bool same_shape =
      watched.rooms.shape && rooms.shape &&
      (watched.rooms.shape == rooms.shape || *watched.rooms.shape == *rooms.shape);
  for (const auto& [number, demand] : same_shape ? watched.moved_by(rooms) : watched.all()) {
    const QuotaFit fit = fit_of(demand->requests, rooms);
    if (fit == demand->history->steps.back().fit) continue;
    begin_step(*demand->history, {now, fit, causes}, shortage_of(demand->requests, watched.rooms));
  }
  watched.rooms = rooms;
}

void FitIndex::settle(LogTime now) {
  QueueRooms rooms;
  for (const QuotaTree::Change& change : quotas_.settle())
    for (const std::string& queue : change.queues) {
      const auto at = watched_.find(queue);
      if (at == watched_.end()) continue;
      quotas_.read(queue, rooms);
      if (rooms == at->second.rooms) continue;
      follow(at->second, rooms, now, change.causes);
    }
}

void FitIndex::mark(LogTime now) {
  for (auto& [queue, watched] : watched_)
    for (auto& [requests, demand] : watched.demands) {
      begin_step(*demand.history, {now, demand.history->steps.back().fit, {}},
                 shortage_of(requests, watched.rooms));
    }
}

}  // namespace fairlead
