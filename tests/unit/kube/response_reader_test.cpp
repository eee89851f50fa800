#include "connectors/kube/transport/response_reader.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <string>
#include <utility>

#include "tests/unit/kube/client_bench.h"

using namespace fairlead;

namespace {

// Sends the beginning of an answer, and then `piece` until the client leaves or it has sent 64 MiB;
// returns how many bytes it sent.
struct Endless {
  std::string beginning, piece;
  std::atomic<std::size_t> sent{0};

  void serve(int socket) {
    read_request(socket);
    write_all(socket, beginning);
    while (sent < (std::size_t{64} << 20)) {
      const ssize_t wrote = ::send(socket, piece.data(), piece.size(), MSG_NOSIGNAL);
      if (wrote <= 0) return;
      sent += static_cast<std::size_t>(wrote);
    }
  }
};

const std::string kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

}  // namespace

// What a socket's buffers hold was sent, too, so the bound here is a coarse one.
TEST_CASE("what is no body of an answer is bounded: chunk extensions, trailers, sizes, heads") {
  const std::string blob(64 << 10, 'a');
  const std::pair<std::string, std::string> endless[] = {
      {kChunkedHead + "1;a=", blob},
      {kChunkedHead + chunk("x") + "1;a=\"", blob},
      {kChunkedHead + chunk("x") + "0\r\nX: ", blob},
      {kChunkedHead + chunk("x") + "0\r\n", "X: y\r\n"},
      {kChunkedHead, std::string(64 << 10, '0')},
      {"HTTP/1.1 200 OK\r\nX: ", blob},
      {"HTTP/1.1 200 OK\r\n", "X: y\r\n"},
      {"HTTP/1.1 200 ", blob}};
  for (const auto& [beginning, piece] : endless)
    for (const bool streamed : {false, true}) {
      CAPTURE(beginning, streamed);
      Endless sender{beginning, piece};
      TinyServer server([&](int socket, int) { sender.serve(socket); });
      Bench bench(server);
      Result<HttpResponse> got = Error{};
      if (!streamed) {
        got = bench.get("/");
      } else {
        std::promise<Result<HttpResponse>> ended;
        std::unique_ptr<HttpClient::Stream> stream;
        bench.loop.run([&] {
          HttpStreamHandler handler;
          handler.opened = [] {};
          handler.bytes = [](std::string_view) {};
          handler.ended = [&](Result<HttpResponse> said) { ended.set_value(std::move(said)); };
          stream = bench.client->stream({}, std::move(handler));
        });
        got = ended.get_future().get();
        bench.loop.run([&] { stream.reset(); });
      }
      REQUIRE(got.has_error());
      CHECK(got.error().message.find("waiting for the answer: ") == 0);
      CHECK(sender.sent < (std::size_t{16} << 20));
    }
}

TEST_CASE("an endless chunk extension is an error that says so") {
  ResponseReader reader;
  ErrorCondition error;
  std::size_t body = 0;
  const auto count = [&](std::string_view part) { return body += part.size(), true; };
  reader.feed(kChunkedHead + chunk("abc") + "1;a=", count, error);
  CHECK(body == 3);
  for (std::size_t fed = 0; !error && fed < 10 * kUnreadMax; fed += 1000)
    reader.feed(std::string(1000, 'a'), count, error);
  CHECK(reader.fault(error) ==
        "the head, a chunk's extension or the trailers of the answer are longer than 131072 bytes");
}

TEST_CASE("a connection on which more than the answer came is not used again") {
  TinyServer server([&](int socket, int) {
    read_request(socket);
    write_all(socket, answer("{}") + answer("for the next one"));
    read_request(socket);
  });
  Bench bench(server);
  CHECK(bench.get("/")->body == "{}");
  CHECK(bench.get("/")->body == "{}");
  CHECK(server.connections() == 2);
}
