#include "engine/log/replicated/ring_repair.h"

#include <string>
#include <utility>

namespace fairlead {

void RingRepair::start(SlotState own) {
  own_ = own;
  lost_.clear();
  went_back_ = beyond_good_ = false;
  retry_.reset();
  look_ahead();
}

void RingRepair::stop(std::uint64_t commit, const std::string& what) {
  session_.stop({ErrorCode::corrupt, "commit " + std::to_string(commit) + " of the ring, slot " +
                                         std::to_string(session_.slot_of(commit)) + ": " + what});
}

/// A slot that was deleted says nothing about who wrote into it. The next one may: nothing is put
/// back behind another writer.
void RingRepair::look_ahead() {
  const std::uint64_t ahead = session_.place.next + 1;
  reads_.read(session_.slot_of(ahead), [this, ahead](const std::optional<RingSlot>& found) {
    nothing_ahead_ = !found;
    switch (state_of_slot(session_.place, found, ahead, {})) {
      case SlotState::other:
      case SlotState::later: return ends_.fenced();
      case SlotState::other_log: return stop(ahead, "it is of another log");
      case SlotState::same:
      case SlotState::missing:
      case SlotState::unused:
      case SlotState::damaged:
      case SlotState::older: break;
    }
    if (session_.place.next == 0) return make_own_slot();
    look_back(session_.place.next - 1);
  });
}

void RingRepair::look_back(std::uint64_t commit) {
  reads_.read(session_.slot_of(commit),
              [this, commit](const std::optional<RingSlot>& found) { judge(commit, found); });
}

void RingRepair::judge(std::uint64_t commit, const std::optional<RingSlot>& found) {
  const SlotState state =
      state_of_slot(session_.place, found, commit, session_.known_digest(commit));
  switch (state) {
    case SlotState::same:
      session_.set_version(commit, found->version);
      beyond_good_ = true;
      return went_back_ || session_.missing ? look_before(commit) : put_back();
    case SlotState::later: return ends_.fenced();
    case SlotState::other:
      if (beyond_good_) return put_back();
      return stop(commit, "it is another commit than the one that was stored");
    case SlotState::other_log:
      if (beyond_good_) return put_back();
      return stop(commit, "it is of another log");
    case SlotState::damaged:
      if (beyond_good_) return put_back();
      if (found->commit.commit > commit) return stop(commit, "what was written there last is lost");
      return note_lost(commit, found, state);
    case SlotState::missing:
    case SlotState::unused:
    case SlotState::older: return note_lost(commit, found, state);
  }
}

void RingRepair::note_lost(std::uint64_t commit, const std::optional<RingSlot>& found,
                           SlotState state) {
  const bool first = commit + 1 == session_.place.next;
  if (first && state == SlotState::missing && own_ == SlotState::missing && nothing_ahead_) {
    // No ring, rather than slots that somebody deleted: the namespace or the kind is not there. A
    // ring is made by who knows that there is to be one, not by a writer.
    session_.trouble = "the slots of the log's ring are not there";
    return retry_.again({}, ends_.done);
  }
  if (!session_.events.kept(commit)) {
    // Nothing older was ever in a ring that was begun with this log.
    if (state != SlotState::older || beyond_good_) return put_back();
    return stop(commit, "it is neither in the ring nor in the local copy");
  }
  if (state == SlotState::older || state == SlotState::unused) {
    went_back_ = went_back_ || first;
    session_.count_went_back("commit " + std::to_string(commit) + " is missing");
  }
  lost_.push_back({commit, found ? found->version : 0, state});
  look_before(commit);
}

void RingRepair::look_before(std::uint64_t commit) {
  // Below that begins the lap of the slot of the commit under way.
  if (commit == 0 || commit + session_.place.slots == session_.place.next + 1) return put_back();
  look_back(commit - 1);
}

void RingRepair::put_back() {
  if (lost_.empty()) return own_ == SlotState::missing ? make_own_slot() : ends_.done();
  const Lost lost = lost_.back();
  const auto kept = session_.events.kept(lost.commit);
  if (!kept) return stop(lost.commit, "it is no longer in the local copy");
  const auto answered = session_.in_turn(
      [this, lost](const StoreAnswer& answer) { put_back_answered(lost, answer); });
  if (lost.version == 0)
    session_.store.create(*kept, answered);
  else
    session_.store.replace(*kept, lost.version, answered);
}

void RingRepair::put_back_answered(const Lost& lost, const StoreAnswer& answer) {
  switch (answer.result) {
    case StoreResult::stored:
      retry_.reset();
      session_.set_version(lost.commit, answer.version);
      if (lost.state == SlotState::missing || lost.state == SlotState::damaged)
        session_.count_foreign(lost.commit,
                               "commit " + std::to_string(lost.commit) + " was put back");
      lost_.pop_back();
      return put_back();
    case StoreResult::conflict:
    case StoreResult::missing:
      // Ours, if an answer was lost; or another writer is at the same. What is there says it.
      return retry_.again({}, [this] {
        lost_.clear();
        look_ahead();
      });
    case StoreResult::refused:
    case StoreResult::unknown: return try_later(answer, [this] { put_back(); });
  }
}

/// Makes the slot of the commit under way again, with what was in it: a commit is only ever written
/// over a version.
void RingRepair::make_own_slot() {
  if (own_ != SlotState::missing) return ends_.done();
  const RingPlace& place = session_.place;
  RingCommit held{place.log, place.slots, session_.slot_of(place.next), Seq{}, 0, {}};
  if (place.next >= place.slots)
    if (auto kept = session_.events.kept(place.next - place.slots)) held = *std::move(kept);
  const auto answered = [this](const StoreAnswer& answer) {
    if (answer.result == StoreResult::refused || answer.result == StoreResult::unknown)
      return try_later(answer, [this] { make_own_slot(); });
    // Read before it is written over: others may have made the same slot meanwhile, and gone on.
    session_.version_of(session_.place.next) = 0;
    if (answer.result == StoreResult::stored) {
      session_.count_foreign(session_.place.next, "it was deleted, and made again");
    }
    ends_.done();
  };
  session_.store.create(held, session_.in_turn(answered));
}

void RingRepair::try_later(const StoreAnswer& answer, std::function<void()> work) {
  if (answer.result == StoreResult::unknown) ++session_.counters.unknown;
  session_.trouble = answer.why;
  retry_.again(answer.retry_after, std::move(work));
}

}  // namespace fairlead
