#include "replay/audit/queue_changes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/base/resource_version.h"
#include "engine/fold/claims/claim_spec.h"
#include "replay/beginning.h"

namespace fairlead {

namespace {

// A value of a pair.
struct QuotaPlace {
  std::string flavor;
  std::string resource;  // as spelled
  QuotaField field = QuotaField::nominal;

  friend auto operator<=>(const QuotaPlace&, const QuotaPlace&) = default;
};
using Quotas = std::map<QuotaPlace, Quantity>;

Quotas quotas_in(const std::vector<ResourceGroup>& groups) {
  Quotas quotas;
  for (const ResourceGroup& group : groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources) {
        const auto add = [&](QuotaField field, const Quantity& amount) {
          quotas[{flavor.name, quota.name, field}] = amount;
        };
        add(QuotaField::nominal, quota.nominal);
        if (quota.borrowing_limit) add(QuotaField::borrowing_limit, *quota.borrowing_limit);
        if (quota.lending_limit) add(QuotaField::lending_limit, *quota.lending_limit);
      }
  return quotas;
}

std::optional<Quantity> value_in(const Quotas& quotas, const QuotaPlace& place) {
  const auto at = quotas.find(place);
  return at == quotas.end() ? std::nullopt : std::optional(at->second);
}

std::set<QuotaPlace> places_that_differ(const Quotas& a, const Quotas& b) {
  std::set<QuotaPlace> places;
  for (const auto& [place, amount] : a)
    if (value_in(b, place) != amount) places.insert(place);
  for (const auto& [place, amount] : b)
    if (!a.contains(place)) places.insert(place);
  return places;
}

Result<Event> event_at(const ReadableLog& log, Seq seq) {
  auto reader = log.read(seq);
  if (!reader) return reader.error();
  auto event = (*reader)->next();
  if (!event) return event.error();
  if (!*event) return Error{ErrorCode::not_found, "no event " + std::to_string(seq.value)};
  return std::move(**event);
}

// Consumes the events of one queue in order.
class QueueFollower {
 public:
  QueueFollower(const ReadableLog& log, Seq to) : log_(log), to_(to) {}

  /// The earlier values are unknown: the first observation changes nothing.
  void begin_unknown() { current_.reset(); }
  /// The queue has the values of `queue`, and a write of ours is not observed yet if `write` waits
  /// for that.
  Result<void> begin_with(const Queue& queue, const WriteState* write) {
    current_ = queue.present ? quotas_in(queue.facts.groups) : Quotas();
    if (write == nullptr) return {};
    WriteOutcome answer;
    const ClusterQueueFacts* expected = nullptr;
    if (write->outstanding) {
      const auto& facts = write->outstanding->intent.expected;
      expected = facts ? std::get_if<ClusterQueueFacts>(&*facts) : nullptr;
      auto answered = answer_of(log_, write->outstanding->seq, to_);
      if (!answered) return answered.error();
      answer = *std::move(answered);
    } else if (write->awaits() && queue.written_groups) {
      answer.outcome = Outcome::accepted;
      answer.resource_version = write->awaited_version;
    } else {
      return {};
    }
    if (write->outstanding && (expected == nullptr || answer.outcome == Outcome::rejected))
      return {};
    Pending pending{
        quotas_in(expected ? expected->groups : *queue.written_groups), {}, answer, 0, 0};
    pending.places = places_that_differ(*current_, pending.expected);
    pending_ = std::move(pending);
    return {};
  }

  Result<void> consume(const Event& event) {
    if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) {
      if (const auto* facts = std::get_if<ClusterQueueFacts>(&seen->facts))
        observe(event, quotas_in(facts->groups), *seen);
    } else if (std::holds_alternative<ObjectGone>(event.fact)) {
      pending_.reset();
      observe(event, {}, ObjectObserved{});
    } else if (const auto* intent = std::get_if<PatchIntended>(&event.fact)) {
      return intend(event, *intent);
    }
    return {};
  }
  std::vector<QuotaChange> changes;

 private:
  struct Pending {
    Quotas expected;
    std::set<QuotaPlace> places;
    WriteOutcome answer;
    std::size_t first_row = 0, rows = 0;
  };

