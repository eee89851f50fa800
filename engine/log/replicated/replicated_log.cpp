#include "engine/log/replicated/replicated_log.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <utility>

#include "engine/base/check.h"
#include "engine/log/pack_verification.h"

namespace fairlead {

namespace {

// Gives a commit's contents back to the drafts that it was made of.
void give_back(std::vector<Event>& events, std::span<EventDraft> drafts) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    drafts[i].source = std::move(events[i].source);
    drafts[i].fact = std::move(events[i].fact);
  }
}

}  // namespace

ReplicatedLog::ReplicatedLog(RocksdbLog& local, RingPlace place, CommitStore& store,
                             const ReplicationPace& pace, ReplicatedLogPorts ports)
    : local_(local),
      ports_(std::move(ports)),
      store_kind_(store.kind()),
      pace_(pace),
      tail_(local_tail()) {
  state_.place = place;
  ring_ = std::make_unique<Ring>(store, std::move(place), ring_events());
}

ReplicatedLog::~ReplicatedLog() = default;

void ReplicatedLog::close() {
  if (ports_.pump) return ring_.reset();
  // Shared: this thread may go on before set_value() has returned.
  const auto closed = std::make_shared<std::promise<void>>();
  auto done = closed->get_future();
  ports_.post([this, closed] {
    ring_.reset();
    closed->set_value();
  });
  done.wait();
}

RingEvents ReplicatedLog::ring_events() {
  RingEvents events;
  events.learned = [this](const RingCommit& commit, StoreVersion version) {
    learned(commit, version);
  };
  events.reached_end = [this] {
    {
      const std::lock_guard lock(mutex_);
      state_.end_reached = reads_.front();
      state_.behind.reset();
    }
    reads_.pop_front();
    look();
    ports_.wake();
  };
  events.stored = [this] { stored(); };
  events.fenced = [this] {
    outgoing_.clear();
    settle(Error{ErrorCode::conflict, "another leader has appended to the log"});
  };
  events.behind = [this](std::uint64_t oldest) {
    {
      const std::lock_guard lock(mutex_);
      state_.behind = oldest;
    }
    ports_.wake();
  };
  events.stopped = [this](Error why) { stop(std::move(why)); };
  events.kept = [this](std::uint64_t commit) { return kept(commit); };
  events.say = ports_.say;
  return events;
}

ReplicatedLogState ReplicatedLog::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void ReplicatedLog::refresh() {
  ports_.post([this] { look(); });
}

void ReplicatedLog::look() {
  if (!ring_) return;
  const std::lock_guard lock(mutex_);
  state_.place = ring_->place();
  state_.counters = ring_->counters();
  state_.trouble = ring_->trouble();
}

void ReplicatedLog::follow() {
  ports_.post([this] {
    if (!ring_) return;
    outgoing_.clear();
    reads_.clear();
    ring_->give_up();
    settle(Error{ErrorCode::conflict, "this process leads no more"});
    {
      // Who began it is gone: the next term begins with none under way.
      const std::lock_guard lock(mutex_);
      outcome_.reset();
    }
    ring_->follow();
  });
}

LogTail ReplicatedLog::tail() const {
  const std::lock_guard lock(mutex_);
  return tail_;
}

// The log's end as a whole: it grows on the store's thread.
LogTail ReplicatedLog::local_tail() const { return *local_.tail_through(Seq{UINT64_MAX}); }

void ReplicatedLog::take_up() {
  const LogTail end = local_tail();
  const std::lock_guard lock(mutex_);
  tail_ = end;
}

Duration ReplicatedLog::pause() {
  constexpr Duration kHeld = milliseconds(100);
  return held_ ? kHeld : pace_.pause(ports_.now());
}

std::uint64_t ReplicatedLog::read_on() {
  const std::uint64_t number = [this] {
    const std::lock_guard lock(mutex_);
    return ++read_last_;
  }();
  ports_.post([this, number] {
    if (!ring_) return;
    reads_.push_back(number);
    ring_->read_on();
  });
  return number;
}

