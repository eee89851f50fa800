// Ingest: from what a stream said to what enters the log.
//
// Only changes of projected facts are events. Node heartbeats, duplicates, relists and states older
// than one already seen stop here. Reads State, changes nothing in it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "engine/fold/state.h"
#include "engine/ingest/object_table.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// What ingest did with what it was given.
struct IngestCounts {
  std::uint64_t logged = 0;
  std::uint64_t unchanged = 0;
  std::uint64_t older = 0;    ///< a lower resourceVersion of an object after a higher one
  std::uint64_t foreign = 0;  ///< a kind that means nothing from that API server
};

/// Decides what enters the log. Not thread safe: belongs to the owner of State.
class Ingest {
 public:
  /// The draft to append, or nullopt if nothing changes. Call with `state` holding every event
  /// appended so far.
  std::optional<EventDraft> take(const State& state, const WatchFact& fact);

  /// The newest resourceVersion that the stream showed of an object, also in updates that were not
  /// logged, or that an answer told of since; empty if none. The next write of the object carries
  /// it.
  std::string newest_version(const SourceName& source, const ObjectKey& key) const;
  /// The same as a sight, if the stream has shown the object since a write that was derived from
  /// `before`: what became of the write may be in it.
  std::optional<WatchFact> shown_since(const SourceName& source, const ObjectKey& key,
                                       const std::string& version, const std::string& before) const;

  /// The answer to a write of ours told the version that it made, before the stream shows it. Only
  /// of an object that the stream has shown: with the version alone nobody knows which it is.
  void wrote(const SourceName& source, const ObjectKey& key, const std::string& uid,
             const std::string& resource_version);

  const IngestCounts& counts() const { return counts_; }

 private:
  struct Version {
    std::string uid;
    std::string resource_version;
    std::string shown;  ///< the newest that the stream told, not an answer
  };
  enum class Told : std::uint8_t { by_stream, by_answer };
  bool is_older(const SourceName& source, const ObjectKey& key, const std::string& uid,
                const std::string& resource_version, Told told);
  void note_version(const State& state, const SourceName& source, const ObjectSeen& seen);
  bool shows_loss(const State& state, const SourceName& source, const ListCompleted& list);
  bool forget_answers(const SourceName& source, const ListCompleted& shown);
  bool awaits_in_vain(const State& state, const SourceName& source,
                      const ListCompleted& shown) const;

  ObjectTable<Version> newest_;
  /// Of them, those whose newest version an answer told and the stream has not shown.
  std::set<std::pair<SourceName, ObjectKey>> answered_;
  std::set<std::pair<SourceName, Kind>> listed_;      ///< at least once
  std::set<std::pair<SourceName, Kind>> behind_log_;  ///< whose first list shows less than State
  IngestCounts counts_;
};

}  // namespace fairlead
