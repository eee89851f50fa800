#include "engine/core/fact_queue.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/writes/record.h"
#include "engine/ingest/comparison.h"

namespace fairlead {

namespace {

const ObjectKey* key_of(const WatchFact& fact) {
  if (const auto* seen = std::get_if<ObjectSeen>(&fact.said)) return &seen->key;
  const auto* missing = std::get_if<ObjectMissing>(&fact.said);
  return missing ? &missing->key : nullptr;
}

// Returns the ClusterQueue that the fact is about; null for any other fact.
const ObjectKey* queue_of(const WatchFact& fact) {
  const auto* same = std::get_if<ObjectUnchanged>(&fact.said);
  const ObjectKey* const key = same ? &same->key : key_of(fact);
  return key && key->kind == Kind::cluster_queue ? key : nullptr;
}

// Whether a fact about a ClusterQueue may wait. It may if only amounts in use changed and no write
// of ours awaits its observation.
Urgency urgency_of(const State& state, const WatchFact& fact, const ObjectKey& queue) {
  if (awaits_observation(state.writes, fact.source, queue) ||
      write_pending(state.writes, of_object(fact.source, queue)))
    return Urgency::at_once;
  if (std::holds_alternative<ObjectUnchanged>(fact.said)) return Urgency::may_wait;
  const auto* seen = std::get_if<ObjectSeen>(&fact.said);
  const bool waits =
      seen && !seen->went_back && is_known_but_for_amounts(state, fact.source, *seen);
  return waits ? Urgency::may_wait : Urgency::at_once;
}

// Returns the kind whose list the fact ends; nullopt if it ends none. A stream that has more
// objects than are read ends its list too: there will be no other.
std::optional<Kind> ended_list(const WatchFact& fact) {
  if (const auto* list = std::get_if<ListCompleted>(&fact.said)) return list->kind;
  const auto* stale = std::get_if<StreamStale>(&fact.said);
  if (stale && stale->cause == StaleCause::too_many) return stale->kind;
  return std::nullopt;
}

template <class T>
std::vector<T> split_off(std::vector<T>& all, std::size_t from) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(from);
  std::vector<T> rest(std::make_move_iterator(middle), std::make_move_iterator(all.end()));
  all.erase(middle, all.end());
  return rest;
}

}  // namespace

void FactQueue::offer(WatchFact&& fact) {
  if (lists_) lists_->note(fact);
  offered_.push_back(std::move(fact));
  if (offered_.size() >= shrink_at_) shrink();
}

void FactQueue::shrink() {
  Batch kept;
  for (Batch& batch : into_batches(std::exchange(offered_, {}), SIZE_MAX))
    std::move(batch.begin(), batch.end(), std::back_inserter(kept));
  offered_ = std::move(kept);
  shrink_at_ = std::max(kShrinkFacts, 2 * offered_.size());
}

void FactQueue::offer_again(std::vector<WatchFact> facts) {
  if (!facts.empty()) batches_.push_back(std::move(facts));
}

void FactQueue::clear() {
  offered_.clear();
  batches_.clear();
  parts_.clear();
  coalescer_ = {};
}

// A second fact of a ClusterQueue that passes is compared with a State that does not have the first
// one yet, so it passes too.
void FactQueue::coalesce(const State& state, LogTime now) {
  std::set<std::pair<SourceName, std::string>> passing;
  for (WatchFact& fact : offered_) {
    const ObjectKey* const queue = queue_of(fact);
    std::pair<SourceName, std::string> id;
    if (queue) id = {fact.source, queue->name};
    const Urgency urgency = !queue                 ? Urgency::may_wait
                            : passing.contains(id) ? Urgency::at_once
                                                   : urgency_of(state, fact, *queue);
    if (coalescer_.hold_back(fact, now, urgency)) continue;
    if (queue) passing.insert(std::move(id));
    batch_.push_back(std::move(fact));
  }
  offered_.clear();
}

