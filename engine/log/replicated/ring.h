// Reads and writes the commits of one log in a CommitStore: as a follower, which takes up what
// others append, or as the writer, which appends.
//
// It knows packs and their chain, and neither events nor a local log: whoever owns it stores what
// it reports. It decides nothing by a clock: time only paces retries.
//
// The writer has one commit under way. It sends the same bytes with the same version again until
// the answer is `stored` or `conflict`; a conflict is settled by reading the slot (never by a list,
// which may be served from an old cache):
//   our bytes                                         stored: the answer was lost
//   commit k of others, or a later one                fenced: another leads. Nothing more is sent
//   commit k - R of our chain with another version    touched by hand: sent again with it
//   no slot                                           made again with commit k - R from the local
//                                                     copy, then sent again
//   unused, or a known commit that does not read      written over, naming its version
//   an older commit than k - R of our chain           history went back (a restore of etcd): every
//                                                     commit that is missing is put back in order
//   another chain or another log, or commit k that    stopped: nothing is touched any more
//   does not read
//   not one slot around it                            no ring: it waits, and makes none
// `stored` counts only if its version is above the one of the commit before; else history went
// back, too. A restore may jump over versions: so the commit before is read after every trouble and
// when nothing was heard for two seconds. What another writer stored may have been deleted by hand:
// so before a slot is written whose version was read, and not known, the slot ahead is read. A
// commit there means fenced.
//
// The follower reads the slot of the next commit, verifies what it finds (pack check, log id,
// `previous` = its own chain, dense seqs), reports it, and goes on until the slot holds something
// older; then it follows the store's changes, and reads the slots again when the stream ends or
// nothing came for ten seconds. A slot that holds a later commit than it awaits, or a later commit
// in another slot where the awaited one is not: it is behind the window.
//
// Memory: a number for each slot, and at most sixteen packs while it reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/log/replicated/commit_store.h"
#include "engine/log/replicated/ring_place.h"

namespace fairlead {

/// Counted for metrics; names follow fairlead_replication_*.
struct RingCounters {
  std::uint64_t unknown = 0;  ///< writes without a deciding answer
  std::uint64_t fenced = 0;
  std::uint64_t foreign = 0;    ///< slots that somebody else changed or deleted
  std::uint64_t went_back = 0;  ///< times that the store's history was found to have gone back
};

/// What a ring reports, within its callbacks: on the store's thread. The callee may call the ring,
/// and does not destroy it.
struct RingEvents {
  /// A commit that is stored and continues the chain; place() has moved on. The callee stores it
  /// before it returns.
  std::function<void(const RingCommit& commit, StoreVersion version)> learned;
  /// Everything that was stored when the reading began is learned. Once for the calls of read_on()
  /// that were made before it began.
  std::function<void()> reached_end;
  /// The append under way is decided.
  std::function<void()> stored;
  std::function<void()> fenced;
  /// The commit that is awaited has left the window, or is missing in it: those before `oldest` are
  /// to be had elsewhere, then begin anew with another Ring. Reading goes on, and a commit that is
  /// put back is learned; called again while the commit is missing.
  std::function<void(std::uint64_t oldest)> behind;
  /// Another history, another log, or damage: `corrupt`, naming commit and seq. Nothing more is
  /// read or sent.
  std::function<void(Error)> stopped;
  /// Returns a commit from the local copy; nullopt if it is not kept there. Who begins a ring with
  /// the last commit of a log returns nullopt always: else the writer misses the earlier ones in
  /// the ring, and puts them back.
  std::function<std::optional<RingCommit>(std::uint64_t commit)> kept;
  /// Says one line to an operator.
  std::function<void(std::string)> say;
};

/// On the store's thread only.
class Ring {
 public:
  /// `store` outlives it.
  Ring(CommitStore& store, RingPlace place, RingEvents events);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Begins to follow: lists, then follows changes.
  void follow();
  /// Reads slot after slot with quorum reads until the end, then calls reached_end(). After
  /// follow(), at once or later. For a take-over, and to know that one is not behind.
  void read_on();

  /// Ends following and sends the next commit until it is decided: `stored` or `fenced`. The pack
  /// continues place(). One at a time.
  void append(Seq first, std::uint32_t count, std::string pack);
  /// Sends the commit under way no more: what became of it is learned by following again.
  void give_up();

  /// The end of what is known to be stored.
  const RingPlace& place() const;
  const RingCounters& counters() const;
  /// Why the append under way, or the reading, does not come on; empty while all is well.
  std::string trouble() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead
