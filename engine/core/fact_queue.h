// Offered watch facts, until they are events: coalesced, cut into batches, compared with State.
//
// The drafts of one batch are out at a time. They were compared with the State before them, so the
// caller folds them before it asks for the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/core/batches.h"
#include "engine/core/first_lists.h"
#include "engine/ingest/coalescer.h"
#include "engine/ingest/ingest.h"

namespace fairlead {

/// Whether facts that were held back and are due now join a batch.
enum class HeldFacts : std::uint8_t { stay, join };

/// Offered facts beyond which older states of the same objects are left out: so an append that
/// takes minutes holds about two facts per object at most.
inline constexpr std::size_t kShrinkFacts = 16'384;

class FactQueue {
 public:
  /// `lists`: null if what a first list does not name is reported by the caller. Both outlive this.
  /// `batch_max`: of the facts of one append.
  FactQueue(Ingest& ingest, FirstLists* lists, std::size_t batch_max = kBatchFactsMax)
      : ingest_(ingest), lists_(lists), batch_max_(batch_max) {}

  void offer(WatchFact&& fact);
  /// Offers facts as a batch of their own, uncoalesced: they were offered before.
  void offer_again(std::vector<WatchFact> facts);
  /// Drops what is offered and what is held back.
  void clear();

  /// Returns the drafts of the next batch; none if nothing that may pass at `now` changes anything.
  std::vector<EventDraft> draft(const State& state, LogTime now, HeldFacts held);
  /// The drafts are events, and folded: the intervals of their objects begin.
  void logged(const State& state);
  /// The drafts are too large for one commit. They come back as halves; a single draft is dropped
  /// and returned.
  std::optional<EventDraft> refused(std::vector<EventDraft>&& drafts);

  /// Facts that are offered and not drafted yet.
  std::size_t offered() const { return offered_.size(); }
  bool waiting() const { return !offered_.empty() || !batches_.empty() || !parts_.empty(); }
  /// When the first fact that is held back is due; kForever if none is.
  LogTime next_due() const { return coalescer_.next_due(); }

 private:
  using Batch = std::vector<WatchFact>;
  /// Where in `batch_` the fact of a draft is, and whether it is one of a ClusterQueue of which
  /// only amounts in use change.
  struct Place {
    std::size_t at = 0;
    bool amounts_alone = false;
  };
  /// Drafts, and the fact of each.
  struct Part {
    std::vector<EventDraft> drafts;
    std::vector<Place> facts;
  };
  void shrink();
  void coalesce(const State& state, LogTime now);
  bool next_batch(const State& state, LogTime now, HeldFacts held);
  void compare(const State& state);
  void compare_fact(const State& state, std::size_t at);

  Ingest& ingest_;
  FirstLists* const lists_;
  const std::size_t batch_max_;
  Coalescer coalescer_;
  Batch offered_;
  std::size_t shrink_at_ = kShrinkFacts;  ///< offered facts at which older states are left out
  std::vector<Batch> batches_;            ///< the last is next
  Batch batch_;                           ///< of the drafts that are out
  std::vector<Part> parts_;               ///< of a refused commit; the last is next
  Part out_;                              ///< its drafts are with the caller
};

}  // namespace fairlead
