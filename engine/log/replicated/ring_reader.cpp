#include "engine/log/replicated/ring_reader.h"

#include <algorithm>
#include <string>
#include <utility>

namespace fairlead {

void RingReader::follow() {
  seen_ = beyond_ = confirmed_ = 0;
  listing_ = scanning_ = scan_again_ = list_again_ = inspecting_ = session_.behind = false;
  ends_wanted_ = ends_answered_ = 0;
  retry_.reset();
  stream_retry_.reset();
  list();
}

void RingReader::read_on() {
  ++ends_wanted_;
  scan();
}

/// Also within a callback of the stream, which must not be destroyed then.
void RingReader::end() {
  idle_.reset();
  if (!stream_) return;
  std::shared_ptr<CommitStore::Following> ended = std::move(stream_);
  sweep_ = session_.store.after({}, [ended]() mutable { ended.reset(); });
}

void RingReader::list() {
  end();
  listing_ = true;
  const auto each = [this](const RingSlot& slot) { take_hint(slot.commit); };
  const auto done = [this](Result<StoreVersion> version) {
    if (!version) {
      session_.trouble = version.error().message;
      return stream_retry_.again({}, [this] { list(); });
    }
    seen_ = *version;
    listing_ = list_again_ = false;
    open_stream();
    scan();
  };
  session_.store.list_each(session_.in_turn(each), session_.in_turn(done));
}

void RingReader::open_stream() {
  stream_ = session_.store.follow(
      seen_, {session_.in_turn([this](RingSlot slot) { changed(std::move(slot)); }),
              // The writer makes it again when its turn comes.
              [](std::uint32_t) {},
              session_.in_turn([this](const Error& error) { stream_ended(error); })});
}

void RingReader::stream_ended(const Error& error) {
  end();
  if (error.code == ErrorCode::gone) return stream_retry_.again({}, [this] { list(); });
  stream_retry_.again({}, [this] {
    open_stream();
    scan();
  });
}

void RingReader::changed(RingSlot slot) {
  stream_retry_.reset();
  seen_ = std::max(seen_, slot.version);
  const RingCommit& commit = slot.commit;
  RingPlace& place = session_.place;
  take_hint(commit);
  if (commit.commit == place.next && !commit.pack.empty()) {
    const auto header = check_continues(place, commit);
    if (!header) return scan();
    const bool more = session_.behind;
    const std::uint64_t turn = session_.turn;
    learn(commit, *header, slot.version);
    return more && session_.turn == turn ? scan() : void();
  }
  if (commit.commit > place.next) return session_.behind ? void() : scan();
  const bool touched = slot.version != session_.version_of(commit.commit);
  if (touched && !commit.pack.empty() && commit.commit + place.slots >= place.next)
    inspect(commit.commit);
}

void RingReader::take_hint(const RingCommit& commit) {
  const RingPlace& place = session_.place;
  if (commit.log == place.log && commit.slots == place.slots && !commit.pack.empty())
    beyond_ = std::max(beyond_, commit.commit);
}

/// A slot was written whose commit is known. By hand, or to put it back; or another history is
/// being written over ours.
void RingReader::inspect(std::uint64_t commit) {
  if (std::exchange(inspecting_, true)) return;
  check_retry_.read(session_.slot_of(commit), [this, commit](const std::optional<RingSlot>& found) {
    inspecting_ = false;
    inspected(commit, found);
  });
}

SlotState RingReader::inspected(std::uint64_t commit, const std::optional<RingSlot>& found) {
  const auto known = session_.known_digest(commit);
  const std::string name = "commit " + std::to_string(commit) + " of the ring: ";
  const SlotState state = state_of_slot(session_.place, found, commit, known);
  if (state == SlotState::same) {
    if (commit + session_.place.slots >= session_.place.next)
      session_.set_version(commit, found->version);
    if (commit + 1 == session_.place.next) session_.went_back_counted = false;
  } else if (state == SlotState::other && known) {
    session_.stop({ErrorCode::corrupt, name + "another history was written over it"});
  } else if (state == SlotState::other_log) {
    session_.stop({ErrorCode::corrupt, name + "it is of another log: " + found->commit.log});
  } else if (commit + 1 == session_.place.next &&
             (state == SlotState::older || state == SlotState::unused)) {
    session_.count_went_back("commit " + std::to_string(commit) + " is missing");
  }
  return state;
}

void RingReader::scan() {
  // After a list there is a scan: what the list hints at is looked for then.
  if (listing_) return;
  if (scanning_) {
    scan_again_ = true;
    return;
  }
  scanning_ = true;
  scan_again_ = false;
  ends_answered_ += std::exchange(ends_wanted_, 0);
  width_ = kRingReadFirst;
  check_last_ = true;
  read_batch();
}

void RingReader::read_batch() {
  // The first batch of a scan begins with the last commit that is known: is it still there?
  const bool checks = std::exchange(check_last_, false) && session_.place.next > 0;
  const std::uint32_t width = std::min(width_ + (checks ? 1 : 0), session_.place.slots);
  batch_ = {session_.place.next - (checks ? 1 : 0), std::vector<std::optional<Found>>(width), width,
            checks};
  for (std::uint32_t at = 0; at < width; ++at) {
    const auto answered = [this, at](Found found) {
      batch_.found[at] = std::move(found);
      if (--batch_.open == 0) take_batch();
    };
    session_.read(session_.slot_of(batch_.first + at), answered);
  }
}

void RingReader::take_batch() {
  const std::uint64_t turn = session_.turn;
  const Batch batch = std::exchange(batch_, {});
  for (std::uint32_t at = 0; at < batch.found.size(); ++at) {
    const Found& found = *batch.found[at];
    if (at == 0 && batch.checks && found) {
      // It was the last that was known when the batch began; the stream may have brought another.
      const SlotState state = inspected(batch.first, *found);
      if (session_.turn != turn) return;
      if (state == SlotState::older || state == SlotState::unused) session_.missing = batch.first;
    }
    // The stream may have brought it meanwhile.
    if (batch.first + at < session_.place.next) continue;
    if (!found) {
      session_.trouble = found.error().message;
      return retry_.again({}, [this] { read_batch(); });
    }
    retry_.reset();
    const std::optional<RingSlot>& slot = *found;
    if (!slot || slot->commit.commit != session_.place.next || slot->commit.pack.empty())
      return take_end(batch, at);
    const auto header = check_continues(session_.place, slot->commit);
    if (!header) return session_.stop(header.error());
    // The stream has passed versions that are being given again: it is silent about this history.
    if (slot->version < seen_ && beyond_ < slot->commit.commit) list_again_ = true;
    learn(slot->commit, *header, slot->version);
    if (session_.turn != turn) return;
  }
  width_ = std::min(width_ * 2, kRingReadAhead);
  read_batch();
}

/// The slot of the next commit holds something else.
void RingReader::take_end(const Batch& batch, std::uint32_t at) {
  session_.trouble.clear();
  for (std::uint32_t later = at + 1; later < batch.found.size(); ++later)
    if (const Found& found = *batch.found[later]; found && *found) take_hint((*found)->commit);
  const std::optional<RingSlot>& found = **batch.found[at];
  const std::uint64_t next = session_.place.next;
  const std::string name = "commit " + std::to_string(next) + " of the ring: ";
  switch (state_of_slot(session_.place, found, next, {})) {
    case SlotState::other_log:
      return session_.stop(
          {ErrorCode::corrupt, name + "its slot is of another log: " + found->commit.log});
    case SlotState::later: return be_behind(found->commit.commit - session_.place.slots + 1);
    case SlotState::missing:
    case SlotState::unused:
    case SlotState::damaged:
    case SlotState::older:
    case SlotState::same:
    case SlotState::other: break;
  }
  if (beyond_ > next) return look_beyond();
  finish_scan();
}

/// The ring seems to end here, and a hint named a later commit. The hint may be old; or a commit in
/// between is missing.
void RingReader::look_beyond() {
  const std::uint64_t next = session_.place.next;
  // It was there before this scan began, and the next one still is not.
  if (confirmed_ > next) return be_behind(next + 1);
  const std::uint64_t far = beyond_;
  retry_.read(session_.slot_of(far), [this, far](const std::optional<RingSlot>& found) {
    const SlotState state = state_of_slot(session_.place, found, far, {});
    if (state == SlotState::other || state == SlotState::later) {
      confirmed_ = found->commit.commit;
      return read_batch();
    }
    if (beyond_ == far) beyond_ = 0;
    finish_scan();
  });
}

void RingReader::finish_scan() {
  scanning_ = false;
  const std::uint64_t turn = session_.turn;
  // Before anything is read again: more may come for ever.
  for (auto ends = std::exchange(ends_answered_, 0); ends > 0 && session_.turn == turn; --ends)
    session_.events.reached_end();
  if (session_.turn != turn || scanning_) return;
  if (list_again_) return list();
  if (scan_again_ || ends_wanted_ > 0) return scan();
  idle_ = session_.store.after(kRingIdleCheck, session_.in_turn([this] { scan(); }));
}

void RingReader::learn(const RingCommit& commit, const PackHeader& header, StoreVersion version) {
  session_.behind = false;
  session_.advance(header, version);
  session_.trouble.clear();
  session_.went_back_counted = false;
  session_.events.learned(commit, version);
}

/// The next commit is missing, and later ones are there. It may only be missing for a moment: after
/// a restore the leader puts commits back, and a paused leader may have stored a later one first.
/// So reading goes on, at a slow pace. Otherwise only a copy from another replica helps.
void RingReader::be_behind(std::uint64_t oldest) {
  scanning_ = false;
  session_.behind = true;
  idle_ = session_.store.after(kRingIdleCheck, session_.in_turn([this] { scan(); }));
  session_.events.behind(oldest);
}

}  // namespace fairlead
