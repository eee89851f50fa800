// A store on the thread of an IoLoop, called from the thread of a test.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "connectors/kube/transport/io_loop.h"
#include "engine/log/replicated/commit_store.h"

namespace fairlead {

/// Passes calls to the loop, and keeps what is called back until the test pumps.
class StoreOnLoop final : public CommitStore {
 public:
  StoreOnLoop(IoLoop& loop, CommitStore& store) : loop_(loop), store_(store) {}

  void replace(const RingCommit& commit, StoreVersion expected, Answered done) override {
    loop_.post([this, commit, expected, done] { store_.replace(commit, expected, kept(done)); });
  }
  void create(const RingCommit& commit, Answered done) override {
    loop_.post([this, commit, done] { store_.create(commit, kept(done)); });
  }
  void remove(std::uint32_t slot, Answered done) override {
    loop_.post([this, slot, done] { store_.remove(slot, kept(done)); });
  }
  void read(std::uint32_t slot, Read done) override {
    loop_.post([this, slot, done] { store_.read(slot, kept(done)); });
  }
  void list(std::function<void(Result<Listed>)> done) override {
    loop_.post([this, done] { store_.list(kept(done)); });
  }
  std::unique_ptr<Following> follow(StoreVersion from, FollowHandler handler) override {
    auto handle = std::make_unique<Handle<Following>>(loop_);
    loop_.run([&] {
      const auto& alive = handle->alive;
      handle->inner = store_.follow(from, {kept(while_alive(alive, handler.changed)),
                                           kept(while_alive(alive, handler.removed)),
                                           kept(while_alive(alive, handler.ended))});
    });
    return handle;
  }
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work) override {
    auto handle = std::make_unique<Handle<Timer>>(loop_);
    loop_.run([&] { handle->inner = store_.after(span, kept(while_alive(handle->alive, work))); });
    return handle;
  }
  LogTime now() const override { return store_.now(); }
  const char* kind() const override { return store_.kind(); }

  /// Runs what was called back, or waits for some milliseconds.
  void pump() {
    std::deque<std::function<void()>> due;
    {
      const std::lock_guard lock(mutex_);
      due.swap(called_);
    }
    if (due.empty()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (const auto& work : due) work();
  }

 private:
  template <class T>
  struct Handle final : T {
    explicit Handle(IoLoop& loop_given) : loop(loop_given) {}
    ~Handle() override {
      loop.run([this] { inner.reset(); });
      *alive = false;
    }
    IoLoop& loop;
    std::unique_ptr<T> inner;
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  };

  template <class... A>
  std::function<void(A...)> kept(std::function<void(A...)> done) {
    return [this, done = std::move(done)](A... given) {
      const std::lock_guard lock(mutex_);
      called_.push_back([done, ... value = std::move(given)] { done(value...); });
    };
  }
  // What was kept for a handle that has ended since is dropped.
  template <class... A>
  static std::function<void(A...)> while_alive(std::shared_ptr<bool> alive,
                                               std::function<void(A...)> done) {
    return [alive = std::move(alive), done = std::move(done)](A... given) {
      if (*alive) done(std::move(given)...);
    };
  }

  IoLoop& loop_;
  CommitStore& store_;
  std::mutex mutex_;
  std::deque<std::function<void()>> called_;
};

}  // namespace fairlead
