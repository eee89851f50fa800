#include "engine/main/service/index_keeper.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace fairlead {

namespace {

constexpr std::uint64_t kEventsBetweenSaves = 500'000;
constexpr int kPriority = 10;  // as of nice(1)
constexpr std::chrono::seconds kPause{1};
// A question may take minutes, which the index does not wait for; it is saved the next time.
constexpr Duration kIndexPatience = seconds(1);

}  // namespace

IndexKeeper::IndexKeeper(const QuestionService& questions, Logger logger, LoopWatch& watch)
    : questions_(questions),
      logger_(std::move(logger)),
      watched_(watch.watch("the index of the page")),
      thread_([this] { run(); }) {}

IndexKeeper::~IndexKeeper() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
  watched_.reset();
  complain_of(questions_.save_index(1, kIndexPatience));
}

void IndexKeeper::run() {
  // On Linux a priority belongs to a thread. Without the right to lower it, it stays.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kPriority);
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    watched_->turned();
    const auto at_end = questions_.follow();
    if (at_end) complain_of(questions_.save_index(kEventsBetweenSaves, kIndexPatience));
    lock.lock();
    if (!at_end || *at_end) wake_.wait_for(lock, kPause, [this] { return ending_; });
  }
}

void IndexKeeper::complain_of(const Result<void>& saved) {
  if (!saved)
    logger_({Severity::warn,
             "the index of the audit page was not saved: after the next start it is made again",
             {{"why", saved.error().message}}});
}

}  // namespace fairlead
