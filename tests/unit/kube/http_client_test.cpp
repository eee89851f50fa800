#include "connectors/kube/transport/http_client.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "connectors/kube/api_server_connection.h"
#include "connectors/kube/transport/failure_message.h"
#include "engine/base/descriptors.h"
#include "tests/unit/kube/client_bench.h"

using namespace fairlead;

TEST_CASE("a request carries path, host, agent and token, and its connection is used again") {
  std::mutex mutex;
  std::vector<std::string> requests;
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      {
        std::lock_guard lock(mutex);
        requests.push_back(text);
      }
      write_all(socket, answer("{}", "Retry-After: 7\r\n"));
    }
  });
  {
    Bench bench(server);
    auto first = bench.get("/api?x=1");
    REQUIRE(first.has_value());
    CHECK(first->status == 200);
    CHECK(first->body == "{}");
    CHECK(first->retry_after == seconds(7));
    HttpRequest patch;
    patch.method = "PATCH";
    patch.target = "/p";
    patch.content_type = "application/apply-patch+yaml";
    patch.body = "{\"a\":1}";
    CHECK(bench.send(patch).get()->status == 200);
    CHECK(server.connections() == 1);
    HttpRequest elsewhere;
    elsewhere.target = "/";
    elsewhere.new_connection = true;
    CHECK(bench.send(elsewhere).get()->status == 200);
    CHECK(server.connections() == 2);
  }
  std::lock_guard lock(mutex);
  REQUIRE(requests.size() == 3);
  CHECK(requests[0].find("GET /base/api?x=1 HTTP/1.1\r\nHost: 127.0.0.1:") == 0);
  CHECK(requests[0].find("\r\nUser-Agent: fairlead/" FAIRLEAD_VERSION "\r\n") != std::string::npos);
  CHECK(requests[0].find("\r\nAuthorization: Bearer hush\r\n") != std::string::npos);
  CHECK(requests[1].find("PATCH /base/p HTTP/1.1\r\n") == 0);
  CHECK(
      requests[1].find(
          "\r\nContent-Type: application/apply-patch+yaml\r\nContent-Length: 7\r\n\r\n{\"a\":1}") !=
      std::string::npos);
}

