// Timeouts and bounds of a reflector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/time.h"

namespace fairlead {

/// What one API server may report of one kind before reading it stops for a while. Kinds of which a
/// member has many objects (is_plentiful in reading_bounds.cpp) are still read while the server's
/// kinds together are within the shared bounds. Without bounds by default.
struct ReadingLimits {
  std::size_t objects_max = 0;          ///< by weight (object_facts.h); 0: no bound
  std::size_t shared_objects_max = 0;   ///< not below objects_max
  std::int64_t changes_per_minute = 0;  ///< change_budget.h; 0: no bound
  std::string_view objects_setting{};   ///< the setting that an operator may raise; a constant

  friend bool operator==(const ReadingLimits&, const ReadingLimits&) = default;
};

struct ReflectorSettings {
  std::int64_t page_limit = 500;  ///< objects a page; quartered when a page is too large
  Duration backoff_first = milliseconds(800);
  Duration backoff_max = seconds(30);
  Duration request_timeout = seconds(60);   ///< for one page
  Duration list_silence_max = seconds(30);  ///< of a streaming list before pages are tried instead
  Duration watch_silence_max =
      seconds(120);  ///< before a silent stream is broken (servers send bookmarks each minute)
  Duration watch_length = seconds(300);  ///< asked of the server; up to twice that, at random
  Duration stale_after = seconds(300);
  Duration lost_after = seconds(900);
  ReadingLimits limits;
};

/// Bounds a server's Retry-After by half of staleAfter, so that one answer does not make the
/// observations stale.
inline Duration bounded_retry_after(Duration asked, const ReflectorSettings& settings) {
  return std::min(asked, Duration{settings.stale_after.ns / 2});
}

}  // namespace fairlead
