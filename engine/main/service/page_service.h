// What the audit page asks beside /audit/ and /log/: overviews and series over the whole log, what
// log this is, and its verification.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/main/service/served_log.h"

namespace fairlead {

/// Bounds of what one answer draws.
inline constexpr std::size_t kPageBucketsMax = 2000;
inline constexpr std::size_t kPagePointsMax = 5000;
inline constexpr std::size_t kPageDifferencesMax = 500;
inline constexpr std::size_t kPageSparksMax = 100;
inline constexpr std::size_t kPageChangesMax = 1000;

/// Owned by the caller's lock: one question at a time, from any thread. The verification runs on a
/// thread of its own.
class PageService {
 public:
  PageService();
  ~PageService();
  PageService(const PageService&) = delete;
  PageService& operator=(const PageService&) = delete;

  /// Answers GET, in JSON:
  ///   /ui/api/log?seq=&chain=            which log it is; whether it has that chain there
  ///   /ui/api/overview?from=&to=&span=all&buckets=    see timeline_answers.h; without any of the
  ///   first three of where something moved (moments_span.h)
  ///   /ui/api/series?queue=|cluster=|list=|namespace=|superCluster=|tenant=&flavor=&resource=&
  ///   from=&to=&points=   the same
  ///   /ui/api/sparks?of=[[queue, flavor, resource], ...]&from=&to=&points=   {"series": an answer
  ///   of /ui/api/series for each (null: there never was such a pair), at most kPageSparksMax}
  ///   /ui/api/pool?tenant=&namespace=&superCluster=   what the pool has now (pool_answers.h)
  ///   /ui/api/suppressed?cluster=&from=&to=   its nodes that flapped (suppressed_nodes.h)
  ///   /ui/api/changes?seqs=N,N&times=true   {"changes" {seq: text}}: what each of these events
  ///   changed of its object (event_changes.h), at most kPageChangesMax of them; if asked "times"
  ///   {seq: when it was so and when that was known} (event_times.h)
  ///   /ui/api/proof?begin=true           the verification of chain and replay; begins one if asked
  ///   /ui/api/whatif?set=&from=&to=&queue=&flavor=&resource=&points=   {"settings"
  ///   [{"name", "value" (at the log's end), "most" (null: a duration), "zero" (whether it may be
  ///   0)}], "whatIf": the next one's answer with at most kPageDifferencesMax differences and
  ///   "differencesLeftOut", "series": of the queue in that world (timeline_answers.h)}; the last
  ///   two are null without a setting, the last one also without a queue
  ///   /audit/whatif?set=&from=&to=       the answer of `fairlead whatif`, or {"building"}
  /// Positions are those of position.h; without one a span begins and ends with the log. Overviews,
  /// series and what-ifs have "building": null, or how far the log is folded ({"seq", "lastSeq"}):
  /// then the same question brings it further. "damage" is null, or what ends the log too early.
  /// Fails with `bad_input` for a bad question, and as the log fails to be read.
  Result<std::string> answer(const ServedLog& served, std::string_view target);

  /// Folds on by a small part of what a question does, once a question has begun it. Returns
  /// whether the log is at its end, or at its damage, or no question has begun. Fails as the log
  /// fails to be read.
  Result<bool> follow(const ServedLog& served);
  /// Saves the index in the data directory of the log if at least `events_min` were folded since it
  /// was loaded or the last time that saving was tried. Fails as save_timeline() does.
  Result<void> save_index(const ServedLog& served, std::uint64_t events_min);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fairlead