TEST_CASE("bodies come chunked, byte by byte, or until the connection closes") {
  TinyServer server([&](int socket, int nth) {
    read_request(socket);
    const std::string big(200'000, 'x');
    if (nth == 0) {
      const std::string text =
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" +
          chunk("abc") + chunk("de") + "0\r\n\r\n";
      for (char c : text) write_all(socket, std::string_view(&c, 1));
    } else if (nth == 1) {
      write_all(socket, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end");
    } else {
      write_all(socket, answer(big, "Connection: close\r\n"));
    }
  });
  Bench bench(server);
  CHECK(bench.get("/")->body == "abcde");
  CHECK(bench.get("/")->body == "to the end");
  CHECK(bench.get("/")->body == std::string(200'000, 'x'));
}

TEST_CASE(
    "an answer beyond the limit, a cut answer, a silent server and no server are distinguished") {
  TinyServer server([&](int socket, int nth) {
    read_request(socket);
    if (nth == 0) write_all(socket, answer(std::string(5000, 'x')));
    if (nth == 1) write_all(socket, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    if (nth == 2) write_all(socket, "this is no HTTP\r\n\r\n");
    if (nth == 3) read_request(socket);  // says nothing until the client hangs up
  });
  Bench bench(server);
  HttpRequest request;
  request.target = "/";
  request.body_bytes_max = 4096;
  auto large = bench.send(request).get();
  REQUIRE(large.has_value());
  CHECK(large->status == 413);
  CHECK(failure_message(large->body) == "the answer is longer than 4096 bytes");
  auto cut = bench.send(request).get();
  REQUIRE(cut.has_error());
  CHECK(cut.error().code == ErrorCode::unavailable);
  CHECK(bench.send(request).get().has_error());
  request.timeout = milliseconds(50);
  auto silent = bench.send(request).get();
  REQUIRE(silent.has_error());
  CHECK(silent.error() == Error{ErrorCode::unavailable, "timeout while waiting for the answer"});
}

TEST_CASE("a connection that ends without a byte of an answer is no answer") {
  TinyServer server([](int socket, int) { read_request(socket); });
  Bench bench(server);
  HttpRequest request;
  request.target = "/";
  for (const char* method : {"GET", "PATCH"}) {
    request.method = method;
    const auto said = bench.send(request).get();
    REQUIRE(said.has_error());
    CHECK(said.error().code == ErrorCode::unavailable);
  }
}

TEST_CASE("a port without a listener is unavailable and says where") {
  Credentials unserved;
  unserved.server = {false, "127.0.0.1", "1", ""};
  IoLoop loop;
  std::promise<Result<HttpResponse>> promise;
  std::unique_ptr<HttpClient> client;
  loop.run([&] {
    client = *HttpClient::make(loop, unserved, {});
    client->send({}, [&](Result<HttpResponse> said) { promise.set_value(std::move(said)); });
  });
  auto said = promise.get_future().get();
  REQUIRE(said.has_error());
  CHECK(said.error().message == "connecting to 127.0.0.1:1: Connection refused");
  loop.run([&] { client.reset(); });
}

TEST_CASE("a connection that is kept and not used again is closed") {
  std::promise<void> closed;
  TinyServer server([&](int socket, int) {
    while (!read_request(socket).empty()) write_all(socket, answer("{}"));
    closed.set_value();
  });
  HttpLimits limits;
  limits.idle_max = milliseconds(200);
  Bench bench(server, limits);
  CHECK(bench.get("/")->body == "{}");
  CHECK(closed.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready);
}

TEST_CASE("a connection beyond the share of descriptors is unavailable and says why") {
  TinyServer server([&](int socket, int) {
    while (!read_request(socket).empty()) write_all(socket, answer("{}"));
  });
  Bench bench(server);
  {
    std::vector<ConnectionPlace> held;
    while (auto place = ConnectionPlace::acquire()) held.push_back(*std::move(place));
    const auto refused = bench.get("/");
    REQUIRE(refused.has_error());
    CHECK(refused.error().message.find("opening a connection to 127.0.0.1:") == 0);
    CHECK(refused.error().message.find("the limit of open files is ") != std::string::npos);
    held.pop_back();
    CHECK(bench.get("/")->body == "{}");  // is not kept: places are scarce
    CHECK(bench.get("/")->body == "{}");
  }
  CHECK(bench.get("/")->body == "{}");
  CHECK(bench.get("/")->body == "{}");
  CHECK(server.connections() == 3);
}

TEST_CASE("of a proxy's refusal its status code is reported and none of its words") {
  const std::vector<std::string> heads{
      "HTTP/1.1 407 Proxy-Authorization: Basic s3cret\r\n\r\n",
      "HTTP/1.0 503\r\n\r\n",
      "HTTP/1.1 2000 s3cret\r\n\r\n",
      "HTTP/1.1 s3cret\r\n\r\n",
      "CONNECT s3cret HTTP/1.1\r\n\r\n",
  };
  const TinyServer proxy([&](int socket, int nth) {
    read_request(socket);
    write_all(socket, heads[static_cast<std::size_t>(nth)]);
  });
  Credentials credentials = proxy.credentials();
  credentials.proxy = ProxyAddress{false, "127.0.0.1", credentials.server.port, "Basic s3cret"};
  credentials.server = {true, "server", "1", ""};  // plain ones are not tunnelled
  credentials.verify_server = false;
  const std::string step = "asking proxy 127.0.0.1:" + credentials.proxy->port + " for server:1 (";
  Bench bench(credentials);
  std::vector<std::string> failures;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto said = bench.get("/");
    REQUIRE(said.has_error());
    CHECK(said.error().message.starts_with(step));
    failures.push_back(said.error().message.substr(step.size()));
  }
  CHECK(failures == std::vector<std::string>{"it answered 407): Connection refused",
                                             "it answered 503): Connection refused",
                                             "its answer has no HTTP status): Connection refused",
                                             "its answer has no HTTP status): Connection refused",
                                             "its answer has no HTTP status): Connection refused"});
}

TEST_CASE(
    "a kept connection that the server closed costs a read nothing and is never written to twice") {
  std::atomic<int> served{0};
  TinyServer server([&](int socket, int) {
    if (read_request(socket).empty()) return;
    ++served;
    write_all(socket, answer("{}"));  // and closes, although it did not say so
  });
  Bench bench(server);
  for (int i = 0; i < 5; ++i) CHECK(bench.get("/").has_value());
  CHECK(served == 5);
}

TEST_CASE("requests beyond inflight_max wait, beyond queued_max they are refused") {
  std::atomic<int> open{0}, most{0};
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      most = std::max<int>(most, ++open);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      --open;
      write_all(socket, answer("{}"));
    }
  });
  HttpLimits limits;
  limits.inflight_max = 2;
  limits.queued_max = 6;
  Bench bench(server, limits);
  std::vector<std::future<Result<HttpResponse>>> answers;
  bench.loop.run([&] {
    for (int i = 0; i < 10; ++i) {
      auto promise = std::make_shared<std::promise<Result<HttpResponse>>>();
      answers.push_back(promise->get_future());
      bench.client->send(
          {}, [promise](Result<HttpResponse> said) { promise->set_value(std::move(said)); });
    }
  });
  int good = 0;
  for (auto& one : answers) good += one.get().has_value() ? 1 : 0;
  CHECK(good == 8);
  CHECK(most <= 2);
}

TEST_CASE("a stream opens, brings bytes as they come and ends") {
  TinyServer server([&](int socket, int nth) {
    read_request(socket);
    if (nth == 0) {
      write_all(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("one\n") +
                            chunk("two\n"));
      write_all(socket, chunk(std::string(300'000, 'y')) + "0\r\n\r\n");
    } else if (nth == 1) {
      write_all(socket, "HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone");
    } else if (nth == 2) {
      write_all(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("cut"));
    } else {
      write_all(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      read_request(socket);  // until the client cancels
    }
  });
  Bench bench(server);
  std::string calls;
  auto follow = [&] {
    std::promise<void> over;
    std::unique_ptr<HttpClient::Stream> stream;
    HttpStreamHandler handler;
    handler.opened = [&] { calls += "opened "; };
    handler.bytes = [&](std::string_view part) {
      for (char c : part)  // parts may arrive together, so the filling is dropped byte by byte
        if (c != 'y') calls += c;
    };
    handler.ended = [&](Result<HttpResponse> said) {
      calls += said.has_value() ? "ended " + std::to_string(said->status) + said->body : "broken";
      over.set_value();
    };
    bench.loop.run([&] { stream = bench.client->stream({}, handler); });
    over.get_future().wait();
    bench.loop.run([&] { stream.reset(); });
    return std::exchange(calls, {});
  };
  CHECK(follow() == "opened one\ntwo\nended 200");
  CHECK(follow() == "ended 410gone");
  CHECK(follow() == "opened cutbroken");

  std::promise<void> open;
  HttpStreamHandler silent;
  silent.opened = [&] { open.set_value(); };
  silent.bytes = [&](std::string_view) { calls += "bytes"; };
  silent.ended = [&](Result<HttpResponse>) { calls += "ended"; };
  std::unique_ptr<HttpClient::Stream> stream;
  bench.loop.run([&] { stream = bench.client->stream({}, silent); });
  open.get_future().wait();
  bench.loop.run([&] { stream.reset(); });
  bench.loop.run([] {});
  CHECK(calls.empty());  // a cancelled stream calls nothing
}

TEST_CASE("stopping answers what is under way") {
  TinyServer server([&](int socket, int) {
    read_request(socket);
    read_request(socket);
  });
  Bench bench(server);
  auto waiting = bench.send({});
  bench.loop.run([&] { bench.client->stop(); });
  CHECK(waiting.get().has_error());
  auto later = bench.send({});
  CHECK(later.get().error() == Error{ErrorCode::unavailable, "stopped"});
}

TEST_CASE(
    "a write under way when its connection ends is answered, and reported to no other request") {
  std::promise<void> asked;
  TinyServer server([&](int socket, int) {
    if (read_request(socket).starts_with("POST")) asked.set_value();
    read_request(socket);  // never answers
  });
  IoLoop loop;
  auto made = ApiServerConnection::make(loop, "hub", server.credentials(), {});
  REQUIRE(made.has_value());
  WriteRequest write;
  write.intent = {7};
  write.verb = Verb::create;
  write.target = {Kind::node, "", "n"};
  write.version = "v1";
  write.body = "{}";
  std::promise<WriteAnswer> answered;
  (*made)->sink().send(std::move(write),
                       [&](WriteAnswer said) { answered.set_value(std::move(said)); });
  asked.get_future().wait();
  made->reset();
  auto answer = answered.get_future();
  REQUIRE(answer.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
  CHECK(answer.get().result == WriteResult::unknown);
  loop.run([] {});  // what came with the answer is over
}

namespace {

// Asks `server` for its versions, again soon, until `enough` of them were asked; what it reported.
std::vector<std::string> discover(const TinyServer& server, const std::function<bool()>& enough,
                                  std::vector<Kind> kinds = {Kind::node}) {
  std::mutex mutex;
  std::vector<std::string> lines;
  ConnectionSettings settings;
  settings.discovery_waiting = milliseconds(10);
  settings.diagnose = [&](const DiagnosticLine& line) {
    std::lock_guard lock(mutex);
    lines.push_back(line.text);
  };
  IoLoop loop;
  auto made = ApiServerConnection::make(loop, "hub", server.credentials(), settings);
  REQUIRE(made.has_value());
  (*made)->watch(std::move(kinds), [](WatchFact) {});
  for (int i = 0; i < 1000 && !enough(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(enough());
  made->reset();
  loop.stop();
  return lines;
}

}  // namespace

TEST_CASE("discovery that is answered with something else is reported once and asked again soon") {
  std::atomic<int> asked{0};
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      ++asked;
      write_all(socket, answer("<html>sign in</html>"));
    }
  });
  CHECK(discover(server, [&] { return asked >= 3; }) ==
        std::vector<std::string>{"hub: discovery: /api answered 200 with what is no list of API "
                                 "groups: it is not JSON; asked again in 10ms"});
}

TEST_CASE("a server that answers 404 to everything is reported by the core API alone") {
  std::atomic<int> asked{0};
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      if (text.starts_with("GET /base/api/v1 ")) ++asked;
      write_all(socket, "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found");
    }
  });
  CHECK(discover(server, [&] { return asked >= 3; }, {Kind::node, Kind::cluster_queue}) ==
        std::vector<std::string>{"hub: discovery: /api/v1, which every API server serves, answered "
                                 "404; asked again in 10ms"});
}

TEST_CASE("a kind that is served only in a version that is not read is reported once") {
  std::atomic<int> asked{0};
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      if (text.starts_with("GET /base/apis ")) ++asked;
      const std::string groups =
          R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"resource.k8s.io"},)"
          R"("versions":[{"version":"v9","resources":[{"resource":"devicetaintrules"}]}]}]})";
      const bool document = text.substr(0, text.find(" HTTP")).find("/v") == std::string::npos;
      write_all(socket, answer(document ? groups : R"({"resources":[]})"));
    }
  });
  // The Node, which this server lacks, has it asked again soon.
  CHECK(discover(server, [&] { return asked >= 2; }, {Kind::node, Kind::device_taint_rule}) ==
        std::vector<std::string>{
            "hub: DeviceTaintRule is not read: resource.k8s.io serves it only as v9, and this "
            "version of Fairlead reads v1,v1beta2,v1alpha3; its objects count as absent"});
}