  Result<void> intend(const Event& event, const PatchIntended& intent) {
    const auto* expected =
        intent.expected ? std::get_if<ClusterQueueFacts>(&*intent.expected) : nullptr;
    if (!expected || intent.verb != Verb::apply) return {};
    auto answer = answer_of(log_, event.seq, to_);
    if (!answer) return answer.error();
    Pending pending{quotas_in(expected->groups), {}, *answer, changes.size(), 0};
    const Quotas overlaid = quotas_in(intent.overlaid);
    if (!current_) current_ = overlaid;
    pending.places = places_that_differ(overlaid, pending.expected);
    for (const QuotaPlace& place : pending.places) {
      QuotaChange change = blank(event, place);
      change.before = value_in(overlaid, place);
      change.after = value_in(pending.expected, place);
      change.ours = intent.reason;
      change.answer = *answer;
      changes.push_back(std::move(change));
      ++pending.rows;
    }
    if (answer->outcome != Outcome::rejected) pending_ = std::move(pending);
    return {};
  }

  void observe(const Event& event, Quotas values, const ObjectObserved& seen) {
    if (!current_) current_ = values;
    if (pending_) conclude_pending(event, values, seen.resource_version);
    const Quotas unless = pending_ ? conclude_unanswered(event, values) : Quotas();
    for (const QuotaPlace& place : places_that_differ(*current_, values)) {
      QuotaChange change = blank(event, place);
      change.before = value_in(*current_, place);
      change.before_unless = value_in(unless, place);
      change.after = value_in(values, place);
      change.writers = seen.writers;
      changes.push_back(std::move(change));
    }
    current_ = std::move(values);
  }

  // Classifies an observation against our last write: it shows the write, it is older than the
  // write, or another writer wrote over it (then the write is applied before the observation is
  // compared).
  void conclude_pending(const Event& event, const Quotas& values, const std::string& version) {
    const bool observed =
        std::all_of(pending_->places.begin(), pending_->places.end(), [&](const QuotaPlace& place) {
          return value_in(values, place) == value_in(pending_->expected, place);
        });
    const bool accepted = pending_->answer.outcome == Outcome::accepted;
    if (!observed && (!accepted || is_lower_version(version, pending_->answer.resource_version)))
      return;
    assume_written(event, values);
  }

  // What the observation shows of our write took effect, whatever another writer made of the rest.
  void assume_written(const Event& event, const Quotas& values) {
    for (std::size_t row = pending_->first_row; const QuotaPlace& place : pending_->places) {
      const auto written = value_in(pending_->expected, place);
      if (pending_->rows > 0 && value_in(values, place) == written)
        std::tie(changes[row].seen, changes[row].seen_at) = std::tie(event.seq, event.log_time);
      ++row;
      if (written)
        (*current_)[place] = *written;
      else
        current_->erase(place);
    }
    pending_.reset();
  }

  // Another writer wrote other values than our last write, and no answer shows whether ours arrived
  // first. Ours was sent first, so its values are assumed to have been current; returns the values
  // before it, in case it never arrived. If the observation shows a part of our write, it did
  // arrive, and nothing is returned.
  Quotas conclude_unanswered(const Event& event, const Quotas& values) {
    Quotas before;
    bool seen_in_part = false, written_over = false;
    for (const QuotaPlace& place : pending_->places) {
      const auto value = value_in(values, place);
      seen_in_part = seen_in_part || value == value_in(pending_->expected, place);
      written_over = written_over || (value != value_in(*current_, place) &&
                                      value != value_in(pending_->expected, place));
    }
    if (pending_->answer.outcome == Outcome::accepted || !written_over) return before;
    for (const QuotaPlace& place : pending_->places)
      if (const auto before_write = value_in(*current_, place); before_write && !seen_in_part)
        before[place] = *before_write;
    assume_written(event, values);
    return before;
  }

  static QuotaChange blank(const Event& event, const QuotaPlace& place) {
    QuotaChange change;
    change.seq = event.seq;
    change.time = event.log_time;
    change.flavor = place.flavor;
    change.resource = place.resource;
    change.field = place.field;
    return change;
  }