// Makes the commits of an append. Restores the drafts where it fails.
Result<std::vector<ReplicatedLog::Outgoing>> ReplicatedLog::cut(std::span<EventDraft> drafts,
                                                                LogTime time, Epoch epoch) const {
  std::vector<Outgoing> made;
  LogTail tail = this->tail();
  std::size_t begin = 0;
  std::size_t length = drafts.size();
  while (begin < drafts.size()) {
    const std::span<EventDraft> part = drafts.subspan(begin, length);
    auto commit = make_commit(tail, part, time, epoch);
    std::optional<Error> refused;
    std::string packed;
    if (commit) {
      packed = pack(*commit);
      if (length > 1 && packed.size() > kRingPackBytesMax) {
        give_back(commit->events, part);
        length /= 2;
        continue;
      }
      if (packed.size() > kRingRecordBytesMax) {
        give_back(commit->events, part);
        refused = Error{ErrorCode::bad_input,
                        "event " + std::to_string(next(tail.last).value) + " makes a commit of " +
                            std::to_string(packed.size()) + " bytes: a replicated log stores " +
                            std::to_string(kRingRecordBytesMax) + " at most"};
      }
    } else {
      refused = commit.error();
    }
    if (refused) {
      std::size_t at = 0;
      for (Outgoing& earlier : made) {
        give_back(earlier.events, drafts.subspan(at, earlier.events.size()));
        at += earlier.events.size();
      }
      return *refused;
    }
    tail = tail_after(*commit);
    made.push_back({header_of(*commit), std::move(packed), std::move(commit->events), {}});
    begin += length;
    length = std::min(length, drafts.size() - begin);
  }
  std::size_t at = 0;
  for (Outgoing& commit : made) {
    const std::span<EventDraft> part = drafts.subspan(at, commit.events.size());
    at += part.size();
    if (std::ranges::all_of(part, [](const EventDraft& draft) { return draft.raw.empty(); }))
      continue;
    for (EventDraft& draft : part) commit.raw.push_back(std::move(draft.raw));
  }
  return made;
}

Result<std::optional<std::vector<Event>>> ReplicatedLog::begin(std::vector<EventDraft>&& drafts,
                                                               LogTime time, Epoch epoch,
                                                               Durability) {
  {
    const std::lock_guard lock(mutex_);
    check(!under_way_ && !outcome_, "one append at a time");
    if (state_.stopped) return *state_.stopped;
  }
  if (drafts.empty()) return std::optional(std::vector<Event>());
  auto commits = cut(drafts, time, epoch);
  if (!commits) return commits.error();
  {
    const std::lock_guard lock(mutex_);
    under_way_ = true;
  }
  for (const Outgoing& commit : *commits) pace_.begin(commit.pack.size(), ports_.now());
  auto made = std::make_shared<std::vector<Outgoing>>(*std::move(commits));
  ports_.post([this, made] {
    if (!ring_) return;
    outgoing_.assign(std::make_move_iterator(made->begin()), std::make_move_iterator(made->end()));
    done_.clear();
    send_next();
  });
  return settled();
}

void ReplicatedLog::send_next() {
  const Outgoing& commit = outgoing_.front();
  // Learned after the caller took up the log, and before this ran.
  if (ring_->place().chain != commit.header.previous) {
    outgoing_.clear();
    return settle(Error{ErrorCode::conflict, "another leader has appended to the log"});
  }
  ring_->append(commit.header.first, commit.header.count, commit.pack);
}

void ReplicatedLog::stored() {
  Outgoing commit = std::move(outgoing_.front());
  outgoing_.pop_front();
  Result<void> kept = [&] {
    const std::lock_guard lock(writing_);
    return local_.store({commit.header, commit.pack, commit.events, commit.raw}, ring_->place());
  }();
  if (!kept) {
    outgoing_.clear();
    return stop(kept.error());
  }
  note_end(commit.header.last());
  done_.insert(done_.end(), std::make_move_iterator(commit.events.begin()),
               std::make_move_iterator(commit.events.end()));
  if (!outgoing_.empty()) return send_next();
  settle(std::exchange(done_, {}));
}

