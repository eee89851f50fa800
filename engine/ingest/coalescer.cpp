#include "engine/ingest/coalescer.h"

#include "engine/base/resource_version.h"

namespace fairlead {

namespace {

// Returns the object of a fact that may be held back; null for other facts.
const ObjectKey* object_of(const WatchFact& fact) {
  const ObjectKey* key = nullptr;
  if (const auto* seen = std::get_if<ObjectSeen>(&fact.said)) key = &seen->key;
  if (const auto* missing = std::get_if<ObjectMissing>(&fact.said)) key = &missing->key;
  const bool coalesces =
      key && (key->kind == Kind::node || key->kind == Kind::cluster_metrics ||
              key->kind == Kind::managed_cluster || key->kind == Kind::cluster_queue);
  return coalesces ? key : nullptr;
}

// Lets `newer` replace the held fact.
void give_way(const WatchFact* held, WatchFact& newer) {
  const auto* before = held ? std::get_if<ObjectSeen>(&held->said) : nullptr;
  auto* after = std::get_if<ObjectSeen>(&newer.said);
  if (before && after) supersede(*before, *after);
}

// Notes when the fact was read, which is before its event. Amounts in use count from then. Facts
// that were held already were read when they were first held.
void note_read(const WatchFact* held, WatchFact& fact, LogTime now) {
  auto* seen = std::get_if<ObjectSeen>(&fact.said);
  if (!seen || seen->key.kind != Kind::cluster_queue) return;
  const auto* before = held ? std::get_if<ObjectSeen>(&held->said) : nullptr;
  const bool known = before && before->uid == seen->uid && before->facts == seen->facts;
  seen->read = known ? before->read : now;
}

}  // namespace

// A fact that passes ends its object's interval. The next interval begins with passed(), once the
// fact is an event: a fact that ingest drops because it changes nothing holds nothing back. A
// second fact of the same log time passes too, into the moment that the first one opened.
bool Coalescer::hold_back(WatchFact& fact, LogTime now, Urgency urgency) {
  if (const auto* same = std::get_if<ObjectUnchanged>(&fact.said))
    return absorb(fact, *same, now, urgency);
  const ObjectKey* object = object_of(fact);
  Entry* const entry = object ? entries_.find(fact.source, *object) : nullptr;
  if (!entry || entry->passed_at == now) return false;
  give_way(entry->held.get(), fact);
  if (entry->opens <= now) {  // the interval is over: `fact` replaces a held state and passes
    release(fact.source, *object, *entry);
    entries_.erase(fact.source, *object);
    return false;
  }
  if (urgency == Urgency::at_once) {  // it replaces a held state, and the interval goes on
    release(fact.source, *object, *entry);
    return false;
  }
  note_read(entry->held.get(), fact, now);
  if (!entry->held) due_.emplace(entry->opens, Key{fact.source, *object});
  entry->held = std::make_unique<WatchFact>(std::move(fact));
  return true;
}

// An ObjectUnchanged says that the object is as the stream reported it last, and so as it is held.
// It must not overtake the held state, which ingest would then drop as older.
bool Coalescer::absorb(WatchFact& fact, const ObjectUnchanged& same, LogTime now, Urgency urgency) {
  Entry* const entry = entries_.find(fact.source, same.key);
  auto* held = entry && entry->held ? std::get_if<ObjectSeen>(&entry->held->said) : nullptr;
  if (!held || held->uid != same.uid ||
      !includes_version(same.resource_version, held->resource_version))
    return false;
  held->resource_version = same.resource_version;
  if (urgency == Urgency::may_wait) return true;
  if (held->read >= now) held->read = {};  // the clock went back since
  const ObjectKey object = same.key;
  WatchFact passing = std::move(*entry->held);
  release(fact.source, object, *entry);
  fact = std::move(passing);
  return false;
}

void Coalescer::passed(const WatchFact& fact, LogTime now, Duration interval) {
  const ObjectKey* object = object_of(fact);
  if (!object || interval.ns == 0) return;
  forget_over(now);
  Entry& entry = entries_.find_or_make(fact.source, *object);
  release(fact.source, *object, entry);
  entry = {now, now + interval, nullptr};
  ends_.emplace_back(entry.opens, Key{fact.source, *object});
}

// No further fact of an object need come. An interval that is shorter than the one before it, of
// another cluster, is dropped with that one.
void Coalescer::forget_over(LogTime now) {
  while (!ends_.empty() && ends_.front().first <= now) {
    const auto& [source, object] = ends_.front().second;
    const Entry* const entry = entries_.find(source, object);
    // It may have a later interval, or a fact that waits. A fact at the time of the one that passed
    // passes too, which the entry shows.
    if (entry && !entry->held && entry->opens <= now) entries_.erase(source, object);
    ends_.pop_front();
  }
}

void Coalescer::release(const SourceName& source, const ObjectKey& object, Entry& entry) {
  if (entry.held) due_.erase({entry.opens, Key{source, object}});
  entry.held.reset();
}

LogTime Coalescer::next_due() const { return due_.empty() ? kForever : due_.begin()->first; }

std::vector<WatchFact> Coalescer::dequeue_due(LogTime now) {
  std::vector<WatchFact> facts;
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto [source, object] = std::move(due_.extract(due_.begin()).value().second);
    // The lookup finds an entry: it is in `due_` exactly while it holds a fact.
    facts.push_back(std::move(*entries_.find(source, object)->held));
    entries_.erase(source, object);
  }
  return facts;
}

}  // namespace fairlead
