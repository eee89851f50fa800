#include "tests/support/memory_commit_store.h"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

constexpr Duration kWay{1'000'000};  // of a request or an answer, at most

StoreAnswer unknown(std::string why) { return {StoreResult::unknown, 0, std::move(why), {}}; }

}  // namespace

/// One stream of changes, as the servers know it.
struct MemoryRing::Stream {
  CommitStore::FollowHandler handler;
  std::weak_ptr<MemoryCommitStore::Engine> engine;
  StoreVersion from = 0;
  LogTime last_due;    ///< reports keep their order
  bool ended = false;  ///< also by its reader
};

class MemoryRing::Following final : public CommitStore::Following {
 public:
  explicit Following(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  ~Following() override { stream_->ended = true; }

 private:
  std::shared_ptr<Stream> stream_;
};

void MemoryRing::make(const std::string& log, std::uint32_t slots) {
  for (std::uint32_t slot = 0; slot < slots; ++slot) put({log, slots, slot, Seq{}, 0, {}});
}

void MemoryRing::put(const RingCommit& commit) {
  const RingSlot slot{commit, ++version_};
  slots_[commit.slot()] = slot;
  changed({version_, commit.slot(), std::make_shared<const RingSlot>(slot)});
}

void MemoryRing::edit(const RingCommit& commit) { put(commit); }

void MemoryRing::erase(std::uint32_t slot) {
  if (slots_.erase(slot) > 0) changed({++version_, slot, nullptr});
}

StoreAnswer MemoryRing::write(const RingCommit& commit) {
  if (full) return unknown("500 etcdserver: mvcc: database space exceeded");
  put(commit);
  if (stored) stored(slots_.at(commit.slot()));
  return {StoreResult::stored, version_, {}, {}};
}

StoreAnswer MemoryRing::replace(const RingCommit& commit, StoreVersion expected) {
  const auto found = slots_.find(commit.slot());
  if (found == slots_.end()) return {StoreResult::missing, 0, "404 not found", {}};
  if (found->second.version != expected)
    return {StoreResult::conflict, 0, "409 the object has been modified", {}};
  return write(commit);
}

StoreAnswer MemoryRing::create(const RingCommit& commit) {
  if (slots_.contains(commit.slot()))
    return {StoreResult::conflict, 0, "409 the object exists", {}};
  return write(commit);
}

StoreAnswer MemoryRing::remove(std::uint32_t slot) {
  erase(slot);
  return {StoreResult::stored, version_, {}, {}};
}

void MemoryRing::changed(Change change) {
  changes_.push_back(change);
  if (changes_.size() > kChangesKept) {
    compacted_ = changes_.front().version;
    changes_.pop_front();
  }
  if (stale_) return;
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  const auto streams = streams_;
  for (const auto& weak : streams)
    if (const auto stream = weak.lock(); stream && change.version > stream->from)
      report(stream, change);
}

void MemoryRing::report(const std::shared_ptr<Stream>& stream, const Change& change) {
  if (stream->ended) return;
  if (happens(faults.follow_cut)) return end(stream, ErrorCode::unavailable);
  if (happens(faults.follow_gone)) return end(stream, ErrorCode::gone);
  const Duration late = up_to(happens(faults.follow_late) ? faults.latest : kWay);
  stream->last_due = std::max(stream->last_due, time_.now() + late);
  const auto deliver = [this, stream, change] {
    if (stream->ended) return;
    const auto found = slots_.find(change.slot);
    const bool replaced = found != slots_.end() && found->second.version != change.version;
    if (replaced && happens(faults.follow_skipped)) return;
    MemoryCommitStore::deliver(*this, stream->engine, [stream, change] {
      if (stream->ended) return;
      if (change.now)
        stream->handler.changed(*change.now);
      else
        stream->handler.removed(change.slot);
    });
  };
  time_.post(stream->last_due - time_.now(), deliver);
  if (happens(faults.follow_again)) time_.post((stream->last_due + kWay) - time_.now(), deliver);
}

void MemoryRing::end(const std::shared_ptr<Stream>& stream, ErrorCode code) {
  stream->last_due = std::max(stream->last_due, time_.now() + kWay);
  time_.post(stream->last_due - time_.now(), [this, stream, code] {
    MemoryCommitStore::deliver(*this, stream->engine, [stream, code] {
      if (std::exchange(stream->ended, true)) return;
      stream->handler.ended({code, code == ErrorCode::gone ? "410 too old" : "the stream ended"});
    });
  });
}

void MemoryRing::cut(ErrorCode why) {
  for (const auto& weak : std::exchange(streams_, {}))
    if (const auto stream = weak.lock()) end(stream, why);
}

void MemoryRing::compact() {
  compacted_ = version_;
  changes_.clear();
}

void MemoryRing::restore(const Saved& saved, StoreVersion jump) {
  if (!stale_) cache_ = save();
  slots_ = saved.slots;
  version_ = saved.version + jump;
  std::erase_if(changes_, [&](const Change& change) { return change.version > saved.version; });
  stale_ = true;
  time_.post(up_to(faults.latest), [this] {
    stale_ = false;
    cut(ErrorCode::unavailable);
  });
}

MemoryCommitStore::MemoryCommitStore(MemoryRing& ring)
    : ring_(ring), engine_(std::make_shared<Engine>()) {}

MemoryCommitStore::~MemoryCommitStore() = default;

void MemoryCommitStore::deliver(MemoryRing& ring, const std::weak_ptr<Engine>& engine,
                                std::function<void()> work) {
  const auto alive = engine.lock();
  if (!alive) return;
  if (!alive->paused && ring.happens(ring.faults.pause)) {
    alive->paused = true;
    ring.time().post(ring.up_to(ring.faults.latest), [engine] {
      if (const auto there = engine.lock()) resume(there);
    });
  }
  if (alive->paused)
    alive->waiting.push_back(std::move(work));
  else
    work();
}

void MemoryCommitStore::resume(const std::shared_ptr<Engine>& engine) {
  engine->paused = false;
  while (!engine->paused && !engine->waiting.empty()) {
    const auto work = std::move(engine->waiting.front());
    engine->waiting.pop_front();
    work();
  }
}

void MemoryCommitStore::resume() { resume(engine_); }

void MemoryCommitStore::answer_later(std::function<void()> work, Duration after) {
  MemoryRing& ring = ring_;
  ring_.time().post(after, [&ring, engine = std::weak_ptr(engine_), work = std::move(work)] {
    deliver(ring, engine, work);
  });
}

void MemoryCommitStore::answer(Duration after, Answered done, StoreAnswer answer) {
  answer_later([done = std::move(done), answer = std::move(answer)] { done(answer); }, after);
}

void MemoryCommitStore::send(std::function<StoreAnswer()> effect, Answered done) {
  ++writes;
  const MemoryRingFaults& faults = ring_.faults;
  const Duration way = ring_.up_to(kWay);
  if (ring_.down || ring_.happens(faults.lost_request))
    return answer(MemoryRing::kTimeout, std::move(done), unknown("no answer"));
  if (ring_.answer_instead)
    if (auto instead = ring_.answer_instead()) return answer(way, std::move(done), *instead);
  if (ring_.happens(faults.refused))
    return answer(way, std::move(done), {StoreResult::refused, 0, "403 forbidden", {}});
  if (ring_.happens(faults.error_before)) {
    StoreAnswer error = unknown("500 etcdserver: leader changed");
    if (ring_.happens(500)) error = {StoreResult::unknown, 0, "429 too many requests", seconds(1)};
    return answer(way, std::move(done), std::move(error));
  }
  if (ring_.happens(faults.late_request)) {
    ring_.time().post(ring_.up_to(faults.latest), [effect = std::move(effect)] { effect(); });
    return answer(MemoryRing::kTimeout, std::move(done), unknown("no answer"));
  }
  const bool lost = ring_.happens(faults.lost_answer);
  const bool error = ring_.happens(faults.error_after);
  const auto arrive = [this, engine = std::weak_ptr(engine_), lost, error, way,
                       effect = std::move(effect), done = std::move(done)] {
    StoreAnswer given = effect();
    // An engine that has ended meanwhile has sent it all the same.
    if (engine.expired()) return;
    if (lost) return answer(MemoryRing::kTimeout, done, unknown("no answer"));
    if (error) given = unknown("500 context deadline exceeded");
    answer(way, done, std::move(given));
  };
  ring_.time().post(way, arrive);
}

void MemoryCommitStore::replace(const RingCommit& commit, StoreVersion expected, Answered done) {
  MemoryRing& ring = ring_;
  send([&ring, commit, expected] { return ring.replace(commit, expected); }, std::move(done));
}

void MemoryCommitStore::create(const RingCommit& commit, Answered done) {
  MemoryRing& ring = ring_;
  send([&ring, commit] { return ring.create(commit); }, std::move(done));
}

void MemoryCommitStore::remove(std::uint32_t slot, Answered done) {
  MemoryRing& ring = ring_;
  send([&ring, slot] { return ring.remove(slot); }, std::move(done));
}

void MemoryCommitStore::read(std::uint32_t slot, Read done) {
  if (!first_server) return read_again(slot, std::move(done));
  read_again(slot, [this, done = std::move(done)](Result<std::optional<RingSlot>> found) {
    first_server(found);
    done(std::move(found));
  });
}

void MemoryCommitStore::read_again(std::uint32_t slot, Read asked) {
  ++reads;
  most_reads_open = std::max(most_reads_open, ++reads_open);
  const Read done = [this, asked = std::move(asked)](const auto& result) {
    --reads_open;
    asked(result);
  };
  if (ring_.down || ring_.happens(ring_.faults.failed_read))
    return answer_later([done] { done(Error{ErrorCode::unavailable, "no answer"}); },
                        ring_.happens(500) ? kWay : MemoryRing::kTimeout);
  ring_.time().post(ring_.up_to(kWay), [this, engine = std::weak_ptr(engine_), slot, done] {
    if (engine.expired()) return;
    const auto found = ring_.slots_.find(slot);
    std::optional<RingSlot> there;
    if (found != ring_.slots_.end()) there = found->second;
    answer_later([done, there = std::move(there)] { done(there); }, ring_.up_to(kWay));
  });
}

void MemoryCommitStore::list(std::function<void(Result<Listed>)> done) {
  ++lists;
  if (ring_.down || ring_.happens(ring_.faults.failed_read))
    return answer_later(
        [done = std::move(done)] { done(Error{ErrorCode::unavailable, "no answer"}); }, kWay);
  const bool old = ring_.stale_ || ring_.happens(ring_.faults.old_list);
  if (!old || ring_.cache_.slots.empty()) ring_.cache_ = ring_.save();
  Listed listed;
  listed.version = ring_.cache_.version;
  for (const auto& [number, slot] : ring_.cache_.slots) listed.slots.push_back(slot);
  answer_later([done = std::move(done), listed = std::move(listed)] { done(listed); },
               ring_.up_to(kWay));
}

std::unique_ptr<CommitStore::Following> MemoryCommitStore::follow(StoreVersion from,
                                                                  FollowHandler handler) {
  auto stream = std::make_shared<MemoryRing::Stream>();
  stream->handler = std::move(handler);
  stream->engine = engine_;
  stream->from = from;
  if (ring_.down) {
    ring_.end(stream, ErrorCode::unavailable);
  } else if (from < ring_.compacted_) {
    ring_.end(stream, ErrorCode::gone);
  } else {
    ring_.streams_.push_back(stream);
    if (!ring_.stale_)
      for (const MemoryRing::Change& change : ring_.changes_)
        if (change.version > from) ring_.report(stream, change);
  }
  return std::make_unique<MemoryRing::Following>(std::move(stream));
}

namespace {

/// Runs its work unless it was destroyed before.
class MemoryTimer final : public CommitStore::Timer {
 public:
  explicit MemoryTimer(std::shared_ptr<bool> wanted) : wanted_(std::move(wanted)) {}
  ~MemoryTimer() override { *wanted_ = false; }

 private:
  std::shared_ptr<bool> wanted_;
};

}  // namespace

std::unique_ptr<CommitStore::Timer> MemoryCommitStore::after(Duration span,
                                                             std::function<void()> work) {
  auto wanted = std::make_shared<bool>(true);
  answer_later(
      [wanted, work = std::move(work)] {
        if (std::exchange(*wanted, false)) work();
      },
      span);
  return std::make_unique<MemoryTimer>(std::move(wanted));
}

}  // namespace fairlead
