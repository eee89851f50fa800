// Asio behind IoLoop and HttpClient. Included by their .cpp files only.
#pragma once

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "connectors/kube/transport/io_loop.h"
#include "connectors/kube/transport/turn_gate.h"

namespace fairlead {

inline constexpr std::size_t kReadBytes = 16 * 1024;  // a TLS record is no longer

struct IoLoop::Impl {
  boost::asio::io_context context{1};
  // Keeps run() from returning while there is nothing to do.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy{
      context.get_executor()};
  // Runs until there is no work or stop().
  void run();

  // The wait for something to do is over, if there was one.
  void woke();

  Duration idle{};                                             // time spent in waiting
  std::optional<std::chrono::steady_clock::time_point> waits;  // since then
  std::unique_ptr<TurnGate> handshakes;      // of all clients; ends before the context
  std::array<char, kReadBytes> read_buffer;  // lent to the connection that reads
  std::thread thread;
  std::future<void> ended;  // ready when run() has returned
};

}  // namespace fairlead
