#include "engine/ingest/coalescer.h"

namespace fairlead {

namespace {

std::optional<ObjectKey> object_of(const WatchFact& fact) {
  std::optional<ObjectKey> key;
  if (const auto* seen = std::get_if<ObjectSeen>(&fact.said)) key = seen->key;
  if (const auto* missing = std::get_if<ObjectMissing>(&fact.said)) key = missing->key;
  if (key && key->kind != Kind::node && key->kind != Kind::cluster_metrics &&
      key->kind != Kind::managed_cluster)
    return std::nullopt;
  return key;
}

// The fact that is held gives way to `newer`.
void give_way(const std::optional<WatchFact>& held, WatchFact& newer) {
  const auto* before = held ? std::get_if<ObjectSeen>(&held->said) : nullptr;
  auto* after = std::get_if<ObjectSeen>(&newer.said);
  if (before && after) supersede(*before, *after);
}

}  // namespace

std::optional<WatchFact> Coalescer::offer(WatchFact fact, LogTime now) {
  const auto object = object_of(fact);
  if (!object) return fact;
  const Key key{fact.source, *object};
  const auto at = entries_.find(key);
  if (at == entries_.end()) return fact;
  Entry& entry = at->second;
  if (entry.passed_at == now) return fact;
  give_way(entry.held, fact);
  if (entry.opens <= now) {  // a held state is older than this one
    due_.erase({entry.opens, key});
    entries_.erase(at);
    return fact;
  }
  entry.held = std::move(fact);
  due_.emplace(entry.opens, key);
  return std::nullopt;
}

void Coalescer::passed(const WatchFact& fact, LogTime now, Duration interval) {
  const auto object = object_of(fact);
  if (!object || interval.ns == 0) return;
  const Key key{fact.source, *object};
  Entry& entry = entries_[key];
  due_.erase({entry.opens, key});
  entry = {now, now + interval, std::nullopt};
}

LogTime Coalescer::next_due() const { return due_.empty() ? kForever : due_.begin()->first; }

std::vector<WatchFact> Coalescer::take_due(LogTime now) {
  std::vector<WatchFact> facts;
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto at = entries_.find(due_.begin()->second);
    due_.erase(due_.begin());
    facts.push_back(std::move(*at->second.held));
    entries_.erase(at);
  }
  return facts;
}

}  // namespace fairlead
