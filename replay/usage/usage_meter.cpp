#include "replay/usage/usage_meter.h"

#include <algorithm>
#include <type_traits>

#include "engine/fold/usage/queue_use.h"

namespace fairlead {

namespace {

UsageRowKey row_at(const SourceName& source) {
  UsageRowKey key;
  key.side = source == kHub ? kHubSide : kWorkerSide;
  key.cluster = source;
  return key;
}

UsageRowKey row_of_pair(UsageBy by, const SourceName& source, const std::string& name,
                        const UsageQueue& queue, const UsePair& pair) {
  UsageRowKey key = row_at(source);
  if (by != UsageBy::resource) key.flavor = pair.first;
  key.resource = pair.second;
  if (by == UsageBy::queue) {
    key.key = name;
    key.uid = queue.uid;
  } else if (by == UsageBy::cohort) {
    key.key = queue.cohort;
  } else if (by == UsageBy::flavor) {
    key.key = pair.first;
  } else if (by == UsageBy::resource) {
    key.key = pair.second;
  } else if (by == UsageBy::cluster) {
    key.key = source;
  }
  return key;
}

std::string key_of_workload(const UsageView& view, const NamespacedName& id,
                            const UsageWorkload& workload) {
  if (view.by == UsageBy::namespace_) return id.first;
  if (view.by == UsageBy::owner) return workload.owner;
  const auto label = workload.labels.find(view.label);
  return label == workload.labels.end() ? std::string() : label->second;
}

const std::string& spelled_canonically(const std::map<std::string, std::string>& aliases,
                                       const std::string& resource) {
  const auto alias = aliases.find(resource);
  return alias == aliases.end() ? resource : alias->second;
}

UsageQueue usage_queue(const std::string& uid, const std::string& cohort, const auto& queue) {
  return {uid, cohort, pair_amounts(queue)};
}

}  // namespace

UsageMeter::UsageMeter(std::vector<UsageView> views, std::deque<Millis> cuts)
    : cuts_(std::move(cuts)) {
  for (UsageView& view : views) {
    of_workloads_ = of_workloads_ || is_of_workloads(view.by);
    ledgers_.try_emplace(std::move(view));
  }
}

void UsageMeter::begin(const State& state) {
  const Millis at = cuts_.front();
  aliases_ = state.configuration.resource_aliases;
  last_event_ = state.usage.last_event;
  clocks_ = StreamClocks(state.usage.silent);
  for (const auto& [name, queue] : state.queues.by_name)
    if (queue.present)
      apply(at, UsageQueueChange{SourceName(kHub), name,
                                 usage_queue(queue.uid, queue.facts.cohort, queue.facts)});
  for (const auto& [cluster, known] : state.clusters)
    for (const auto& [name, queue] : known.member.queues)
      apply(at, UsageQueueChange{cluster, name, usage_queue(queue.uid, queue.cohort, queue)});
  if (!of_workloads_) return;
  for (const auto& [id, record] : state.multikueue.workloads)
    apply(at, UsageWorkloadChange{SourceName(kHub), id, usage_workload(id, record.seen->facts)});
  for (const auto& [cluster, known] : state.clusters)
    for (const auto& [id, record] : known.member.workloads)
      apply(at, UsageWorkloadChange{cluster, id, usage_workload(id, record->facts)});
}

// What counts from before the first period counts from its begin on.
void UsageMeter::wait(LogTime time, UsageChange change) {
  waiting_.emplace(std::max(millis_of(time), cuts_.front()), std::move(change));
}

void UsageMeter::note_object(const Event& event, const ObjectObserved& seen) {
  if (const auto* queue = std::get_if<ClusterQueueFacts>(&seen.facts)) {
    // Of one queue, an observation is never older than the one before.
    LogTime& last = queue_since_[{event.source, seen.key.name}];
    last = std::max(last, counts_from(seen, event.log_time));
    wait(last, UsageQueueChange{event.source, seen.key.name,
                                usage_queue(seen.uid, queue->cohort, *queue)});
  }
  if (!of_workloads_) return;
  const NamespacedName id{seen.key.namespace_, seen.key.name};
  if (const auto* workload = std::get_if<WorkloadFacts>(&seen.facts))
    wait(event.log_time, UsageWorkloadChange{event.source, id, usage_workload(id, *workload)});
}

void UsageMeter::note(const Event& event) {
  if (finished()) return;
  const LogTime now = event.log_time;
  if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) {
    note_object(event, *seen);
  } else if (const auto* gone = std::get_if<ObjectGone>(&event.fact)) {
    if (gone->key.kind == Kind::cluster_queue) {
      queue_since_[{event.source, gone->key.name}] = now;
      wait(now, UsageQueueChange{event.source, gone->key.name, std::nullopt});
    }
    if (gone->key.kind == Kind::workload && of_workloads_)
      wait(now,
           UsageWorkloadChange{event.source, {gone->key.namespace_, gone->key.name}, std::nullopt});
  } else if (auto sign = silence_sign(event)) {
    wait(now, *std::move(sign));
  } else if (std::holds_alternative<EpochStarted>(event.fact) && last_event_) {
    wait(*last_event_, UsageHubChange{UsageHubChange::To::stopped});
    wait(now, UsageHubChange{UsageHubChange::To::started});
  } else if (const auto* changed = std::get_if<ConfigChanged>(&event.fact)) {
    wait(now, UsageAliasChange{changed->configuration.resource_aliases});
  }
  last_event_ = now;
  settle(millis_of(now) - kReadBack);
}

