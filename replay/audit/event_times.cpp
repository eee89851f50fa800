#include "replay/audit/event_times.h"

#include <algorithm>

#include "replay/audit/queue_changes.h"

namespace fairlead {

namespace {

// An answer that comes later than in so many events is not searched for.
constexpr std::uint64_t kAnswerWithin = 2000;

Json times_json(const std::optional<LogTime>& from, LogTime to, LogTime known, const char* how) {
  return {{"from", time_json(from)},
          {"to", to_rfc3339(to)},
          {"known", to_rfc3339(known)},
          {"how", how}};
}

// When the object was created, where the log holds that.
std::optional<LogTime> created_of(const Facts& facts) {
  if (const auto* claim = std::get_if<ClaimFacts>(&facts)) return claim->created;
  if (const auto* workload = std::get_if<WorkloadFacts>(&facts)) return workload->created;
  if (const auto* claim = std::get_if<FleetResourceClaimFacts>(&facts)) return claim->created;
  return std::nullopt;
}

// The newest writer that the record before does not have: it made the change.
const FieldWriter* new_writer(const ObjectObserved& seen, const ObjectObserved* before) {
  const FieldWriter* newest = nullptr;
  for (const FieldWriter& writer : seen.writers) {
    const auto is_known = [&](const std::vector<FieldWriter>& known) {
      return std::find(known.begin(), known.end(), writer) != known.end();
    };
    if (writer.time.empty() || (before != nullptr && is_known(before->writers))) continue;
    if (newest == nullptr || newest->time < writer.time) newest = &writer;
  }
  return newest;
}

// Whether the sign is about this kind; a sign without a kind is about each.
bool is_about(const std::optional<Kind>& of, Kind kind) { return !of || *of == kind; }

// Whether the stream is live from this event on; nullopt: it says nothing of that.
std::optional<bool> liveness_after(const Event& event, Kind kind) {
  if (const auto* synced = std::get_if<SourceSynced>(&event.fact))
    return is_about(synced->kind, kind) ? std::optional(true) : std::nullopt;
  if (const auto* stale = std::get_if<SourceStale>(&event.fact))
    return is_about(stale->kind, kind) ? std::optional(false) : std::nullopt;
  if (const auto* lost = std::get_if<SourceLost>(&event.fact))
    return is_about(lost->kind, kind) ? std::optional(false) : std::nullopt;
  return std::holds_alternative<EpochStarted>(event.fact) ? std::optional(false) : std::nullopt;
}

}  // namespace

// Lists that a hub began with are complete staleAfter after it started, unless a sign of silence
// came before.
void EventTimes::end_start(Turns& turns, LogTime until) const {
  if (turns.empty() || !turns.back().start) return;
  const EventPlace start = *turns.back().start;
  const auto stale_after = stale_after_at(lookup_.log(), next(start.seq));
  if (!stale_after) return;
  const LogTime listed = start.time + *stale_after;
  const auto last = listed < until ? lookup_.log().last_at(listed) : Result<Seq>(Seq{});
  if (last && *last >= start.seq) turns.push_back({{next(*last), listed}, true});
}

EventTimes::Turns& EventTimes::turns_of(const SourceName& source, Kind kind) {
  const auto [at, is_new] = turns_.try_emplace({source, kind});
  Turns& turns = at->second;
  if (!is_new) return turns;
  std::vector<Seq> signs;
  for (const SourceName& of : {source, SourceName(kSelf)})
    if (const auto found = lookup_.log().signs(of))
      signs.insert(signs.end(), found->begin(), found->end());
  std::sort(signs.begin(), signs.end());
  lookup_.expect(signs);
  for (const Seq seq : signs) {
    const Event* event = lookup_.at(seq);
    const auto live = event ? liveness_after(*event, kind) : std::nullopt;
    if (!live) continue;
    end_start(turns, event->log_time);
    const EventPlace place{event->seq, event->log_time};
    const bool starts = std::holds_alternative<EpochStarted>(event->fact);
    if (turns.empty() || turns.back().live != *live)
      turns.push_back({place, *live, starts ? std::optional(place) : std::nullopt});
    else if (starts && turns.back().start)
      turns.back().start = place;
  }
  end_start(turns, lookup_.log().last_time());
  return turns;
}

// The stream was live until `turn`.
std::optional<LogTime> EventTimes::find_last_word(const Turn& turn, const SourceName& source,
                                                  Kind kind) {
  EventPlace noticed = turn.place;
  const Event* sign = lookup_.at(noticed.seq);
  if (turn.start) {
    // A hub ran at the last event before, which is not the log's first: the stream was live there.
    const Event* last = lookup_.at(Seq{noticed.seq.value - 1});
    if (last == nullptr) return std::nullopt;
    noticed.time = last->log_time;
  } else if (const auto* stale = sign ? std::get_if<SourceStale>(&sign->fact) : nullptr;
             stale == nullptr || !stale->kind) {
    return noticed.time;  // it was watched until then, or its silence was reported at once
  }
  const auto stale_after = stale_after_at(lookup_.log(), noticed.seq);
  if (!stale_after) return std::nullopt;
  return last_word_of(lookup_, source, kind, noticed, *stale_after);
}

Json EventTimes::unseen(const Event& event, Kind kind, const Event* before) {
  Turns& turns = turns_of(event.source, kind);
  const auto behind =
      std::upper_bound(turns.begin(), turns.end(), event.seq,
                       [](Seq seq, const Turn& turn) { return seq < turn.place.seq; });
  const auto count = static_cast<std::size_t>(behind - turns.begin());
  // The sign of life of what ended a silence is logged just before it, at the same time.
  std::size_t live = count;
  if (live > 0 && turns[live - 1].live && turns[live - 1].place.time == event.log_time) --live;
  const LogTime known = event.log_time;
  const auto bounded = [&](std::optional<LogTime> heard) {
    // A record of the object itself is a later word of it.
    return before != nullptr ? std::optional(std::max(heard.value_or(LogTime{}), before->log_time))
                             : heard;
  };
  if (live > 0 && turns[live - 1].live) return times_json(known, known, known, "logged");
  if (live == 0)
    return times_json(bounded(std::nullopt), known, known, "unseen");  // of a pruned log
  Turn& turn = turns[live - 1];
  if (turn.start && before != nullptr && before->seq > turn.start->seq)
    return times_json(known, known, known, "logged");
  if (live == 1) return times_json(bounded(std::nullopt), known, known, "listed");
  if (!turn.heard) turn.heard = find_last_word(turn, event.source, kind);
  return times_json(bounded(*turn.heard), known, known, "unseen");
}

std::optional<Json> EventTimes::said(const Event& event, const Event* before) const {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  if (seen == nullptr) return std::nullopt;
  const auto* was = before ? std::get_if<ObjectObserved>(&before->fact) : nullptr;
  if (const FieldWriter* writer = new_writer(*seen, was))
    if (const auto time = parse_rfc3339(writer->time)) {
      Json times = times_json(*time, *time, event.log_time, "said");
      times["by"] = writer->manager;
      return times;
    }
  const auto created = created_of(seen->facts);
  // The oldest record that is kept may not be the first one.
  const bool is_first = was == nullptr && lookup_.log().first_seq() <= Seq{1};
  if (is_first && created && *created > LogTime{})
    return times_json(*created, *created, event.log_time, "created");
  return std::nullopt;
}

Json EventTimes::of_object(const Event& event) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  const Kind kind = seen ? seen->key.kind : std::get<ObjectGone>(event.fact).key.kind;
  const Event* before = changes_.before(event);
  auto times = said(event, before);
  return times ? *std::move(times) : unseen(event, kind, before);
}

Json EventTimes::json_of(const Event* event) {
  if (event == nullptr) return nullptr;
  if (std::holds_alternative<ObjectObserved>(event->fact) ||
      std::holds_alternative<ObjectGone>(event->fact))
    return of_object(*event);
  if (const auto* accepted = std::get_if<PatchAccepted>(&event->fact)) {
    const Event* intent = lookup_.at(accepted->intent);
    return intent ? times_json(intent->log_time, event->log_time, event->log_time, "answered")
                  : Json();
  }
  if (!std::holds_alternative<PatchIntended>(event->fact)) return nullptr;
  const Seq last{std::min(lookup_.log().last_seq().value, event->seq.value + kAnswerWithin)};
  const auto answer = answer_of(lookup_.log(), event->seq, last);
  if (!answer || answer->outcome != Outcome::accepted) return nullptr;
  return times_json(event->log_time, answer->time, answer->time, "answered");
}

}  // namespace fairlead
