#include "engine/runtime/notice_queue.h"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

constexpr Duration kNoticeGap = milliseconds(1000 / kNoticesPerSecond);

std::size_t bytes_of_notice(const Notice& notice) {
  return sizeof(Notice) + notice.object.name.size() + notice.object.namespace_.size() +
         notice.uid.size() + notice.reason.size() + notice.message.size();
}

}  // namespace

bool NoticeQueue::push(Notice notice) {
  const std::size_t bytes = bytes_of_notice(notice);
  if (waiting_.size() >= kNoticesMax || bytes_ + bytes > kNoticeBytesMax) return false;
  bytes_ += bytes;
  waiting_.push_back(std::move(notice));
  return true;
}

std::vector<Notice> NoticeQueue::dequeue(LogTime now) {
  std::vector<Notice> out;
  // However long the pause was, it is worth kNoticeBurst notices at once.
  paid_until_ = std::max(paid_until_, LogTime{now.ns - kNoticeBurst * kNoticeGap.ns});
  for (; !waiting_.empty() && paid_until_ + kNoticeGap <= now; waiting_.pop_front()) {
    paid_until_ = paid_until_ + kNoticeGap;
    bytes_ -= bytes_of_notice(waiting_.front());
    out.push_back(std::move(waiting_.front()));
  }
  return out;
}

}  // namespace fairlead
