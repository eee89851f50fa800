#include "engine/log/replicated/ring_session.h"

#include <algorithm>

#include "engine/log/replicated/ring_check.h"

namespace fairlead {

std::optional<Digest> RingSession::known_digest(std::uint64_t commit) const {
  if (commit + 1 == place.next) return place.chain;
  const auto kept = events.kept(commit);
  return kept ? std::optional(digest_of(*kept)) : std::nullopt;
}

void RingSession::read(std::uint32_t slot, CommitStore::Read done) {
  store.read(slot, in_turn([this, slot, done](const Result<std::optional<RingSlot>>& first) {
               if (!is_doubtful(slot, first)) return done(first);
               const auto settled = [this, slot,
                                     done](const Result<std::optional<RingSlot>>& second) {
                 if (second && !is_doubtful(slot, second))
                   say("slot " + std::to_string(slot) +
                       " of the log's ring: one server gave something else than another");
                 done(second);
               };
               store.read_again(slot, in_turn(settled));
             }));
}

// Damage, another log or history, or an older commit than the newest that is known to belong there.
bool RingSession::is_doubtful(std::uint32_t slot,
                              const Result<std::optional<RingSlot>>& found) const {
  if (!found) return found.error().code == ErrorCode::corrupt;
  if (!*found) return false;
  const RingCommit& commit = (*found)->commit;
  const bool has_newest = place.next > slot;
  const std::uint64_t newest =
      has_newest ? place.next - 1 - (place.next - 1 - slot) % place.slots : slot;
  switch (state_of_slot(place, *found, newest, {})) {
    case SlotState::missing: return false;
    case SlotState::other_log:
    case SlotState::damaged: return true;
    case SlotState::unused:
    case SlotState::older: return has_newest && newest >= place.base;
    case SlotState::same:
    case SlotState::other:
    case SlotState::later: break;
  }
  if (commit.commit == place.next) return !check_continues(place, commit);
  if (commit.commit > place.next) return false;
  const auto header = read_pack_header(commit.pack);
  const auto known = known_digest(commit.commit);
  return known && (!header || header->digest != *known);
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
  session_.read(slot, answered);
}

}  // namespace fairlead
