#include "engine/main/client/live_follower.h"

#include <utility>

namespace fairlead {

namespace {

constexpr Duration kUnwanted = seconds(30);
constexpr Duration kRetry = seconds(2);
// A hub sends a comment every 15 s.
constexpr Duration kSilenceMax = seconds(40);
constexpr std::size_t kLineMax = 4096;
constexpr const char* kNoAnswer = "no answer";

}  // namespace

std::string LiveFollower::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void LiveFollower::note(std::string version) {
  const std::lock_guard lock(mutex_);
  version_ = std::move(version);
}

void LiveFollower::follow() {
  wanted_ = loop_.now();
  if (stream_ && !closing_ && wanted_ - heard_ > kSilenceMax) {
    note(kNoAnswer);
    stream_.reset();
  }
  if (!stream_ && wanted_ >= next_try_) open();
}

void LiveFollower::open() {
  next_try_ = loop_.now() + kRetry;
  heard_ = loop_.now();
  line_.clear();
  stream_ = client_.stream(request_(), {[this] { heard_ = loop_.now(); },
                                        [this](std::string_view bytes) { consume(bytes); },
                                        [this](const Result<HttpResponse>& end) {
                                          // One that had begun is opened again before anything is
                                          // said.
                                          if (!end || end->status != 200) note(kNoAnswer);
                                          close_soon();
                                        }});
}

// A stream is not destroyed inside of its own callback.
void LiveFollower::close_soon() {
  if (std::exchange(closing_, true)) return;
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    stream_.reset();
    closing_ = false;
  });
}

void LiveFollower::consume(std::string_view bytes) {
  heard_ = loop_.now();
  if (heard_ - wanted_ > kUnwanted) return close_soon();
  for (const char byte : bytes) {
    if (byte == '\n') {
      line(std::exchange(line_, {}));
    } else if (line_.size() < kLineMax) {
      line_ += byte;
    }
  }
}

void LiveFollower::line(std::string_view text) {
  constexpr std::string_view kEvent = "event: ", kData = "data: ";
  if (text.starts_with(kEvent)) event_ = text.substr(kEvent.size());
  if (!text.starts_with(kData)) return;
  if (event_ == "version") note(std::string(text.substr(kData.size())));
  if (event_ == "end") close_soon();
}

}  // namespace fairlead
