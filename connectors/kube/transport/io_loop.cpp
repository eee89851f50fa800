#include "connectors/kube/transport/io_loop.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <future>

#include "connectors/kube/transport/io_types.h"
#include "engine/base/check.h"

namespace fairlead {
namespace asio = boost::asio;

namespace {

// How long stop() waits for operations under way. Cancelled ones end within milliseconds; only the
// resolution of a name cannot be cancelled.
constexpr std::chrono::milliseconds kDrainMax{500};

// A handshake takes about a millisecond of CPU: so many are begun in a round trip to a far server.
constexpr std::size_t kHandshakesMax = 64;

}  // namespace

// Waits only when everything that is ready has been served. Asio does not say when the wait ends
// and the work begins: woke() does.
void IoLoop::Impl::run() {
  while (!context.stopped()) {
    if (context.poll() > 0) continue;
    waits = std::chrono::steady_clock::now();
    context.run_one();
    woke();
  }
}

void IoLoop::Impl::woke() {
  if (!waits) return;
  idle.ns += std::chrono::nanoseconds(std::chrono::steady_clock::now() - *waits).count();
  waits.reset();
}

IoLoop::IoLoop() : impl_(std::make_shared<Impl>()) {
  impl_->handshakes = std::make_unique<TurnGate>(*this, TurnGate::Limits{kHandshakesMax});
  std::promise<void> ended;
  impl_->ended = ended.get_future();
  impl_->thread = std::thread([impl = impl_.get(), ended = std::move(ended)]() mutable {
    impl->run();
    ended.set_value();
  });
}

IoLoop::~IoLoop() { stop(); }

void IoLoop::stop() {
  check(!inside(), "an I/O loop is stopped from outside");
  if (!impl_->thread.joinable()) return;
  // A coroutine that is dropped while it waits destroys objects of its callers in an order that
  // this code does not control. So those that were cancelled get the time to return.
  impl_->busy.reset();
  impl_->ended.wait_for(kDrainMax);
  impl_->context.stop();
  impl_->thread.join();
}

Duration IoLoop::idle() const {
  impl_->woke();
  return impl_->idle;
}
void IoLoop::woke() const { impl_->woke(); }

bool IoLoop::inside() const { return std::this_thread::get_id() == impl_->thread.get_id(); }

void IoLoop::post(std::function<void()> work) {
  if (impl_->context.stopped()) return;
  asio::post(impl_->context, [impl = impl_.get(), work = std::move(work)] {
    impl->woke();
    work();
  });
}

void IoLoop::run(std::function<void()> work) {
  check(!inside(), "the I/O loop does not wait for itself");
  if (impl_->context.stopped()) return;
  // Shared with the posted work: stop() may drop it, which breaks the promise and ends the wait.
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> finished = done->get_future();
  asio::post(impl_->context, [impl = impl_.get(), work = std::move(work), done = std::move(done)] {
    impl->woke();
    work();
    done->set_value();
  });
  // Work that stop() leaves in the queue never runs: only stopped() shows that.
  while (finished.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout)
    if (impl_->context.stopped()) return;
}

LogTime IoLoop::now() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

namespace {

class SteadyTimer : public IoLoop::Timer {
 public:
  SteadyTimer(IoLoop::Impl& loop, Duration span, std::function<void()> work)
      : timer_(loop.context) {
    timer_.expires_after(std::chrono::nanoseconds(span.ns));
    // A cancelled wait may already be queued as a success: only `live` shows that it was cancelled.
    timer_.async_wait(
        [&loop, work = std::move(work), live = live_](boost::system::error_code error) {
          loop.woke();
          if (!error && *live) work();
        });
  }
  ~SteadyTimer() override { *live_ = false; }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<bool> live_ = std::make_shared<bool>(true);
};

}  // namespace

std::unique_ptr<IoLoop::Timer> IoLoop::after(Duration span, std::function<void()> work) {
  return std::make_unique<SteadyTimer>(*impl_, span, std::move(work));
}

}  // namespace fairlead
