// Asio behind IoLoop and HttpClient. Included by their .cpp files only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <thread>

#include "connectors/kube/io_loop.h"

namespace fairlead {

struct IoLoop::Impl {
  boost::asio::io_context context{1};
  std::thread thread;
};

}  // namespace fairlead
