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

  /// Answers GET of /ui/api/log, overview, series, sparks, pool, suppressed, waiting, changes,
  /// proof and whatif, and of /audit/whatif, in JSON: ui/page_answers.d.ts has the parameters and
  /// fields of each. Positions are those of position.h; without one a span begins and ends with the
  /// log. An answer with "building" is of a log, or a what-if, that is not folded to its end: then
  /// the same question brings it further. Fails with `bad_input` for a bad question, and as the log
  /// fails to be read.
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
