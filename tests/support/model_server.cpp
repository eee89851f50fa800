// fairlead-model-server: the API-server model as a program, for tests that are not written in C++.
//
// Prints one line, the port, and serves until its standard input ends, so that it cannot outlive
// the test. Lines on standard input are commands: `compact` forgets history, `bookmarks` sends
// bookmarks; each is answered `ok`.
#include "engine/fleet/model/model_server.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

class SystemClock final : public fairlead::Clock {
 public:
  fairlead::LogTime now() override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
  }
};

}  // namespace

int main(int argc, char** argv) {
  fairlead::model::ModelServerOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const auto value = std::strtoul(argv[i + 1], nullptr, 10);
    if (flag == "--port") {
      options.http.port = static_cast<std::uint16_t>(value);
    } else if (flag == "--history") {
      options.model.history_max = value;
    } else {
      std::cerr << "usage: fairlead-model-server [--port N] [--history CHANGES]\n";
      return 2;
    }
  }
  SystemClock clock;
  auto server = fairlead::model::ModelServer::start(options, clock);
  if (!server) {
    std::cerr << server.error().message << "\n";
    return 3;
  }
  std::cout << (*server)->port() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    (*server)->model().with_model([&](fairlead::model::Model& model) {
      if (line == "compact") model.compact();
      if (line == "bookmarks") model.send_bookmarks();
    });
    std::cout << "ok" << std::endl;
  }
  (*server)->stop();
  return 0;
}