  const ReadableLog& log_;
  const Seq to_;
  std::optional<Quotas> current_ = Quotas();  ///< nullopt: not known
  std::optional<Pending> pending_;
};

ObjectKey key_of(const std::string& queue) { return {Kind::cluster_queue, "", queue}; }

// Sets the initial values from a snapshot before the first event about the queue that a pruned log
// keeps.
Result<void> begin_behind_pruned(const AuditSource& source, const std::string& queue, Seq first,
                                 QueueFollower& follower) {
  const auto state = state_for_pruned(source.log, source.snapshots, first);
  if (!state) return state.error();
  if (!*state) {
    follower.begin_unknown();
    return {};
  }
  const auto at = (*state)->queues.by_name.find(queue);
  const auto write =
      (*state)->writes.by_key.find(WriteKey{std::string(kHub), key_of(queue), false});
  return follower.begin_with(at == (*state)->queues.by_name.end() ? Queue{} : at->second,
                             write == (*state)->writes.by_key.end() ? nullptr : &write->second);
}

// A write of ours is usually observed within a second, but other writers' changes of the queue that
// were on their way may be observed before it, and the next hub's list shows what a hub wrote that
// stopped. So many events about the queue are searched for a write that is still to be observed.
constexpr std::size_t kEchoEventsMax = 64;

Result<bool> is_intent(const ReadableLog& log, Seq seq) {
  auto event = event_at(log, seq);
  if (!event) return event.error();
  return std::holds_alternative<PatchIntended>(event->fact);
}

// Returns the place of the last observation before `place`; 0 if there is none.
Result<std::size_t> shown_before(const ReadableLog& log, const std::vector<Seq>& seqs,
                                 std::size_t place) {
  while (place > 0) {
    const auto intent = is_intent(log, seqs[--place]);
    if (!intent) return intent.error();
    if (!*intent) break;
  }
  return place;
}

// Returns where to begin, so that the observations from `begin` on can be explained: at the one
// before, which holds the values to compare with; if a write of ours is close before that, at the
// one before this write.
Result<std::size_t> start_of(const ReadableLog& log, const std::vector<Seq>& seqs,
                             std::size_t begin) {
  const auto shown = shown_before(log, seqs, begin);
  if (!shown) return shown.error();
  const std::size_t end = *shown > kEchoEventsMax ? *shown - kEchoEventsMax : 0;
  for (std::size_t at = *shown; at > end; --at) {
    const auto intent = is_intent(log, seqs[at - 1]);
    if (!intent) return intent.error();
    if (*intent) return shown_before(log, seqs, at - 1);
  }
  return *shown;
}

// Returns the changes that the events seqs[begin..end) made, explained from start_of() on.
Result<std::vector<QuotaChange>> changes_in(const AuditSource& source, const std::string& queue,
                                            const std::vector<Seq>& seqs, std::size_t start,
                                            std::size_t begin, std::size_t end, Seq to) {
  QueueFollower follower(source.log, to);
  if (start == 0 && start < end && source.log.first_seq() > Seq{1})
    if (auto known = begin_behind_pruned(source, queue, seqs.front(), follower); !known)
      return known.error();
  for (std::size_t i = start; i < end; ++i) {
    auto event = event_at(source.log, seqs[i]);
    if (!event) return event.error();
    if (auto consumed = follower.consume(*event); !consumed) return consumed.error();
  }
  if (begin < seqs.size())
    std::erase_if(follower.changes,
                  [&](const QuotaChange& change) { return change.seq < seqs[begin]; });
  return std::move(follower.changes);
}

Result<std::vector<Seq>> seqs_of(const ReadableLog& log, const std::string& queue) {
  auto seqs = log.history(kHub, key_of(queue));
  if (!seqs) return seqs.error();
  std::erase_if(*seqs, [&](Seq seq) { return seq < log.first_seq(); });
  return seqs;
}

// The changes that the newest events about a queue made, up to one of them.
struct NewestChanges {
  std::vector<QuotaChange> changes;
  bool all = false;  ///< there are no earlier events
};

Result<NewestChanges> newest_changes(const AuditSource& source, const std::string& queue, Seq to,
                                     std::size_t many) {
  // What is needed before them to explain them is read, too, and more if that was too little.
  for (std::size_t most = many + 2 * kEchoEventsMax;; most *= 4) {
    const auto seqs = source.log.history_before(kHub, key_of(queue), next(to), most);
    if (!seqs) return seqs.error();
    const bool whole = seqs->size() < most;
    const std::size_t begin = seqs->size() > many ? seqs->size() - many : 0;
    const auto start = start_of(source.log, *seqs, begin);
    if (!start) return start.error();
    if (*start == 0 && !whole) continue;
    auto changes = changes_in(source, queue, *seqs, *start, begin, seqs->size(), to);
    if (!changes) return changes.error();
    return NewestChanges{*std::move(changes), begin == 0 && whole};
  }
}

std::size_t place_of(const std::vector<Seq>& seqs, Seq seq) {
  return static_cast<std::size_t>(std::lower_bound(seqs.begin(), seqs.end(), seq) - seqs.begin());
}

}  // namespace

