#include "engine/fold/usage/queue_use.h"

#include <algorithm>

namespace fairlead {

namespace {

constexpr std::string_view kMilliResource =
    "cpu";  // the one resource whose Amount is in thousandths
constexpr Int128 kMilliPerUnit = 1000;

// Drops what is not needed to answer for times from `before` on.
void forget_changes(std::vector<KnownClock::Change>& changes, Millis before) {
  const auto needed =
      std::find_if(changes.begin(), changes.end(),
                   [&](const KnownClock::Change& change) { return change.at > before; });
  if (needed - changes.begin() > 1) changes.erase(changes.begin(), needed - 1);
}

void change_clock(KnownClock& clock, Millis at, KnownClock::Change to) {
  if (clock.runs() == to.runs) return;
  to.at = at;
  to.known = clock.shown_at(at);
  clock.changes.push_back(to);
  forget_changes(clock.changes, at - kReadBack);
}

void add_column(std::map<UsePair, UseAmounts>& amounts, const std::vector<FlavorUsage>& usage,
                Int128 UseAmounts::* column) {
  for (const FlavorUsage& use : usage)
    amounts[{use.flavor, use.resource}].*column += milli_units(use.resource, use.total);
}

std::map<UsePair, UseAmounts> amounts_of(const auto& queue) {
  std::map<UsePair, UseAmounts> amounts;
  for (const ResourceGroup& group : queue.effective ? queue.effective->groups : queue.groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        amounts[{flavor.name, quota.name}].nominal +=
            milli_units(quota.name, to_amount(quota.name, quota.nominal));
  add_column(amounts, queue.usage, &UseAmounts::used);
  add_column(amounts, queue.reserved, &UseAmounts::reserved);
  add_column(amounts, queue.borrowed, &UseAmounts::borrowed);
  return amounts;
}

// Adds up to `until` what the pairs had since the last time.
void advance_use(QueueUse& queue, const KnownClock& clock, Millis until) {
  if (until <= queue.since) return;
  const Millis known = clock.shown_at(until);
  const Millis unknown = (until - queue.since) - (known - queue.known);
  for (auto& [pair, use] : queue.pairs) {
    if (!use.present) continue;
    use.sums.add(use.amounts, known - queue.known);
    use.unknown += unknown;
  }
  queue.since = until;
  queue.known = known;
}

// Stops the clock while the stream is silent, and lets it run while it is not.
void set_clock(UsageTables& usage, Millis at) {
  if (is_unobserved(usage.silent, SourceName(kHub), Kind::cluster_queue))
    usage.hub.stop(at);
  else
    usage.hub.start(at);
}

}  // namespace

void UseSums::add(const UseAmounts& amounts, Millis span) {
  const Int128 over = std::max<Int128>(amounts.used - amounts.nominal, 0);
  const Int128 left = std::max<Int128>(amounts.nominal - amounts.used, 0);
  granted += amounts.nominal * span;
  used += amounts.used * span;
  borrowed += over * span;
  idle += left * span;
}

void KnownClock::stop(Millis at) { change_clock(*this, at, {.runs = false}); }
void KnownClock::start(Millis at) { change_clock(*this, at, {.runs = true}); }

Millis KnownClock::shown_at(Millis at) const {
  if (changes.empty()) return at;
  const auto later = std::find_if(changes.rbegin(), changes.rend(),
                                  [&](const Change& change) { return change.at <= at; });
  if (later == changes.rend()) return changes.front().known - (changes.front().at - at);
  return later->known + (later->runs ? at - later->at : 0);
}

Int128 milli_units(const std::string& resource, Amount amount) {
  return resource == kMilliResource ? Int128{amount} : amount * kMilliPerUnit;
}

std::map<UsePair, UseAmounts> pair_amounts(const ClusterQueueFacts& queue) {
  return amounts_of(queue);
}
std::map<UsePair, UseAmounts> pair_amounts(const MemberQueue& queue) { return amounts_of(queue); }

LogTime counts_from(const ObjectObserved& seen, LogTime now) {
  if (seen.read == LogTime{} || seen.read > now) return now;
  constexpr std::int64_t kNanosPerMilli = 1'000'000;
  return std::max(seen.read, LogTime{now.ns - kReadBack * kNanosPerMilli});
}

void observe_queue_use(UsageRoom state, const ObjectObserved& seen) {
  UsageTables& usage = state.usage;
  const LogTime from = counts_from(seen, state.now);
  const auto [at, first] = usage.queues.try_emplace(seen.key.name);
  QueueUse& queue = at->second;
  if (first || queue.uid != seen.uid) {
    const Millis begin = std::max(millis_of(from), queue.since);  // after the former queue
    queue = {seen.uid, begin, usage.hub.shown_at(begin), {}};
  }
  advance_use(queue, usage.hub, millis_of(from));
  for (auto& [pair, use] : queue.pairs) {
    use.amounts = {};
    use.present = false;
  }
  for (const auto& [pair, amounts] : pair_amounts(std::get<ClusterQueueFacts>(seen.facts))) {
    const auto [use, added] = queue.pairs.try_emplace(pair);
    if (added) use->second.created = from;
    use->second.amounts = amounts;
    use->second.present = true;
  }
}

void forget_queue_use(UsageRoom state, const std::string& queue) {
  state.usage.queues.erase(queue);
}

std::optional<SilenceSign> silence_sign(const Event& event) {
  using Says = SilenceSign::Says;
  const auto sign = [&](const auto& of, Says says) {
    return SilenceSign{of.cluster.empty() ? event.source : of.cluster, of.kind, says};
  };
  if (const auto* stale = std::get_if<SourceStale>(&event.fact)) {
    if (stale->cause == StaleCause::too_many) return std::nullopt;
    return sign(*stale, Says::silent);
  }
  if (const auto* lost = std::get_if<SourceLost>(&event.fact)) return sign(*lost, Says::silent);
  if (const auto* synced = std::get_if<SourceSynced>(&event.fact))
    return sign(*synced, Says::heard);
  return std::nullopt;
}

// A sign about all of a server counts as one about its Nodes.
void apply_sign(SilentStreams& silent, const SilenceSign& sign) {
  if (sign.says == SilenceSign::Says::silent) {
    silent.emplace(sign.source, sign.kind.value_or(Kind::node));
  } else if (sign.kind) {
    silent.erase({sign.source, *sign.kind});
  } else {
    std::erase_if(silent, [&](const auto& stream) { return stream.first == sign.source; });
  }
}

bool is_unobserved(const SilentStreams& silent, const SourceName& source, Kind kind) {
  return silent.contains({source, Kind::node}) || silent.contains({source, Kind::cluster_queue}) ||
         silent.contains({source, kind});
}

void observe_sign(UsageRoom state, const Event& event) {
  const auto sign = silence_sign(event);
  if (!sign || is_tenant(sign->source)) return;
  apply_sign(state.usage.silent, *sign);
  set_clock(state.usage, millis_of(state.now));
}

void observe_start(UsageRoom state) {
  UsageTables& usage = state.usage;
  if (!usage.last_event) return;
  usage.hub.stop(millis_of(*usage.last_event));
  set_clock(usage, millis_of(state.now));
}

std::vector<QueueCounter> queue_counters(const UsageTables& usage, LogTime until) {
  std::vector<QueueCounter> counters;
  for (const auto& [name, queue] : usage.queues) {
    QueueUse now = queue;
    advance_use(now, usage.hub, millis_of(until));
    for (const auto& [pair, use] : now.pairs)
      counters.push_back({name, pair, use.sums, use.unknown, use.created});
  }
  return counters;
}

}  // namespace fairlead