void ReplicatedLog::learned(const RingCommit& commit, StoreVersion) {
  const auto header = read_pack_header(commit.pack);
  if (!header) return stop(header.error());
  std::vector<Event> events;
  PackVerification verification(local_tail(), [&](const Event& event) {
    events.push_back(event);
    return std::string();
  });
  if (!verification.check_pack(commit.pack))
    return stop({ErrorCode::corrupt, "commit " + std::to_string(commit.commit) +
                                         " of the ring, seq " +
                                         std::to_string(verification.verdict.broken_at->value) +
                                         ": " + verification.verdict.what});
  Result<void> stored = [&] {
    const std::lock_guard lock(writing_);
    return local_.store({*header, commit.pack, events}, ring_->place());
  }();
  if (!stored) return stop(stored.error());
  note_end(header->last());
  {
    const std::lock_guard lock(mutex_);
    state_.behind.reset();
  }
  look();
  ports_.wake();
}

void ReplicatedLog::note_end(Seq last) {
  if (ends_.empty()) return;
  ends_.push_front(last);
  if (ends_.size() > std::size_t{ring_->place().slots} + 1) ends_.pop_back();
}

// The commits of the local copy are counted from its end.
std::optional<RingCommit> ReplicatedLog::kept(std::uint64_t commit) {
  const RingPlace& place = ring_->place();
  if (commit < place.base || commit >= place.next) return std::nullopt;
  const std::uint64_t wanted = place.next - 1 - commit;  // commits behind it
  if (ends_.empty()) ends_.push_back(local_.last_seq());
  std::uint64_t at = std::min<std::uint64_t>(wanted, ends_.size() - 1);
  for (Seq last = ends_[at]; last >= local_.first_seq(); ++at) {
    const auto before = local_.tail_before(last);
    if (!before) return std::nullopt;
    if (at == wanted) {
      std::optional<RingCommit> found;
      const auto walked = local_.for_each_pack(
          next(before->last), last, [&](const PackHeader& header, std::string_view pack) {
            found = RingCommit{place.log,    place.slots,  commit,
                               header.first, header.count, std::string(pack)};
            return Result<PackWalk>(PackWalk::stop);
          });
      return walked ? found : std::nullopt;
    }
    last = before->last;
    if (at + 1 == ends_.size() && ends_.size() <= place.slots) ends_.push_back(last);
  }
  return std::nullopt;
}

// Nothing happens if no append is under way.
void ReplicatedLog::settle(Result<std::vector<Event>> outcome) {
  look();
  {
    const LogTail end = local_tail();
    const std::lock_guard lock(mutex_);
    if (!std::exchange(under_way_, false)) return;
    if (outcome) tail_ = end;
    outcome_ = std::move(outcome);
  }
  changed_.notify_all();
  ports_.wake();
}

void ReplicatedLog::stop(Error why) {
  {
    const std::lock_guard lock(mutex_);
    if (!state_.stopped) state_.stopped = why;
  }
  settle(std::move(why));
  ports_.wake();
}

Result<std::optional<std::vector<Event>>> ReplicatedLog::settled() {
  const std::lock_guard lock(mutex_);
  if (!outcome_) return std::optional<std::vector<Event>>();
  Result<std::vector<Event>> outcome = *std::exchange(outcome_, std::nullopt);
  if (!outcome) return outcome.error();
  return std::optional(*std::move(outcome));
}

void ReplicatedLog::await_settled(Duration span) {
  if (ports_.pump) return ports_.pump();
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::nanoseconds(span.ns), [this] { return !under_way_; });
}

Result<std::vector<Event>> ReplicatedLog::append(std::vector<EventDraft>&& drafts, LogTime time,
                                                 Epoch epoch, Durability durability) {
  auto begun = begin(std::move(drafts), time, epoch, durability);
  while (begun && !*begun) {
    await_settled(seconds(1));
    begun = settled();
  }
  if (!begun) return begun.error();
  return **std::move(begun);
}

Result<void> ReplicatedLog::drop_raw_before(Seq seq) {
  const std::lock_guard lock(writing_);
  return local_.drop_raw_before(seq);
}

Result<void> ReplicatedLog::prune_before(Seq seq) {
  const std::lock_guard lock(writing_);
  return local_.prune_before(seq);
}

}  // namespace fairlead
