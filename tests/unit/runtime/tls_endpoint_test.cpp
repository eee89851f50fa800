// The endpoint with TLS: versions, certificates that change, connections that end no handshake.
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/runtime/http_endpoint.h"
#include "tests/unit/http/plain_client.h"
#include "tests/unit/runtime/tls_client.h"

namespace fairlead {
namespace {

constexpr std::string_view kKeepOpen = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view kThenClose =
    "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

// The lines that a certificate logged.
class Lines {
 public:
  Logger logger() {
    return [this](const Diagnostic& diagnostic) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(to_line(diagnostic));
    };
  }
  // Whether one of them holds all of `words`.
  bool hold(const std::vector<std::string>& words) const {
    const std::lock_guard lock(mutex_);
    for (const std::string& line : lines_) {
      bool all = true;
      for (const std::string& word : words) all = all && line.find(word) != std::string::npos;
      if (all) return true;
    }
    return false;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// An endpoint that serves what is in a Secret, which it looks at all the time.
struct Secured {
  explicit Secured(const HttpPatience& patience = {}) : patience_(patience) {}
  Secured& with(const TlsPair& pair) {
    secret.put(pair);
    return *this;
  }
  void start() {
    certificate =
        std::make_shared<ServedCertificate>(secret.folder(), lines.logger(), milliseconds(20));
    HttpServing serving;
    serving.handler = [](std::string_view path) {
      return HttpReply{200, "text/plain", std::string(path)};
    };
    serving.patience = patience_;
    serving.certificate = certificate;
    auto started = HttpEndpoint::start({"127.0.0.1", 0}, std::move(serving));
    REQUIRE(started.has_value());
    endpoint = *std::move(started);
  }
  std::uint16_t port() const { return endpoint->port(); }

  MountedSecret secret;
  Lines lines;
  std::shared_ptr<ServedCertificate> certificate;
  std::unique_ptr<HttpEndpoint> endpoint;
  HttpPatience patience_;
};

bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST_CASE("TLS 1.3 is spoken, and nothing older") {
  Secured secured;
  secured.with(make_tls_pair("first")).start();
  const TlsClient client(secured.port());
  REQUIRE(client.connected());
  CHECK(client.version() == TLS1_3_VERSION);
  client.send(kThenClose);
  CHECK(client.answer().ends_with("\r\n\r\n/livez"));
  TlsOffer old;
  old.version_max = TLS1_2_VERSION;
  CHECK_FALSE(TlsClient(secured.port(), old).connected());
}

TEST_CASE("HTTP/2 is not chosen where a client offers it") {
  Secured secured;
  secured.with(make_tls_pair("first")).start();
  TlsOffer offer;
  offer.alpn = "\x02h2\x08http/1.1";
  const TlsClient client(secured.port(), offer);
  REQUIRE(client.connected());
  CHECK(client.alpn() != "h2");
  client.send(kThenClose);
  CHECK(client.answer().starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("a new pair serves new handshakes while open connections live on") {
  Secured secured;
  secured.with(make_tls_pair("first", 3600)).start();
  const TlsClient before(secured.port());
  CHECK(before.server_name() == "first");
  const auto first_end = secured.certificate->not_after();
  REQUIRE(first_end.has_value());
  secured.with(make_tls_pair("second", 7200));
  CHECK(comes_true([&] { return TlsClient(secured.port()).server_name() == "second"; }));
  CHECK(secured.certificate->not_after() > first_end);
  for (int request = 0; request < 2; ++request) {
    before.send(kKeepOpen);
    CHECK(before.answer_until("/livez").ends_with("\r\n\r\n/livez"));
  }
}

TEST_CASE("a pair that does not fit is refused with its file, once, and the old one stays") {
  Secured secured;
  secured.with(make_tls_pair("first")).start();
  const std::size_t said = secured.lines.size();
  secured.with({make_tls_pair("second").certificate, make_tls_pair("third").key});
  CHECK(comes_true([&] { return secured.lines.hold({"the one before stays", "tls.key"}); }));
  secured.certificate->look();
  secured.certificate->look();
  CHECK(secured.lines.size() == said + 1);
  CHECK(TlsClient(secured.port()).server_name() == "first");
  secured.with({"no certificate", make_tls_pair("third").key});
  CHECK(comes_true([&] { return secured.lines.hold({"the one before stays", "tls.crt"}); }));
  CHECK(TlsClient(secured.port()).server_name() == "first");
  std::filesystem::remove_all(secured.secret.folder() / "..data" / "tls.key");
  CHECK(comes_true([&] { return secured.lines.hold({"the one before stays", "cannot"}); }));
  CHECK(TlsClient(secured.port()).server_name() == "first");
  secured.with(make_tls_pair("fourth"));
  CHECK(comes_true([&] { return TlsClient(secured.port()).server_name() == "fourth"; }));
}

TEST_CASE("a key with a password is refused and never asked for") {
  const TlsPair pair = make_tls_pair("first");
  Lines lines;
  MountedSecret secret;
  secret.put(
      {pair.certificate,
       "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"});
  const ServedCertificate certificate(secret.folder(), lines.logger());
  CHECK(certificate.context() == nullptr);
  CHECK(lines.hold({"there is no serving certificate", "tls.key"}));
}

TEST_CASE("a listener without a certificate closes connections until there is one") {
  Secured secured;
  secured.start();
  CHECK(secured.lines.hold({"there is no serving certificate", "tls.crt"}));
  CHECK_FALSE(secured.certificate->not_after().has_value());
  CHECK_FALSE(TlsClient(secured.port()).connected());
  secured.with(make_tls_pair("late"));
  CHECK(comes_true([&] { return TlsClient(secured.port()).server_name() == "late"; }));
}

TEST_CASE("a pair that has expired is served with a warning") {
  Secured secured;
  secured.with(make_tls_pair("old", -60)).start();
  CHECK(secured.lines.hold({"has expired", "tls.crt"}));
  CHECK(TlsClient(secured.port()).server_name() == "old");
}

TEST_CASE("files without the link of a Secret are taken up, too") {
  Secured secured;
  const TlsPair pair = make_tls_pair("files");
  std::ofstream(secured.secret.folder() / "tls.crt") << pair.certificate;
  std::ofstream(secured.secret.folder() / "tls.key") << pair.key;
  secured.start();
  CHECK(TlsClient(secured.port()).server_name() == "files");
}

TEST_CASE("a hundred handshakes that do not go on take no probe its place") {
  Secured secured;
  secured.with(make_tls_pair("first")).start();
  std::vector<PlainClient> half_open;
  for (int i = 0; i < 100; ++i) {
    half_open.emplace_back(secured.port());
    half_open.back().send(i % 2 == 0 ? "" : "\x16\x03\x01\x02");
  }
  int answered = 0;
  for (int i = 0; i < 30; ++i) {
    const TlsClient probe(secured.port());
    probe.send(kThenClose);
    if (probe.answer().ends_with("\r\n\r\n/livez")) ++answered;
  }
  CHECK(answered == 30);
}

TEST_CASE("a handshake counts into the time for the first request") {
  Secured secured({milliseconds(200), minutes(1), minutes(1)});
  secured.with(make_tls_pair("first")).start();
  const PlainClient silent(secured.port());
  CHECK(silent.closed_within(std::chrono::seconds(20)));
  const TlsClient shaken(secured.port());
  REQUIRE(shaken.connected());
  CHECK(shaken.answer().empty());
}

}  // namespace
}  // namespace fairlead