Result<WriteOutcome> answer_of(const ReadableLog& log, Seq intent, Seq to) {
  WriteOutcome answer;
  const Seq last = std::min(to, Seq{intent.value + kAnswerEventsMax});
  const Seq first = std::max(next(intent), log.first_seq());
  auto reader = log.read(first);
  if (!reader) return reader.error();
  for (Seq seq = first; seq <= last; seq = next(seq)) {
    auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event) break;
    const Fact& fact = (*event)->fact;
    answer.seq = (*event)->seq;
    answer.time = (*event)->log_time;
    if (const auto* accepted = std::get_if<PatchAccepted>(&fact);
        accepted && accepted->intent == intent) {
      answer.outcome = Outcome::accepted;
      answer.http_code = accepted->http_code;
      answer.resource_version = accepted->resource_version;
      return answer;
    }
    if (const auto* rejected = std::get_if<PatchRejected>(&fact);
        rejected && rejected->intent == intent) {
      answer.outcome = Outcome::rejected;
      answer.http_code = rejected->http_code;
      answer.why = rejected->reason;
      return answer;
    }
    if (const auto* unknown = std::get_if<PatchUnknown>(&fact);
        unknown && unknown->intent == intent) {
      answer.outcome = Outcome::unknown;
      answer.why = unknown->reason;
      return answer;
    }
  }
  return WriteOutcome{};
}

Result<std::vector<QuotaChange>> changes_of_queue(const AuditSource& source,
                                                  const std::string& queue, Seq from, Seq to) {
  const ReadableLog& log = source.log;
  auto seqs = seqs_of(log, queue);
  if (!seqs) return seqs.error();
  const std::size_t begin = place_of(*seqs, from);
  const std::size_t end = place_of(*seqs, next(to));
  if (begin >= end) return std::vector<QuotaChange>{};
  const auto start = start_of(log, *seqs, begin);
  if (!start) return start.error();
  return changes_in(source, queue, *seqs, *start, begin, end, log.last_seq());
}

Result<std::optional<QuotaChange>> last_change_of(const AuditSource& source, const KnownPair& pair,
                                                  Spelling spelling, const ResourceAliases& aliases,
                                                  Seq to) {
  const auto is_of_pair = [&](const QuotaChange& change) {
    return change.field == QuotaField::nominal && change.flavor == pair.key.flavor &&
           (spelling == Spelling::as_listed
                ? change.resource == pair.spelled
                : canonical_resource(aliases, change.resource) == pair.key.resource);
  };
  // Most often the change is near. The windows grow by four, so all together read a third more.
  for (std::size_t many = 32;; many *= 4) {
    auto newest = newest_changes(source, pair.queue, to, many);
    if (!newest) return newest.error();
    for (auto change = newest->changes.rbegin(); change != newest->changes.rend(); ++change)
      if (is_of_pair(*change) && change->answer.outcome != Outcome::rejected)
        return std::optional(std::move(*change));
    if (newest->all) return std::optional<QuotaChange>();
  }
}