TEST_CASE("discovery waits as long as Retry-After says, but not until all is stale") {
  std::atomic<int> asked{0};
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      ++asked;
      write_all(socket,
                "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3600\r\n"
                "Content-Length: 0\r\n\r\n");
    }
  });
  std::atomic<int> looks{0};
  const auto lines = discover(server, [&] { return asked >= 1 && ++looks > 10; });
  CHECK(asked == 1);
  CHECK(lines == std::vector<std::string>{"hub: discovery: /api answered 429 (Retry-After "
                                          "1h0m0s); asked again in 2m30s"});
}

TEST_CASE("a write that is held back for long is reported with its wait, the first in a row") {
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket))
      write_all(socket,
                "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3600\r\n"
                "Content-Length: 0\r\n\r\n");
  });
  std::vector<std::string> lines;
  ConnectionSettings settings;
  settings.diagnose = [&](const DiagnosticLine& line) { lines.push_back(line.text); };
  IoLoop loop;
  auto made = ApiServerConnection::make(loop, "hub", server.credentials(), settings);
  REQUIRE(made.has_value());
  for (int i = 0; i < 2; ++i) {
    WriteRequest write;
    write.verb = Verb::create;
    write.target = {Kind::node, "", "n"};
    write.version = "v1";
    write.body = "{}";
    std::promise<WriteAnswer> answered;
    (*made)->sink().send(std::move(write),
                         [&](WriteAnswer said) { answered.set_value(std::move(said)); });
    CHECK(answered.get_future().get().result == WriteResult::throttled);
  }
  made->reset();
  loop.stop();
  CHECK(lines == std::vector<std::string>{"hub: a write was answered 429 (Retry-After 1h0m0s); "
                                          "writes go on in 1m0s"});
}

