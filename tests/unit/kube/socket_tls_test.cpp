// TLS of the HTTP client: records of any cut, sessions that are resumed, and what a failure says.
#include <openssl/ssl.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/kube/client_bench.h"
#include "tests/unit/runtime/tls_client.h"

using namespace fairlead;

namespace {

// A connection of TlsServer. Its thread gets no SIGPIPE, so a client's would end the test.
struct Secured {
  SSL* tls;

  // A request without a body; empty at the end.
  std::string request() const {
    std::string text;
    char byte = 0;
    while (!text.ends_with("\r\n\r\n") && SSL_read(tls, &byte, 1) == 1) text += byte;
    return text.ends_with("\r\n\r\n") ? text : "";
  }
  void write(std::string_view text) const {
    if (!text.empty()) SSL_write(tls, text.data(), static_cast<int>(text.size()));
  }
};

struct TlsServer {
  TlsServer(const TlsPair& pair, std::function<void(const Secured&, int nth)> serve)
      : context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free),
        server([this, serve](int socket, int nth) {
          sigset_t pipes;
          ::sigemptyset(&pipes);
          ::sigaddset(&pipes, SIGPIPE);
          ::pthread_sigmask(SIG_BLOCK, &pipes, nullptr);
          const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), SSL_free);
          SSL_set_fd(tls.get(), socket);
          if (SSL_accept(tls.get()) != 1) return;
          {
            const std::lock_guard lock(mutex);
            resumed.push_back(SSL_session_reused(tls.get()) == 1);
          }
          serve({tls.get()}, nth);
          SSL_shutdown(tls.get());
        }) {
    const auto read = [](const std::string& text) {
      return std::unique_ptr<BIO, decltype(&BIO_free)>(
          BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
    };
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        PEM_read_bio_X509(read(pair.certificate).get(), nullptr, nullptr, nullptr), X509_free);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        PEM_read_bio_PrivateKey(read(pair.key).get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    REQUIRE(SSL_CTX_use_certificate(context.get(), certificate.get()) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1);
    ca = pair.certificate;
  }

  Credentials credentials() const {
    Credentials out = server.credentials();
    out.server.tls = true;
    out.ca_pem = ca;
    out.tls_server_name = "localhost";
    return out;
  }
  std::vector<bool> resumptions() {
    const std::lock_guard lock(mutex);
    return resumed;
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context;
  std::string ca;
  std::mutex mutex;
  std::vector<bool> resumed;
  TinyServer server;
};

std::string failure_of(const Credentials& credentials) {
  Bench bench(credentials);
  const auto said = bench.get("/");
  REQUIRE(said.has_error());
  return said.error().message;
}

}  // namespace

TEST_CASE("answers over TLS come whole, however they are cut into records") {
  const std::string body(200'000, 'x');
  TlsServer server(make_tls_pair("localhost"), [&](const Secured& client, int) {
    for (std::string text = client.request(); !text.empty(); text = client.request()) {
      const std::string reply = answer(body);
      if (text.find("GET /base/bytes ") == 0) {
        const std::string small = answer("byte by byte");
        for (const char c : small) client.write(std::string_view(&c, 1));
      } else {
        client.write(reply);
      }
    }
  });
  Bench bench(server.credentials());
  for (int i = 0; i < 3; ++i) {
    CHECK(bench.get("/whole")->body == body);
    CHECK(bench.get("/bytes")->body == "byte by byte");
  }
  CHECK(server.server.connections() == 1);
}

TEST_CASE("a stream over TLS brings what comes when it comes, and its connection serves again") {
  std::promise<void> first_read, ended;
  TlsServer server(make_tls_pair("localhost"), [&](const Secured& client, int) {
    client.request();
    client.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("one\n"));
    first_read.get_future().wait();
    client.write(chunk("two\n") + chunk("three\n") + "0\r\n\r\n");
    client.request();
    client.write(answer("{}"));
    client.request();
  });
  Bench bench(server.credentials());
  std::string bytes;
  HttpStreamHandler handler;
  handler.opened = [] {};
  handler.bytes = [&](std::string_view part) {
    bytes += part;
    if (bytes == "one\n") first_read.set_value();
  };
  handler.ended = [&](Result<HttpResponse> said) {
    CHECK((said.has_value() && said->status == 200));
    ended.set_value();
  };
  std::unique_ptr<HttpClient::Stream> stream;
  bench.loop.run([&] { stream = bench.client->stream({}, handler); });
  ended.get_future().wait();
  CHECK(bytes == "one\ntwo\nthree\n");
  CHECK(bench.get("/")->body == "{}");
  CHECK(server.server.connections() == 1);
  bench.loop.run([&] { stream.reset(); });
}

