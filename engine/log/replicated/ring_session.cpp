#include "engine/log/replicated/ring_session.h"

#include <algorithm>

#include "engine/log/replicated/ring_check.h"

namespace fairlead {

std::optional<Digest> RingSession::known_digest(std::uint64_t commit) const {
  if (commit + 1 == place.next) return place.chain;
  const auto kept = events.kept(commit);
  return kept ? std::optional(digest_of(*kept)) : std::nullopt;
}

void RingSession::stop(Error error) {
  stopped = true;
  ++turn;
  trouble = error.message;
  events.stopped(std::move(error));
}

void RingSession::count_foreign(std::uint64_t commit, const std::string& what) {
  ++counters.foreign;
  say("slot " + std::to_string(slot_of(commit)) + " of the log's ring: " + what);
}

void RingSession::count_went_back(const std::string& what) {
  if (std::exchange(went_back_counted, true)) return;
  ++counters.went_back;
  say("the history of the log's store went back: " + what);
}

void RingRetry::again(std::optional<Duration> asked, std::function<void()> work) {
  const Duration pause = asked.value_or(wait_);
  wait_ = std::min(Duration{wait_.ns * 2}, kRingRetryMost);
  timer_ = session_.store.after(pause, session_.in_turn(std::move(work)));
}

void RingRetry::read(std::uint32_t slot, std::function<void(std::optional<RingSlot>)> found) {
  const auto answered = [this, slot, found](Result<std::optional<RingSlot>> result) {
    if (!result) {
      session_.trouble = result.error().message;
      return again({}, [this, slot, found] { read(slot, found); });
    }
    reset();
    found(*std::move(result));
  };
  session_.store.read(slot, session_.in_turn(answered));
}

}  // namespace fairlead