namespace {

// What is reported of an object that is followed, where each request is answered with `text`.
std::string reported_of(const std::string& text) {
  TinyServer server([&](int socket, int) {
    while (!read_request(socket).empty()) write_all(socket, text);
  });
  std::promise<std::string> said;
  ConnectionSettings settings;
  settings.diagnose = [&](const DiagnosticLine& line) { said.set_value(line.text); };
  IoLoop loop;
  auto made = ApiServerConnection::make(loop, "hub", server.credentials(), settings);
  REQUIRE(made.has_value());
  const auto follower = (*made)->follow("/x", "s", [](std::optional<JsonView>) {});
  const std::string line = said.get_future().get();
  made->reset();
  loop.stop();
  return line;
}

}  // namespace

TEST_CASE("a refusal of a followed object: only the message of a Status is logged") {
  CHECK(reported_of("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 20\r\n\r\n"
                    "{\"message\":\"s3cret\"}") ==
        "hub: /x/s: 502: the answer is no Status (20 bytes)");
}

TEST_CASE("an object whose CRD is absent is reported with the path that is not served") {
  CHECK(reported_of("HTTP/1.1 404 Not Found\r\nContent-Length: 19\r\n\r\n404 page not found\n") ==
        "hub: /x/s: 404: the server does not serve /x");
  CHECK(failure_message(404, "/x", R"({"kind":"Status","message":"not found"})") == "not found");
  CHECK(failure_message(403, "/x", "no") == "the answer is no Status (2 bytes)");
}
