#include "connectors/kube/watch/request_cycle.h"

#include <algorithm>
#include <utility>

#include "connectors/kube/watch/lasting_stream.h"

namespace fairlead {

namespace {

constexpr std::int64_t kPageFactor = 4;  // between the lengths of pages that are tried

}  // namespace

RequestCycle::RequestCycle(const WatchedCollection& collection, const ReflectorSettings& settings,
                           std::function<std::uint64_t()> random)
    : collection_(collection),
      settings_(settings),
      random_(std::move(random)),
      page_limit_(settings.page_limit) {}

ReflectorRequest RequestCycle::list(LogTime now) {
  if (!streaming_lists_) return first_page(now);
  phase_ = Phase::streaming_list;
  deadline_ = now + settings_.list_silence_max;
  return collection_.streaming_list(stream_seconds());
}

ReflectorRequest RequestCycle::first_page(LogTime now) { return next_page(now, {}); }

ReflectorRequest RequestCycle::next_page(LogTime now, const std::string& continue_token) {
  phase_ = Phase::paging;
  deadline_ = now + settings_.request_timeout;
  return collection_.page(page_limit_, continue_token);
}

ReflectorRequest RequestCycle::locate(LogTime now) {
  phase_ = Phase::locating;
  deadline_ = now + settings_.request_timeout;
  return collection_.page(1, {});
}

ReflectorRequest RequestCycle::watch(LogTime now, const std::string& resource_version) {
  phase_ = Phase::watching;
  deadline_ = now + settings_.watch_silence_max;
  return collection_.watch(stream_seconds(), resource_version);
}

// A stream is about to be requested: returns how long it is asked to last.
std::int64_t RequestCycle::stream_seconds() {
  opened_at_ = kForever;
  const std::int64_t length = settings_.watch_length.ns / 1'000'000'000;
  // The divisor is 1 at least, whatever the configured length.
  return length + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(length + 1));
}

void RequestCycle::stop() {
  phase_ = Phase::unserved;
  deadline_ = kForever;
}

void RequestCycle::stream_opened(LogTime now) {
  opened_at_ = now;
  stream_heard(now);
}

void RequestCycle::stream_heard(LogTime now) {
  deadline_ =
      now + (phase_ == Phase::watching ? settings_.watch_silence_max : settings_.list_silence_max);
}

void RequestCycle::list_streamed(LogTime now) {
  phase_ = Phase::watching;
  deadline_ = now + settings_.watch_silence_max;
}

bool RequestCycle::stream_over(LogTime now) {
  if (opened_at_ == kForever || now < opened_at_ + kLastingStream) return false;
  backoff_.reset();
  return true;
}

void RequestCycle::pause(LogTime now, Duration span, Next next) {
  phase_ = Phase::waiting;
  next_ = next;
  deadline_ = now + span;
}

void RequestCycle::back_off(LogTime now, Next next, std::optional<Duration> at_least) {
  // The server is there again after an outage, and says itself when to ask.
  if (at_least && !asked_to_wait_) backoff_.reset();
  asked_to_wait_ = at_least.has_value();
  Duration span = jittered(backoff_.next(settings_.backoff_first, settings_.backoff_max));
  if (at_least) span = std::max(span, bounded_retry_after(*at_least, settings_));
  pause(now, span, next);
}

void RequestCycle::ask_sooner(LogTime now) {
  const auto within = [&](Duration span) {
    deadline_ = std::min(deadline_, now + jittered({span.ns / 2}));
  };
  switch (phase_) {
    case Phase::watching: return within(settings_.watch_silence_max);
    case Phase::waiting: return within({settings_.stale_after.ns / 2});
    // A list has its own, shorter silence.
    case Phase::unserved:
    case Phase::paging:
    case Phase::streaming_list:
    case Phase::locating: return;
  }
}

bool RequestCycle::first_failure() {
  if (backoff_.failing()) return false;
  backoff_.note_failure();
  return true;
}

bool RequestCycle::smaller_pages() {
  if (page_limit_ <= 1) return false;
  page_limit_ = std::max<std::int64_t>(1, page_limit_ / kPageFactor);
  return true;
}

void RequestCycle::list_paged() {
  page_limit_ = std::min(settings_.page_limit, page_limit_ * kPageFactor);
}

Duration RequestCycle::jittered(Duration span) {
  const auto half = static_cast<std::uint64_t>(span.ns / 2) + 1;
  return {span.ns + static_cast<std::int64_t>(random_() % half)};
}

}  // namespace fairlead