Result<std::map<ListedPair, QuotaChange>> last_changes_of(const AuditSource& source,
                                                          const std::string& queue,
                                                          const std::vector<KnownPair>& pairs,
                                                          Seq to) {
  std::map<ListedPair, QuotaChange> found;
  const auto all_found = [&] {
    return std::all_of(pairs.begin(), pairs.end(), [&](const KnownPair& pair) {
      return found.contains({pair.key.flavor, pair.spelled});
    });
  };
  for (std::size_t many = 8; many <= kLastEventsMax && !all_found(); many *= 4) {
    auto newest = newest_changes(source, queue, to, many);
    if (!newest) return newest.error();
    for (QuotaChange& change : newest->changes)
      if (change.field == QuotaField::nominal && change.answer.outcome != Outcome::rejected)
        found[{change.flavor, change.resource}] = std::move(change);
    if (newest->all) break;
  }
  return found;
}

Json seqs_json(std::vector<Seq> seqs) {
  std::sort(seqs.begin(), seqs.end());
  Json list = Json::array();
  for (const Seq seq : seqs)
    if (list.empty() || list.back() != seq.value) list.push_back(seq.value);
  return list;
}

// The newest first, which most likely made the change; managedFields lists entries of Apply first.
// Their times are RFC 3339 in UTC without fractions, so they compare as texts; only one manager can
// have several entries of one time, and these differ in the rest.
Json writers_json(std::vector<FieldWriter> writers, SpecField field) {
  std::erase_if(writers, [&](const FieldWriter& writer) { return !writer.owns(field); });
  std::sort(writers.begin(), writers.end(), [](const FieldWriter& a, const FieldWriter& b) {
    return std::tie(b.time, a.manager, a.operation, a.subresource) <
           std::tie(a.time, b.manager, b.operation, b.subresource);
  });
  Json list = Json::array();
  for (const FieldWriter& writer : writers) {
    Json row{{"manager", writer.manager}, {"operation", writer.operation}, {"time", writer.time}};
    if (writer.time.empty()) row["time"] = nullptr;
    if (!writer.subresource.empty()) row["subresource"] = writer.subresource;
    list.push_back(std::move(row));
  }
  return list;
}

Json outcome_json(const WriteOutcome& answer) {
  constexpr const char* kOutcomes[] = {"none", "accepted", "rejected", "unknown"};
  Json json{{"outcome", kOutcomes[static_cast<std::size_t>(answer.outcome)]}};
  if (answer.outcome == Outcome::none) return json;
  json["seq"] = answer.seq.value;
  json["time"] = to_rfc3339(answer.time);
  if (answer.http_code != 0) json["code"] = answer.http_code;
  if (!answer.why.empty()) json["why"] = answer.why;
  return json;
}

Json change_json(const QuotaChange& change) {
  const auto text = [](const std::optional<Quantity>& quantity) {
    return quantity ? Json(quantity->text()) : Json();
  };
  Json row{{"seq", change.seq.value},
           {"time", to_rfc3339(change.time)},
           {"flavor", change.flavor},
           {"resource", change.resource},
           {"old", text(change.before)},
           {"new", text(change.after)},
           {"writer", change.ours ? "fairlead" : "foreign"}};
  if (change.field == QuotaField::borrowing_limit) row["field"] = "borrowingLimit";
  if (change.field == QuotaField::lending_limit) row["field"] = "lendingLimit";
  // Since when `audit quota` has the new value: another writer's since it was observed.
  const auto place = [](Seq seq, LogTime time) {
    return Json{{"seq", seq.value}, {"time", to_rfc3339(time)}};
  };
  const Json seen = change.seen == Seq{} ? Json() : place(change.seen, change.seen_at);
  row["tookEffect"] = change.ours ? seen : place(change.seq, change.time);
  if (change.before_unless) row["oldUnless"] = text(change.before_unless);
  if (!change.ours) {
    Json by = writers_json(change.writers, SpecField::resource_groups);
    if (!by.empty()) row["by"] = std::move(by);
    return row;
  }
  row["rule"] = change.ours->rule;
  row["text"] = change.ours->text;
  row["because"] = seqs_json(change.ours->because);
  row["answer"] = outcome_json(change.answer);
  row["seen"] = seen;
  return row;
}

}  // namespace fairlead
