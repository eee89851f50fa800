#include "engine/apply/applier.h"

#include <algorithm>
#include <iterator>

namespace fairlead {

namespace {

WriteKey key_of(const WriteRequest& request) {
  return {request.cluster, request.target, request.verb == Verb::apply_status};
}

WriteRequest request_for(Seq seq, const PatchIntended& intent) {
  return {seq,           intent.cluster, intent.verb,
          intent.target, intent.version, intent.field_manager,
          intent.force,  intent.uid,     intent.resource_version,
          intent.body};
}

std::string bounded(std::string text) {
  if (text.size() > kOutcomeReasonBytesMax) text.resize(kOutcomeReasonBytesMax);
  return text;
}

EventDraft outcome(Seq intent, Fact fact) { return {std::string(kSelf), intent, std::move(fact)}; }

EventDraft rejected(Seq intent, int http_code, std::string reason,
                    RejectionCause cause = RejectionCause::content) {
  return outcome(intent, PatchRejected{intent, http_code, bounded(std::move(reason)), cause});
}

}  // namespace

Applier::Applier(std::int64_t inflight_max) { set_inflight_max(inflight_max); }

void Applier::set_inflight_max(std::int64_t inflight_max) {
  inflight_max_ = static_cast<std::size_t>(std::max<std::int64_t>(inflight_max, 1));
}

// At most one write of an object waits, the newest. The replaced one gets an outcome, although the
// fold no longer waits for it (note_intent), so that the log says what became of every intent.
std::optional<EventDraft> Applier::enqueue(const Event& intent) {
  const PatchIntended& intended = std::get<PatchIntended>(intent.fact);
  Write write{request_for(intent.seq, intended)};
  const WriteKey key = key_of(write.request);
  Lane& lane = lanes_[intended.cluster];
  std::optional<EventDraft> replaced;
  if (const auto older = lane.place_of.find(key); older != lane.place_of.end()) {
    const Seq seq = older->second.second;
    replaced = rejected(
        seq, 0,
        "not sent: the intent " + std::to_string(intent.seq.value) + " came before its turn");
    lane.waiting.erase(older->second);
  }
  const Place place{intended.direction, intent.seq};
  lane.place_of[key] = place;
  lane.waiting.emplace(place, std::move(write));
  return replaced;
}

// A write whose object has one under way is passed over, not sent beside it: two requests on their
// way may arrive in either order. So a server gets the writes of an object in the order of their
// intents. The passed one keeps its place, and writes behind it may be sent before it.
std::vector<WriteRequest> Applier::requests(LogTime now) {
  std::vector<WriteRequest> out;
  for (auto& [cluster, lane] : lanes_) {
    if (lane.opens && now < *lane.opens) continue;
    lane.opens.reset();
    for (auto at = lane.waiting.begin(); at != lane.waiting.end();) {
      if (lane.busy.size() >= inflight_max_) break;
      const WriteKey key = key_of(at->second.request);
      if (!lane.busy.insert(key).second) {
        ++at;
        continue;
      }
      out.push_back(at->second.request);
      lane.place_of.erase(key);
      const Seq seq = at->first.second;
      under_way_.emplace(seq, std::pair(at->first, std::move(at->second)));
      at = lane.waiting.erase(at);
    }
  }
  return out;
}

std::optional<EventDraft> Applier::answered(const WriteAnswer& answer, LogTime now) {
  const auto at = under_way_.find(answer.intent);
  if (at == under_way_.end()) return std::nullopt;
  auto [place, write] = std::move(at->second);
  under_way_.erase(at);
  const WriteKey key = key_of(write.request);
  Lane& lane = lanes_[write.request.cluster];
  lane.busy.erase(key);

  const Seq seq = answer.intent;
  switch (answer.result) {
    case WriteResult::accepted:
      return outcome(seq,
                     PatchAccepted{seq, answer.http_code, answer.uid, answer.resource_version});
    case WriteResult::conflict: return rejected(seq, 409, answer.reason);
    case WriteResult::gone: return rejected(seq, 404, answer.reason);
    case WriteResult::refused: return rejected(seq, answer.http_code, answer.reason);
    case WriteResult::forbidden:
      return rejected(seq, answer.http_code, answer.reason, RejectionCause::rights);
    case WriteResult::unserved:
      return rejected(seq, answer.http_code, answer.reason, RejectionCause::outage);
    case WriteResult::unknown: return outcome(seq, PatchUnknown{seq, bounded(answer.reason)});
    case WriteResult::throttled: break;
  }
  // The newer intent was derived from later events: sending the older write again would be wrong.
  if (lane.place_of.contains(key))
    return rejected(seq, answer.http_code, "throttled, and a newer intent waits: " + answer.reason);
  if (++write.throttled >= kThrottledMax)
    return rejected(seq, answer.http_code,
                    "throttled " + std::to_string(write.throttled) + " times: " + answer.reason,
                    RejectionCause::outage);
  const Duration wait = answer.retry_after.value_or(seconds(1));
  const LogTime opens = now + std::clamp(wait, Duration{0}, kRetryAfterMax);
  // 429 and 503 are about the server, not the object, so all writes to it wait.
  lane.opens = std::max(lane.opens.value_or(opens), opens);
  // At its old place: a throttled write does not lose its turn to writes that came after it.
  lane.place_of[key] = place;
  lane.waiting.emplace(place, std::move(write));
  return std::nullopt;
}

LogTime Applier::next_due() const {
  LogTime due = kForever;
  for (const auto& [cluster, lane] : lanes_)
    if (lane.opens && !lane.waiting.empty()) due = std::min(due, *lane.opens);
  return due;
}

std::vector<EventDraft> Applier::give_up(std::string_view why) {
  std::set<Seq> unanswered;
  for (const auto& [seq, write] : under_way_) unanswered.insert(seq);
  for (const auto& [cluster, lane] : lanes_)
    for (const auto& [place, write] : lane.waiting) unanswered.insert(place.second);
  lanes_.clear();
  under_way_.clear();
  std::vector<EventDraft> drafts;
  for (const Seq seq : unanswered)
    drafts.push_back(outcome(seq, PatchUnknown{seq, bounded(std::string(why))}));
  return drafts;
}

std::size_t Applier::waiting() const {
  std::size_t count = 0;
  for (const auto& [cluster, lane] : lanes_) count += lane.waiting.size();
  return count;
}

}  // namespace fairlead
