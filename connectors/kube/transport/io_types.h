// Asio behind IoLoop and HttpClient. Included by their .cpp files only.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <thread>

#include "connectors/kube/transport/io_loop.h"

namespace fairlead {

struct IoLoop::Impl {
  boost::asio::io_context context{1};
  // Keeps run() from returning while there is nothing to do.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy{
      context.get_executor()};
  std::thread thread;
  std::future<void> ended;  // ready when run() has returned
};

}  // namespace fairlead