TEST_CASE("a stream over TLS ends while it waits") {
  TlsServer server(make_tls_pair("localhost"), [&](const Secured& client, int) {
    client.request();
    client.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("one\n"));
    client.request();
  });
  Bench bench(server.credentials());
  std::promise<void> opened;
  HttpStreamHandler handler;
  handler.opened = [&] { opened.set_value(); };
  handler.bytes = [](std::string_view) {};
  handler.ended = [](const Result<HttpResponse>&) { FAIL("it was cancelled"); };
  std::unique_ptr<HttpClient::Stream> stream;
  bench.loop.run([&] { stream = bench.client->stream({}, handler); });
  opened.get_future().wait();
  bench.loop.run([&] { stream.reset(); });
}

TEST_CASE("a later connection resumes the session, and none that of another identity") {
  const bool is_tls_1_2 = GENERATE(false, true);
  TlsServer server(make_tls_pair("localhost"), [](const Secured& client, int) {
    client.request();
    client.write(answer("{}", "Connection: close\r\n"));
  });
  if (is_tls_1_2) SSL_CTX_set_max_proto_version(server.context.get(), TLS1_2_VERSION);
  Bench bench(server.credentials());
  for (int i = 0; i < 3; ++i) CHECK(bench.get("/")->status == 200);
  CHECK(server.resumptions() == std::vector{false, true, true});
  // Another certificate of ours, and other roots, are other identities at the same address.
  Credentials other = server.credentials();
  const TlsPair pair = make_tls_pair("client");
  other.client_certificate_pem = pair.certificate;
  other.client_key_pem = pair.key;
  bench.loop.run([&] { bench.client->use(other); });
  for (int i = 0; i < 2; ++i) CHECK(bench.get("/")->status == 200);
  other.ca_pem += make_tls_pair("another root").certificate;
  bench.loop.run([&] { bench.client->use(other); });
  CHECK(bench.get("/")->status == 200);
  CHECK(server.resumptions() == std::vector{false, true, true, false, true, false});
  // Nor is one resumed by another client of the same server.
  Bench second(server.credentials());
  CHECK(second.get("/")->status == 200);
  CHECK_FALSE(server.resumptions().back());
}

TEST_CASE("a failed handshake says what the server's certificate lacks") {
  TlsServer server(make_tls_pair("localhost"),
                   [](const Secured& client, int) { client.request(); });
  const std::string where = "TLS handshake with " + server.credentials().server.host + ":" +
                            server.credentials().server.port;
  Credentials other_name = server.credentials();
  other_name.tls_server_name = "elsewhere";
  CHECK(failure_of(other_name) ==
        where +
            " (the certificate is not for elsewhere): certificate verify failed (SSL routines)");
  Credentials other_root = server.credentials();
  other_root.ca_pem = make_tls_pair("localhost").certificate;
  const std::string untrusted = failure_of(other_root);
  CHECK(untrusted.find(where + " (") == 0);
  CHECK(untrusted.find("): certificate verify failed (SSL routines)") != std::string::npos);
  Credentials unverified = other_root;
  unverified.verify_server = false;
  unverified.server.port = "1";
  CHECK(failure_of(unverified) == "connecting to 127.0.0.1:1: Connection refused");
}

TEST_CASE("a certificate that has expired is refused, and an end in the handshake is no hang") {
  TlsServer server(make_tls_pair("localhost", -60), [](const Secured&, int) {});
  const std::string said = failure_of(server.credentials());
  CHECK(said.find("(certificate has expired): certificate verify failed") != std::string::npos);
  TinyServer closes([](int, int) {});
  Credentials credentials = closes.credentials();
  credentials.server.tls = true;
  const std::string cut = failure_of(credentials);
  CHECK((cut.ends_with(": stream truncated") || cut.ends_with(": Connection reset by peer")));
}

TEST_CASE("sending to a server that has closed its connection raises no signal") {
  TlsServer server(make_tls_pair("localhost"), [](const Secured&, int) {});
  Bench bench(server.credentials());
  HttpRequest request;
  request.method = "PATCH";
  request.body = std::string(std::size_t{8} << 20, 'x');
  for (int i = 0; i < 3; ++i) CHECK(bench.send(request).get().has_error());
}
