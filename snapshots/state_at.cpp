#include <algorithm>
#include <span>

#include "engine/fold/evolve.h"
#include "engine/log/read_ahead.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

namespace {

// The number of events between two reports of progress.
constexpr std::uint64_t kProgressEvents = 10'000;
// The number of events from which prefetching pays: fewer are folded before a thread has started.
constexpr std::uint64_t kReadAheadWorth = 4 * kBatchEvents;

}  // namespace

// A snapshot that was saved while the hub went on has two Checkpoints: one without a digest of
// State right behind its events, and later the one that names it. The reading ends where that
// cannot come any more: at another snapshot, and at another run of the hub.
Voucher voucher_of(const ReadableLog& log, const SnapshotInfo& snapshot) {
  const auto reader = log.read(next(snapshot.seq));
  if (!reader) return Voucher::none;
  for (bool behind = false;; behind = true) {
    const auto event = (*reader)->next();
    if (!event || !*event || std::holds_alternative<EpochStarted>((*event)->fact))
      return Voucher::none;
    const auto* checkpoint = std::get_if<Checkpoint>(&(*event)->fact);
    if (!behind && ((*event)->seq != next(snapshot.seq) || checkpoint == nullptr))
      return Voucher::none;
    if (checkpoint == nullptr) continue;
    if (checkpoint->events != snapshot.seq.value || checkpoint->log != snapshot.log_digest)
      return behind ? Voucher::none : Voucher::denied;
    if (checkpoint->state == Digest{} && !behind) continue;
    return checkpoint->state == snapshot.state_digest ? Voucher::given : Voucher::denied;
  }
}

Result<std::optional<Snapshot>> newest_of(const ReadableLog& log, const SnapshotSource* snapshots,
                                          Seq seq) {
  Seq at_most = std::min(seq, log.last_seq());
  while (snapshots != nullptr && at_most > Seq{}) {
    auto newest = snapshots->newest(at_most);
    if (!newest) return newest.error();
    if (!*newest) break;
    const SnapshotInfo& info = (*newest)->info;
    const auto chain = log.chain_at(info.seq);
    if (chain && *chain == info.log_digest &&
        (snapshots->vouches_itself() || voucher_of(log, info) == Voucher::given))
      return newest;
    // Of another log, of events behind the readable end, or forged: an earlier one may be good.
    at_most = Seq{info.seq.value - 1};
  }
  return std::optional<Snapshot>();
}

Result<State> state_at(const ReadableLog& log, const SnapshotSource* snapshots, Seq seq,
                       const FoldProgress& progress) {
  auto newest = newest_of(log, snapshots, seq);
  if (!newest) return newest.error();
  return state_from(log, *newest ? std::move((*newest)->state) : State{}, seq, progress);
}

Result<void> can_go_on(const ReadableLog& log, const State& state) {
  if (next(state.seq) >= log.first_seq()) return {};
  return Error{ErrorCode::not_found, "the events before seq " +
                                         std::to_string(log.first_seq().value) +
                                         " were pruned, and no good snapshot holds their state"};
}

Result<State> state_from(const ReadableLog& log, State state, Seq seq,
                         const FoldProgress& progress) {
  const Seq last = std::min(seq, log.last_seq());
  if (state.seq >= last) return state;
  if (auto possible = can_go_on(log, state); !possible) return possible.error();
  auto opened = log.read(next(state.seq));
  if (!opened) return opened.error();
  const std::unique_ptr<EventReader> reader = last.value - state.seq.value < kReadAheadWorth
                                                  ? *std::move(opened)
                                                  : read_ahead(*std::move(opened));
  const Seq before = state.seq;
  const std::uint64_t total = last.value - before.value;
  DirtySet dirty;
  EventBatch batch;
  for (;;) {
    // After an error the batch has the events before the unreadable one: `seq` may be among them.
    const auto read = reader->next_batch(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::span<const Event> rest = batch.events().subspan(i);
      if (i % kPrefetchEvents == 0) prefetch(state, rest);
      evolve(state, rest.front(), dirty);
      const std::uint64_t done = state.seq.value - before.value;
      if (progress && (done % kProgressEvents == 0 || (done == total && total >= kProgressEvents)))
        progress(done, total);
      if (state.seq == last) return state;
    }
    if (!read) return read.error();
    if (batch.size() == 0) return state;
  }
}

Result<State> state_at(const ReadableLog& log, const SnapshotSource* snapshots, LogTime time) {
  auto last = log.last_at(time);
  if (!last) return last.error();
  auto state = state_at(log, snapshots, *last);
  if (!state) return state.error();
  DirtySet dirty;
  run_until(*state, std::max(time, state->now), dirty);
  return state;
}

}  // namespace fairlead
