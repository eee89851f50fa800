// Notices on their way to API servers, at a pace that these follow.
//
// When a hub starts, each claim has its first quotas: hundreds of notices in one moment. A
// connection sends 32 at a time and drops the rest (ApiServer::post), so they wait here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/base/time.h"
#include "engine/core/notice.h"

namespace fairlead {

/// Notices that wait, at most: two for each of thousands of claims.
inline constexpr std::size_t kNoticesMax = 16'384;
/// Bytes of them, at most.
inline constexpr std::size_t kNoticeBytesMax = std::size_t{16} << 20;
/// Notices a second in the long run. A server that answers each within 0.6 s loses none.
inline constexpr int kNoticesPerSecond = 25;
/// Notices at once, after a pause.
inline constexpr int kNoticeBurst = 16;

/// Owned by one thread.
class NoticeQueue {
 public:
  /// False if it is full: the notice is lost.
  [[nodiscard]] bool push(Notice notice);
  /// Returns those whose turn has come, in the order in which they were pushed. `now` is monotonic.
  std::vector<Notice> dequeue(LogTime now);
  bool empty() const { return waiting_.empty(); }

 private:
  std::deque<Notice> waiting_;
  std::size_t bytes_ = 0;
  /// When the last of them would have its turn without a burst. None had one yet: long ago.
  LogTime paid_until_{INT64_MIN};
};

}  // namespace fairlead