void UsageMeter::note(LogTime time, UsageCapacityChange change) { wait(time, std::move(change)); }

void UsageMeter::end() {
  if (!finished()) settle(cuts_.back());
}

// Applies what counts from `until` on at the latest, and cuts the periods that end until then.
void UsageMeter::settle(Millis until) {
  while (!finished()) {
    const auto next = waiting_.begin();
    const bool any = next != waiting_.end() && next->first <= until;
    if (cuts_[1] <= until && (!any || cuts_[1] <= next->first)) {
      cut();
      continue;
    }
    if (!any) return;
    const auto taken = waiting_.extract(next);
    std::visit([&](const auto& change) { apply(taken.key(), change); }, taken.mapped());
  }
}

void UsageMeter::cut() {
  UsagePeriod period;
  period.from = cuts_.front();
  cuts_.pop_front();
  period.to = cuts_.front();
  for (auto& [view, ledger] : ledgers_) period.views[view] = ledger.cut(clocks_, period.to);
  period.of_queues = of_queues_.cut(clocks_, period.to);
  finished_.push_back(std::move(period));
}

void UsageMeter::apply(Millis at, const UsageQueueChange& change) {
  const QueueName name{change.source, change.name};
  UsageQueue before;
  if (const auto known = queues_.find(name); known != queues_.end()) {
    before = std::move(known->second);
    if (!change.queue) queues_.erase(known);
  }
  const UsageQueue after = change.queue.value_or(UsageQueue());
  const bool same_rows = before.uid == after.uid && before.cohort == after.cohort;
  for (const auto& [pair, amounts] : before.pairs) {
    const auto now = after.pairs.find(pair);
    if (same_rows && now != after.pairs.end()) {
      if (now->second == amounts) continue;
      move_pair(at, name, after, pair, {rates_of(amounts), rates_of(now->second), 0});
    } else {
      move_pair(at, name, before, pair, {rates_of(amounts), {}, -1});
    }
  }
  for (const auto& [pair, amounts] : after.pairs)
    if (!same_rows || !before.pairs.contains(pair))
      move_pair(at, name, after, pair, {{}, rates_of(amounts), 1});
  if (change.queue) queues_[name] = after;
}

void UsageMeter::move_pair(Millis at, const QueueName& name, const UsageQueue& queue,
                           const UsePair& pair, const UsageLedger::Change& change) {
  const std::size_t clock = clocks_.of(name.source, Kind::cluster_queue);
  for (auto& [view, ledger] : ledgers_) {
    if (is_of_workloads(view.by)) continue;
    const UsageRowKey key = row_of_pair(view.by, name.source, name.name, queue, pair);
    const bool is_new = !ledger.has(key);
    ledger.change(clocks_, clock, at, key, change);
    if (is_new && has_capacity(view.by)) give_capacity(at, ledger, key);
  }
}

