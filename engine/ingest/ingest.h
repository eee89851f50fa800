// Ingest: decides which watch facts become events.
//
// Only changes of projected facts are events. Node heartbeats, duplicates, unchanged objects of a
// relist and versions older than one already observed are dropped. Reads State and does not change
// it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/packed_identity.h"
#include "engine/fold/state.h"
#include "engine/ingest/object_table.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// How many watch facts ingest logged, and how many it dropped, by reason.
struct IngestCounts {
  std::uint64_t logged = 0;
  std::uint64_t unchanged = 0;
  std::uint64_t older = 0;       ///< a lower resourceVersion of an object after a higher one
  std::uint64_t foreign = 0;     ///< a kind that is not used from that API server
  std::uint64_t beyond_max = 0;  ///< new Workloads past workloads.max, of which none has finished
};

/// Decides which facts enter the log. Not thread safe: used by the thread that owns State.
class Ingest {
 public:
  /// Returns the draft to append, or nullopt if `fact` changes nothing. `state` must hold every
  /// event that was appended so far.
  std::optional<EventDraft> draft(const State& state, const WatchFact& fact);

  /// Returns the newest resourceVersion of an object, from the stream (also of updates that were
  /// not logged) or from an answer to a later write; empty if none is known. The next write of the
  /// object carries it.
  std::string newest_version(const SourceName& source, const ObjectKey& key) const;
  /// Returns the stream's newest version of an object as an ObjectUnchanged if the stream has
  /// reported one after `before`, from which a write was derived. That version may be the result of
  /// the write. nullopt otherwise.
  std::optional<WatchFact> observed_since(const SourceName& source, const ObjectKey& key,
                                          const std::string& version,
                                          const std::string& before) const;

  /// Notes the version in the answer to a write of ours, which may come before the stream reports
  /// it. Ignores it unless the stream has reported an object with the same `uid`: else the version
  /// cannot be assigned to an object.
  void wrote(const SourceName& source, const ObjectKey& key, const std::string& uid,
             const std::string& resource_version);

  const IngestCounts& counts() const { return counts_; }

 private:
  struct Version {
    PackedUid uid;
    PackedVersion resource_version;
    PackedVersion streamed;  ///< the newest from the stream, not from an answer
  };
  enum class ReportedBy : std::uint8_t { stream, answer };
  /// What the stream reported last of a claim's status.
  struct StatusSeen {
    Digest digest;
    std::vector<ClaimGrant> grants;
  };
  struct Drafting;
  bool is_older(const SourceName& source, const ObjectKey& key, const std::string& uid,
                const std::string& resource_version, ReportedBy by);
  void note_version(const State& state, const SourceName& source, const ObjectSeen& seen);
  bool shows_loss(const State& state, const SourceName& source, const ListCompleted& list);
  bool forget_answers(const SourceName& source, const ListCompleted& listed);
  void note_dropped_status(const State& state, const ObjectSeen& seen);
  bool awaits_in_vain(const State& state, const SourceName& source,
                      const ListCompleted& listed) const;
  bool has_room(const State& state, const SourceName& source, const WorkloadFacts& workload);

  ObjectTable<Version> newest_;
  /// Objects in `newest_` whose newest version is from an answer and not yet from the stream.
  std::set<std::pair<SourceName, ObjectKey>> answered_;
  /// Of claims of the hub whose status was dropped because our write of it was under way: by name.
  /// If that write has no answer, State needs it.
  std::map<std::string, StatusSeen> dropped_statuses_;
  std::set<std::pair<SourceName, Kind>> listed_;      ///< streams with at least one list
  std::set<std::pair<SourceName, Kind>> behind_log_;  ///< streams whose first list is older than
                                                      ///< State
  /// New Workloads that were drafted since the State of `room_of`, by API server.
  std::map<SourceName, std::size_t> drafted_;
  Seq room_of_;
  IngestCounts counts_;
};

}  // namespace fairlead
