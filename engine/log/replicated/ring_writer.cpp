#include "engine/log/replicated/ring_writer.h"

#include <string>
#include <utility>

#include "engine/base/check.h"

namespace fairlead {

namespace {

/// Nobody restores a store within this time.
constexpr Duration kRingTrust = seconds(2);

}  // namespace

RingWriter::RingWriter(RingSession& session)
    : session_(session),
      retry_(session),
      reads_(session),
      repair_(session, {[this] {
                          suspicious_ = previous_lost_ = stored_ = false;
                          session_.missing.reset();
                          attempt();
                        },
                        [this] { fenced(); }}) {}

void RingWriter::append(RingCommit commit) {
  commit_ = std::move(commit);
  const auto header = check_continues(session_.place, commit_);
  check(header.has_value(), "an appended commit continues the ring");
  header_ = *header;
  previous_lost_ = stored_ = false;
  suspicious_ = suspicious_ || heard_ + kRingTrust < session_.store.now() || session_.missing;
  retry_.reset();
  attempt();
}

void RingWriter::attempt() {
  if (suspicious_ && session_.place.next > 0) return check_previous();
  if (session_.version_of(commit_.commit) == 0) return settle();
  send();
}

void RingWriter::check_previous() {
  // The slot of a commit that has left the window holds a later commit.
  if (session_.missing && *session_.missing + session_.place.slots <= session_.place.next)
    session_.missing.reset();
  const std::uint64_t previous = session_.missing.value_or(session_.place.next - 1);
  reads_.read(session_.slot_of(previous), [this, previous](const std::optional<RingSlot>& found) {
    switch (state_of_slot(session_.place, found, previous, session_.known_digest(previous))) {
      case SlotState::same:
        session_.set_version(previous, found->version);
        // Another writer has put it back, after those before it. Now check the last commit.
        if (std::exchange(session_.missing, std::nullopt)) return check_previous();
        suspicious_ = false;
        heard_ = session_.store.now();
        return stored_ ? decided() : attempt();
      case SlotState::later: return fenced();
      case SlotState::other:
        return stop("the commit before it is another one than the one that was stored");
      case SlotState::other_log: return stop("the commit before it is of another log");
      case SlotState::missing:
      case SlotState::unused:
      case SlotState::damaged:
      case SlotState::older: previous_lost_ = true; return settle();
    }
  });
}

void RingWriter::send() {
  session_.store.replace(commit_, session_.version_of(commit_.commit),
                         session_.in_turn([this](const StoreAnswer& answer) { answered(answer); }));
}

void RingWriter::answered(const StoreAnswer& answer) {
  switch (answer.result) {
    case StoreResult::stored:
      session_.version_of(commit_.commit) = answer.version;
      if (previous_lost_) return repair_.start(SlotState::same);
      if (answer.version > session_.place.version) {
        // The answer took so long that the store may have been restored meanwhile. Then commits
        // before this one are missing, and no follower could read past them.
        stored_ = heard_ + kRingTrust < session_.store.now() && session_.place.next > 0;
        return stored_ ? check_previous() : decided();
      }
      session_.count_went_back("a version is not above the one before");
      return repair_.start(SlotState::same);
    case StoreResult::conflict:
    case StoreResult::missing: return settle();
    case StoreResult::unknown: ++session_.counters.unknown; [[fallthrough]];
    case StoreResult::refused:
      session_.trouble = answer.why;
      suspicious_ = true;
      return retry_.again(answer.retry_after, [this] { attempt(); });
  }
}

void RingWriter::settle() {
  reads_.read(session_.slot_of(commit_.commit),
              [this](const std::optional<RingSlot>& found) { settled(found); });
}

void RingWriter::settled(const std::optional<RingSlot>& found) {
  const SlotState state = state_of_slot(session_.place, found, commit_.commit, header_.digest);
  switch (state) {
    case SlotState::same: return answered({StoreResult::stored, found->version, {}, {}});
    case SlotState::other: {
      const auto header = read_pack_header(found->commit.pack);
      if (header && header->previous != session_.place.chain)
        return stop("another history is there");
      return fenced();
    }
    case SlotState::later: return fenced();
    case SlotState::other_log: return stop("its slot is of another log: " + found->commit.log);
    case SlotState::damaged:
      if (found->commit.commit >= commit_.commit)
        return stop("its slot holds a commit that does not read");
      session_.count_foreign(commit_.commit, "it was changed");
      session_.version_of(commit_.commit) = found->version;
      return repair_.start(state);
    case SlotState::unused:
    case SlotState::older: return known_content(*found, state);
    case SlotState::missing: return repair_.start(state);
  }
}

/// What is there was there before: our chain's commit of the lap before, or something older.
void RingWriter::known_content(const RingSlot& found, SlotState state) {
  const std::uint64_t lap = session_.place.slots;
  const std::uint64_t number = commit_.commit;
  if (state == SlotState::older) {
    const std::uint64_t held = found.commit.commit;
    const auto kept = session_.events.kept(held);
    if (kept && state_of_slot(session_.place, found, held, digest_of(*kept)) != SlotState::same)
      return stop("its slot holds a commit of another history");
  }
  const StoreVersion known = std::exchange(session_.version_of(number), found.version);
  const bool expected = number < lap
                            ? state == SlotState::unused
                            : state == SlotState::older && found.commit.commit + lap == number;
  if (previous_lost_ || !expected || found.version < known) return repair_.start(state);
  // Refused, and yet it has the version that was named: not at once again.
  if (known != 0 && found.version == known) return retry_.again({}, [this] { attempt(); });
  if (known != 0) session_.count_foreign(number, "it was touched");
  write_over();
}

/// Writes over what was read, rather than over a version that was known: what another writer has
/// stored there may have been emptied by hand. Its next commit shows that it was there.
void RingWriter::write_over() {
  const std::uint64_t ahead = commit_.commit + 1;
  reads_.read(session_.slot_of(ahead), [this, ahead](const std::optional<RingSlot>& found) {
    const SlotState state = state_of_slot(session_.place, found, ahead, {});
    if (state == SlotState::other || state == SlotState::later) return fenced();
    attempt();
  });
}

void RingWriter::decided() {
  session_.advance(header_, session_.version_of(commit_.commit));
  session_.trouble.clear();
  session_.went_back_counted = false;
  suspicious_ = false;
  heard_ = session_.store.now();
  ++session_.turn;
  session_.events.stored();
}

void RingWriter::fenced() {
  ++session_.counters.fenced;
  session_.trouble.clear();
  suspicious_ = true;
  ++session_.turn;
  session_.events.fenced();
}

void RingWriter::stop(const std::string& what) {
  session_.stop({ErrorCode::corrupt, "commit " + std::to_string(commit_.commit) + " (seq " +
                                         std::to_string(commit_.first.value) +
                                         " and on) of the ring: " + what});
}

}  // namespace fairlead
