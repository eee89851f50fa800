#include "connectors/kube/watch/object_follower.h"

#include <catch2/catch.hpp>
#include <future>
#include <mutex>

#include "connectors/kube/api_server_connection.h"
#include "tests/unit/kube/tiny_server.h"

using namespace fairlead;

namespace {

using Clock = std::chrono::steady_clock;

std::string answer_of(const std::string& head, const std::string& body) {
  return "HTTP/1.1 " + head + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

// Answers each list with `lists` in turn, the last one for ever, and each watch with `watch` until
// the client leaves. Returns when the first `wanted` lists were asked for.
std::vector<Clock::time_point> lists_of(const std::vector<std::string>& lists,
                                        const std::function<void(int socket)>& watch,
                                        std::size_t wanted) {
  std::mutex mutex;
  std::vector<Clock::time_point> times;
  std::promise<void> enough;
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      if (text.find("watch=true") != std::string::npos) {
        watch(socket);
        continue;
      }
      std::string answer;
      {
        const std::lock_guard lock(mutex);
        answer = lists[std::min(times.size(), lists.size() - 1)];
        times.push_back(Clock::now());
        if (times.size() == wanted) enough.set_value();
      }
      write_all(socket, answer);
    }
  });
  IoLoop loop;
  auto made = ApiServerConnection::make(loop, "hub", server.credentials(), {});
  REQUIRE(made.has_value());
  auto follower = (*made)->follow("/x", "s", [](std::optional<JsonView>) {});
  CHECK(enough.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  follower.reset();
  made->reset();
  loop.stop();
  const std::lock_guard lock(mutex);
  times.resize(std::min(times.size(), wanted));
  return times;
}

const std::string kList = answer_of(
    "200 OK", R"({"metadata":{"resourceVersion":"6"},"items":[{"metadata":{"name":"s"}}]})");

}  // namespace

TEST_CASE("a server that names a wait is asked again after it, whatever failed before") {
  // Four failures: the next pause of its own would be 8 s.
  std::vector<std::string> lists(4, answer_of("404 Not Found", "no"));
  lists.push_back(answer_of("429 Too Many Requests\r\nRetry-After: 1", ""));
  lists.push_back(kList);
  const auto times = lists_of(lists, [](int) {}, 6);
  REQUIRE(times.size() == 6);
  const auto waited = times[5] - times[4];
  CHECK(waited >= std::chrono::milliseconds(900));
  CHECK(waited < std::chrono::seconds(5));
}

TEST_CASE("a line that cannot be read leads to a list, whatever follows it") {
  // Lines that came in time would put the next list off for ever.
  const auto times = lists_of(
      {kList},
      [](int socket) {
        write_all(socket, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nno JSON\n");
        for (int i = 0; i < 40; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          char byte = 0;
          if (::recv(socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0) return;
          write_all(socket, R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}})"
                            "\n");
        }
      },
      2);
  REQUIRE(times.size() == 2);
  CHECK(times[1] - times[0] < std::chrono::seconds(3));
}
