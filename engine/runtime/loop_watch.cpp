#include "engine/runtime/loop_watch.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <utility>

#include "engine/runtime/diagnostics.h"
#include "engine/runtime/system_clock.h"

namespace fairlead {

namespace {

// A look that is so much later than its period: the machine was asleep or the process was stopped,
// and every loop with it.
constexpr Duration kLookLate = seconds(5);

std::string in_whole_seconds(Duration span) { return std::to_string(span.ns / 1'000'000'000); }

}  // namespace

struct LoopWatch::Loop::Turns {
  std::string name;
  Post post;
  std::atomic<bool> turned{false};  // since the last look
  // The rest belongs to the watch.
  std::optional<LogTime> turned_at;  // at the look that found it
  bool asked = false;                // to turn, by `post`
  bool said_hung = false;
};

LoopWatch::Loop::Loop(LoopWatch& watch, std::shared_ptr<Turns> turns)
    : watch_(watch), turns_(std::move(turns)) {}

LoopWatch::Loop::~Loop() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.loops_.remove(turns_);
}

void LoopWatch::Loop::turned() { turns_->turned = true; }

LoopWatch::LoopWatch(Say say, EndProcess end_process, LoopWatchSettings settings)
    : say_(std::move(say)), end_process_(std::move(end_process)), settings_(settings) {}

LoopWatch::~LoopWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LoopWatch::start() {
  thread_ = std::thread([this] { run(); });
}

std::unique_ptr<LoopWatch::Loop> LoopWatch::watch(std::string name, Post post) {
  auto turns = std::make_shared<Loop::Turns>();
  turns->name = std::move(name);
  turns->post = std::move(post);
  const std::lock_guard lock(mutex_);
  loops_.push_back(turns);
  return std::unique_ptr<Loop>(new Loop(*this, std::move(turns)));
}

std::string LoopWatch::hung() const {
  const std::lock_guard lock(mutex_);
  return looked_ ? hung_at(*looked_, settings_.hung_after) : std::string();
}

std::string LoopWatch::hung_at(LogTime now, Duration since) const {
  for (const auto& loop : loops_)
    if (loop->turned_at && now - *loop->turned_at >= since)
      return "the loop of " + loop->name + " has not turned for " +
             in_whole_seconds(now - *loop->turned_at) + " s";
  return {};
}

void LoopWatch::ask_to_end() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
}

void LoopWatch::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::nanoseconds(settings_.period.ns),
                         [this] { return stopping_; })) {
    lock.unlock();
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    look({std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()});
    lock.lock();
  }
}

void LoopWatch::look(LogTime now) {
  const std::lock_guard lock(mutex_);
  const bool late = looked_ && now - *looked_ > Duration{settings_.period.ns + kLookLate.ns};
  looked_ = now;
  for (const auto& loop : loops_) {
    const bool turned = loop->turned.exchange(false);
    if (turned) loop->asked = false;
    if (turned && std::exchange(loop->said_hung, false))
      say_("the loop of " + loop->name + " turns again");
    if (turned || late || !loop->turned_at) loop->turned_at = now;
    // One at a time: a loop that hangs must not find a queue of them when it turns again.
    if (loop->post && !std::exchange(loop->asked, true))
      loop->post([loop] { loop->turned = true; });
    if (now - *loop->turned_at < settings_.hung_after || loop->said_hung) continue;
    loop->said_hung = true;
    say_("the loop of " + loop->name + " has not turned for " +
         in_whole_seconds(now - *loop->turned_at) + " s: it hangs");
  }
  if (!ends_) return;
  if (!asked_to_end_) asked_to_end_ = now;
  const Duration since = now - *asked_to_end_;
  if (since < settings_.end_within) return;
  if (const std::string hung = hung_at(now, settings_.end_within); !hung.empty())
    end_process_("asked to end, but " + hung);
  else if (since >= settings_.end_at_most)
    end_process_("asked to end, and did not within " + in_whole_seconds(since) + " s");
}

void say_at_once(const std::string& line) {
  std::string text = to_rfc3339(utc_now()) + " error " + line;
  // POLLOUT promises that a pipe takes as many bytes without waiting.
  if (text.size() >= PIPE_BUF) text.resize(PIPE_BUF - 1);
  text += '\n';
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0)
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

}  // namespace fairlead