void UsageMeter::apply(Millis at, const UsageWorkloadChange& change) {
  const WorkloadName name{change.source, change.id};
  const auto known = workloads_.find(name);
  if (known != workloads_.end()) {
    if (change.workload == known->second.workload) return;
    move_workload(at, name, known->second, -1);
    workloads_.erase(known);
  }
  if (!change.workload) return;
  const auto queue = queues_.find({name.source, change.workload->queue});
  const CountedWorkload counted{*change.workload, queue == queues_.end() ? "" : queue->second.uid};
  move_workload(at, name, counted, 1);
  workloads_.emplace(name, counted);
}

// Adds the amounts of a Workload to its rows (members 1), or takes them back (-1).
void UsageMeter::move_workload(Millis at, const WorkloadName& name, const CountedWorkload& counted,
                               int members) {
  const std::size_t clock = clocks_.of(name.source, Kind::workload);
  for (const auto& [pair, amount] : counted.workload.amounts) {
    UsageRates rates;
    (counted.workload.admitted ? rates.used : rates.reserved) = amount;
    UsageLedger::Change change{{}, {}, members};
    (members > 0 ? change.more : change.less) = rates;
    UsageRowKey key = row_at(name.source);
    key.flavor = pair.first;
    key.resource = pair.second;
    for (auto& [view, ledger] : ledgers_) {
      if (!is_of_workloads(view.by)) continue;
      key.key = key_of_workload(view, name.id, counted.workload);
      ledger.change(clocks_, clock, at, key, change);
    }
    key.key = counted.workload.queue;
    key.uid = counted.queue_uid;
    of_queues_.change(clocks_, clock, at, key, change);
  }
}

void UsageMeter::apply(Millis at, const SilenceSign& sign) { clocks_.apply(at, sign); }

void UsageMeter::apply(Millis at, const UsageHubChange& change) {
  switch (change.to) {
    case UsageHubChange::To::stopped: return clocks_.stop_all(at);
    case UsageHubChange::To::started: return clocks_.start_all(at);
  }
}

// A row of the hub has the sum of the members.
void UsageMeter::apply(Millis at, const UsageCapacityChange& change) {
  const UsageCapacity now{change.accepted, change.down};
  const UsageCapacityKey of_member{kWorkerSide, change.cluster, change.flavor, change.resource};
  const UsageCapacityKey of_hub{kHubSide, std::string(kHub), change.flavor, change.resource};
  UsageCapacity& member = capacities_[of_member];
  if (member == now) return;
  UsageCapacity& sum = capacities_[of_hub];
  sum.accepted += now.accepted - member.accepted;
  sum.down += now.down - member.down;
  member = now;
  for (const UsageCapacityKey& key : {of_member, of_hub}) {
    const auto rows = rows_of_.find(key);
    if (rows == rows_of_.end()) continue;
    for (const UsageRowKey& row : rows->second)
      for (auto& [view, ledger] : ledgers_)
        if (has_capacity(view.by) && ledger.has(row))
          ledger.set_capacity(clocks_, at, row, capacities_.at(key));
  }
}

void UsageMeter::give_capacity(Millis at, UsageLedger& ledger, const UsageRowKey& key) {
  rows_of_[{key.side, key.cluster, key.flavor, spelled_canonically(aliases_, key.resource)}].insert(
      key);
  ledger.set_capacity(clocks_, at, key, capacity_of(key));
}

UsageCapacity UsageMeter::capacity_of(const UsageRowKey& key) const {
  const auto at = capacities_.find(
      {key.side, key.cluster, key.flavor, spelled_canonically(aliases_, key.resource)});
  return at == capacities_.end() ? UsageCapacity() : at->second;
}

// Other aliases may name another capacity of a row.
void UsageMeter::apply(Millis at, const UsageAliasChange& change) {
  if (change.aliases == aliases_) return;
  aliases_ = change.aliases;
  std::set<UsageRowKey> rows;
  for (const auto& [key, of] : rows_of_) rows.insert(of.begin(), of.end());
  rows_of_.clear();
  for (const UsageRowKey& row : rows)
    for (auto& [view, ledger] : ledgers_)
      if (has_capacity(view.by) && ledger.has(row)) give_capacity(at, ledger, row);
}

}  // namespace fairlead