// Held facts pass behind the offered ones: one of the same object replaces what was held.
bool FactQueue::next_batch(const State& state, LogTime now, HeldFacts held) {
  if (batches_.empty()) {
    batch_.clear();
    coalesce(state, now);
    if (held == HeldFacts::join && coalescer_.next_due() <= now)
      for (WatchFact& fact : coalescer_.dequeue_due(now)) batch_.push_back(std::move(fact));
    // A single fact shares its batch with no other: into_batches() would only index it.
    if (batch_.size() <= 1) return !batch_.empty();
    batches_ = into_batches(std::move(batch_), batch_max_);
    std::reverse(batches_.begin(), batches_.end());
  }
  batch_ = std::move(batches_.back());
  batches_.pop_back();
  return true;
}

std::vector<EventDraft> FactQueue::draft(const State& state, LogTime now, HeldFacts held) {
  out_.facts.clear();
  coalescer_.forget_over(now);
  // Before the next batch: the positions of a part are in `batch_`, which next_batch() replaces. A
  // part is never empty, so the loop below is not entered with one.
  if (!parts_.empty()) {
    out_ = std::move(parts_.back());
    parts_.pop_back();
  }
  // The loop ends: each batch consumes what was offered or is due, and nothing is offered
  // meanwhile.
  while (out_.drafts.empty() && next_batch(state, now, held)) compare(state);
  return std::exchange(out_.drafts, {});
}

// Objects that a list does not name are drafted as gone in front of the end of the list. So once
// State knows that the list is complete, it holds exactly the listed objects.
void FactQueue::compare(const State& state) {
  const std::size_t facts = batch_.size();
  for (std::size_t i = 0; i < facts; ++i) {
    if (const auto kind = lists_ ? ended_list(batch_[i]) : std::nullopt)
      // `batch_` grows here, so it is walked by position. With many missing objects it passes
      // batch_max_; a commit that is too large for that comes back by refused().
      for (WatchFact& missing : lists_->completed(state, batch_[i].source, *kind)) {
        batch_.push_back(std::move(missing));
        compare_fact(state, batch_.size() - 1);
      }
    compare_fact(state, i);
  }
}

void FactQueue::compare_fact(const State& state, std::size_t at) {
  WatchFact& fact = batch_[at];
  auto* const seen = std::get_if<ObjectSeen>(&fact.said);
  if (seen) drop_unlisted_labels(state.configuration, *seen);
  auto draft = ingest_.draft(state, fact);
  if (!draft) return;
  out_.drafts.push_back(*std::move(draft));
  out_.facts.push_back({at, seen && is_known_but_for_amounts(state, fact.source, *seen)});
}

// The interval of a ClusterQueue begins with a change of amounts alone: so the first one after an
// edit passes at once, too.
void FactQueue::logged(const State& state) {
  for (const Place& place : out_.facts) {
    const WatchFact& fact = batch_[place.at];
    const ObjectKey* key = key_of(fact);
    if (!key) continue;
    if (key->kind == Kind::cluster_queue) {
      if (place.amounts_alone)
        coalescer_.passed(fact, state.now, state.configuration.usage.interval);
      continue;
    }
    // The cluster whose claim may set the interval.
    const std::string& cluster = fact.source == kHub ? key->name : fact.source;
    coalescer_.passed(fact, state.now, settings_of(state, cluster).ingest_coalesce);
  }
  out_.facts.clear();
}

std::optional<EventDraft> FactQueue::refused(std::vector<EventDraft>&& drafts) {
  std::vector<Place> facts = std::exchange(out_.facts, {});
  if (drafts.size() == 1) return std::move(drafts.front());
  // Each record may fit although all together do not. The first half is next.
  const std::size_t middle = drafts.size() / 2;
  Part rest{split_off(drafts, middle), split_off(facts, middle)};
  parts_.push_back(std::move(rest));
  parts_.push_back({std::move(drafts), std::move(facts)});
  return std::nullopt;
}

}  // namespace fairlead
