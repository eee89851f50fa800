// Timeouts and bounds of a reflector.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/time.h"

namespace fairlead {

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
  std::size_t nodes_max = 0;  ///< beyond so many Nodes reading stops for a while; 0: no bound
  /// Beyond so many changes of Nodes (change_budget.h) a stream is closed for a while; 0: no bound.
  std::int64_t changes_per_minute = 0;
};

/// Bounds a server's Retry-After by half of staleAfter, so that one answer does not make the
/// observations stale.
inline Duration bounded_retry_after(Duration asked, const ReflectorSettings& settings) {
  return std::min(asked, Duration{settings.stale_after.ns / 2});
}

}  // namespace fairlead
