// What surrounds the hub: its clock, diagnostics, metrics, probes.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "engine/base/check.h"
#include "engine/runtime/build_commit.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/http_endpoint.h"
#include "engine/runtime/metrics.h"
#include "engine/runtime/system_clock.h"

namespace fairlead {
namespace {

TEST_CASE("a clock that is set back goes on at half speed until it has caught up") {
  const LogTime noon{1'000'000'000'000};
  ForwardTime time(LogTime{0});
  CHECK(time.at(noon, seconds(0)) == noon);
  CHECK(time.at(noon + seconds(10), seconds(10)) == noon + seconds(10));
  CHECK(time.at(LogTime{noon.ns - seconds(90).ns}, seconds(0)) == noon + seconds(10));
  CHECK(time.at(LogTime{noon.ns - seconds(50).ns}, seconds(40)) == noon + seconds(30));
  CHECK(time.at(noon + seconds(70), seconds(120)) == noon + seconds(90));
  CHECK(time.at(noon + seconds(111), seconds(41)) == noon + seconds(111));
  CHECK(time.at(noon + seconds(111), seconds(-5)) == noon + seconds(111));
}

TEST_CASE("a clock that is set back goes on however often it is asked") {
  const LogTime noon{1'000'000'000'000};
  ForwardTime time(LogTime{0});
  CHECK(time.at(noon, seconds(0)) == noon);
  LogTime utc{noon.ns - hours(1).ns};
  for (int asked = 0; asked < 1000; ++asked) time.at(utc = utc + Duration{1}, Duration{1});
  CHECK(time.at(utc, Duration{}) == noon + Duration{500});
}

TEST_CASE("a clock that is set ahead ends no window, and is caught up with when it stays there") {
  const LogTime noon{1'000'000'000'000};
  const Duration hour = hours(1);
  ForwardTime time(LogTime{0});
  CHECK(time.at(noon, seconds(0)) == noon);
  CHECK(time.at(noon + seconds(5), seconds(1)) == noon + seconds(5));  // a small step
  CHECK_FALSE(time.waits());
  CHECK(time.at(noon + hour, seconds(5)) == noon + seconds(10));
  CHECK(time.waits());
  // One reading that was wrong leaves no trace.
  CHECK(time.at(noon + seconds(20), seconds(10)) == noon + seconds(20));
  CHECK_FALSE(time.waits());
  // One that stays is confirmed, and then time goes half as fast again.
  LogTime now = noon + seconds(20), utc = noon + hour;
  for (int minute = 0; minute <= 10; ++minute, utc = utc + minutes(1)) {
    const LogTime next = time.at(utc, minutes(1));
    CHECK(next - now == (minute < 10 ? minutes(1) : seconds(90)));
    now = next;
  }
  for (int minute = 0; minute < 120; ++minute, utc = utc + minutes(1))
    now = time.at(utc, minutes(1));
  CHECK_FALSE(time.waits());
  CHECK(utc - now == minutes(1));
}

TEST_CASE("a clock that moves on, or says what cannot be, is never followed") {
  const LogTime noon{1'000'000'000'000'000'000};
  ForwardTime time(LogTime{0});
  CHECK(time.at(noon, seconds(0)) == noon);
  LogTime now = noon;
  for (int i = 1; i <= 100; ++i) {
    now = now + minutes(1);
    CHECK(time.at(noon + hours(24 * i), minutes(1)) == now);
  }
  for (int i = 1; i <= 100; ++i) {
    now = now + minutes(1);
    CHECK(time.at(LogTime{INT64_MAX}, minutes(1)) == now);
  }
  ForwardTime begun(noon);
  CHECK(begun.at(LogTime{INT64_MAX}, seconds(0)) == noon);  // at the start of the process, too
  CHECK(begun.at(LogTime{-5}, seconds(10)) == noon + seconds(5));
}

TEST_CASE("a clock that is behind the log goes on from there") {
  ForwardTime time(LogTime{0} + seconds(100));
  CHECK(time.at(LogTime{0}, seconds(0)) == LogTime{0} + seconds(100));
  CHECK(time.at(LogTime{0} + seconds(8), seconds(8)) == LogTime{0} + seconds(104));
}

TEST_CASE("a diagnostic is one line, whatever it holds") {
  CHECK(
      to_line(
          {Severity::info, "write accepted", {{"object", "ClusterQueue high"}, {"code", "200"}}}) ==
      "write accepted object=\"ClusterQueue high\" code=200");
  CHECK(to_line({Severity::info, "x", {{"why", "a\n\"b\"\\"}, {"none", ""}}}) ==
        "x why=\"a\\n\\\"b\\\"\\\\\" none=\"\"");
  CHECK(to_line({Severity::info, "x", {{"node", "\x1b[2J\u202e"}}}) ==
        "x node=\"\\u001b[2J\\u202e\"");
  const std::string line = to_line({Severity::info, "x", {{"why", std::string(100'000, 'y')}}});
  CHECK(line.size() < 600);
  CHECK(line.ends_with("...\""));
}

TEST_CASE("metrics name what an operator looks for") {
  HubStats hub;
  hub.ingest.unchanged = 41;
  hub.seq = Seq{17};
  for (const Duration took : {Duration{300'000}, milliseconds(10), Duration{1'000'000'005}})
    hub.append.add(took);
  hub.claim_counts.conditions[{"Valid", "True"}] = 2;
  hub.pool_counts.waiting[{"Pod", "DoesNotFit"}] = 3;
  hub.dispatch_counts.devices["free"] = 5;
  hub.dispatch_counts.decisions["NoCluster"] = 7;
  hub.dispatch_counts.reservations = 11;
  ConnectionStats connection;
  connection.source = "hub";
  connection.requests_by_code = {{0, 2}, {200, 5}};
  connection.synced = {{Kind::claim, true}, {Kind::node, false}};
  const std::string text = metrics_text(hub, {connection}, machine_stats("tests"));
  for (const char* line : {"ingest_events_total{outcome=\"unchanged\"} 41\n",
                           "\nlog_events 17\n",
                           "\nstate_seq 17\n",
                           "log_append_seconds_bucket{le=\"0.0005\"} 1\n",
                           "log_append_seconds_bucket{le=\"0.01\"} 2\n",
                           "log_append_seconds_bucket{le=\"60\"} 3\n",
                           "log_append_seconds_bucket{le=\"+Inf\"} 3\n",
                           "log_append_seconds_sum 1.010300005\n",
                           "log_append_seconds_count 3\n",
                           "log_append_seconds_max 1.000000005\n",
                           "fairlead_write_delay_seconds_count 0\n",
                           "fairlead_claims{condition=\"Valid\",status=\"True\"} 2\n",
                           "fairlead_pool_waiting{kind=\"Pod\",reason=\"DoesNotFit\"} 3\n",
                           "fairlead_devices{state=\"free\"} 5\n",
                           "fairlead_device_decisions{reason=\"NoCluster\"} 7\n",
                           "fairlead_device_reservations 11\n",
                           "fairlead_data_bytes{part=\"log\"} 0\n",
                           "fairlead_build_info{version=\"" FAIRLEAD_VERSION "\",commit=\"",
                           "rest_client_requests_total{cluster=\"hub\",code=\"<error>\"} 2\n",
                           "rest_client_requests_total{cluster=\"hub\",code=\"200\"} 5\n",
                           "watch_synced{cluster=\"hub\",kind=\"ClusterResourceClaim\"} 1\n",
                           "watch_synced{cluster=\"hub\",kind=\"Node\"} 0\n",
                           "leader_election_master_status{name=\"fairlead\"} 1\n",
                           "workqueue_depth{name=\"inbox\"} 0\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
  // Each line is a comment or a sample: nothing else, and no sample without its type.
  CHECK(text.find("\n\n") == std::string::npos);
}

TEST_CASE("the program knows which commit it was built from") {
  const std::string_view commit = build_commit();
  const std::string_view digits = commit.substr(0, commit.find('-'));
  INFO(commit);
  const bool named = digits.size() == 12 &&
                     digits.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                     (digits == commit || commit == std::string(digits) + "-modified");
  CHECK((named || commit == "unknown"));  // unknown: built outside of a git checkout
}

TEST_CASE("what the process takes of the machine is read") {
  const MachineStats stats = machine_stats("tests/unit");
  CHECK(stats.resident_bytes > 1'000'000);
  CHECK(stats.open_files >= 3);
  CHECK(stats.started_at > seconds(1'500'000'000));
  CHECK(stats.data_bytes.size() == 3);
  CHECK(stats.data_bytes.at("log") > 10'000);  // tests/unit/log
  CHECK(stats.data_bytes.at("other") > stats.data_bytes.at("log"));
  CHECK(stats.data_free_bytes > 0);
  CHECK(machine_stats("nowhere").data_free_bytes == 0);
}

TEST_CASE("an address to listen on is read strictly") {
  CHECK(*parse_listen_address("127.0.0.1:8080") == ListenAddress{"127.0.0.1", 8080});
  CHECK(*parse_listen_address("[::1]:80") == ListenAddress{"::1", 80});
  CHECK(*parse_listen_address(":9090") == ListenAddress{"", 9090});
  CHECK(*parse_listen_address("localhost:1") == ListenAddress{"127.0.0.1", 1});
  for (const char* bad : {"", "8080", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "nowhere:80",
                          "127.0.0.1:80 "}) {
    INFO(bad);
    CHECK(parse_listen_address(bad).has_error());
  }
}

// (Also called by threads, where Catch's macros may not be used.)
std::string ask(std::uint16_t port, const std::string& request) {
  const int file = ::socket(AF_INET, SOCK_STREAM, 0);
  check(file >= 0, "a test can make a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check(::connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
        "a test can connect to the endpoint");
  check(::write(file, request.data(), request.size()) == static_cast<ssize_t>(request.size()),
        "a test can send a request");
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(file, buffer, sizeof buffer)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(n));
  ::close(file);
  return answer;
}

TEST_CASE("the endpoint answers GET, and nothing else breaks it") {
  auto endpoint = HttpEndpoint::start(
      {"127.0.0.1", 0}, {[](std::string_view path) {
        return path == "/readyz" ? HttpReply{503, "text/plain", "not yet\n"}
                                 : HttpReply{200, "text/plain", std::string(path)};
      }});
  REQUIRE(endpoint.has_value());
  const std::uint16_t port = (*endpoint)->port();
  const std::string close = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  CHECK(ask(port, "GET /livez?verbose" + close).ends_with("\r\n\r\n/livez"));
  CHECK(ask(port, "GET /readyz" + close).starts_with("HTTP/1.1 503 "));
  CHECK(ask(port, "POST /livez" + close).starts_with("HTTP/1.1 405 "));
  CHECK(ask(port, "HEAD /livez" + close).ends_with("\r\n\r\n"));
  CHECK(ask(port, "GET /" + std::string(40'000, 'x') + close).find("200 OK") == std::string::npos);
  CHECK(ask(port, "nonsense\r\n\r\n").find("200 OK") == std::string::npos);
  const std::string two = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string both = ask(port, two + "GET /b" + close);
  CHECK(both.find("/a") != std::string::npos);
  CHECK(both.ends_with("/b"));
  CHECK(HttpEndpoint::start({"127.0.0.1", port}, {[](std::string_view) { return HttpReply{}; }})
            .has_error());
}

// One that is answered only when the test says so.
class SlowQuestions {
 public:
  HttpReply answer(std::string_view target) {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    return {200, "application/json", std::string(target)};
  }
  bool wait_for_the_first() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [this] { return begun_ > 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0;
  bool open_ = false;
};

TEST_CASE("surplus questions are refused with a Retry-After, while probes are answered") {
  SlowQuestions questions;
  auto endpoint = HttpEndpoint::start(
      {"127.0.0.1", 0},
      {[](std::string_view path) { return HttpReply{200, "text/plain", std::string(path)}; },
       {{"/audit/"}, [&questions](std::string_view target) { return questions.answer(target); }}});
  REQUIRE(endpoint.has_value());
  const std::uint16_t port = (*endpoint)->port();
  const std::string close = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  std::vector<std::future<std::string>> asked;
  const auto ask_later = [&] {
    asked.push_back(std::async(
        std::launch::async, [port, close] { return ask(port, "GET /audit/quota?n=1" + close); }));
  };
  ask_later();
  REQUIRE(questions.wait_for_the_first());
  // As many may wait as there are places; of more than that each surplus one is refused at once.
  constexpr std::size_t kMore = kHttpQuestionsMax + 3;
  for (std::size_t i = 0; i < kMore; ++i) ask_later();
  const auto answered = [&] {
    return static_cast<std::size_t>(std::count_if(asked.begin(), asked.end(), [](const auto& one) {
      return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }));
  };
  for (int i = 0; i < 1000 && answered() < kMore - kHttpQuestionsMax; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(answered() == kMore - kHttpQuestionsMax);
  CHECK(ask(port, "GET /livez" + close).ends_with("\r\n\r\n/livez"));
  questions.open();
  std::size_t refused = 0;
  for (auto& one : asked) {
    const std::string answer = one.get();
    if (answer.starts_with("HTTP/1.1 503 ")) {
      ++refused;
      CHECK(answer.find("Retry-After: 1\r\n") != std::string::npos);
    } else {
      CHECK(answer.ends_with("\r\n\r\n/audit/quota?n=1"));
    }
  }
  CHECK(refused == kMore - kHttpQuestionsMax);
  CHECK(ask(port, "GET /audit/again" + close).ends_with("/audit/again"));
}

TEST_CASE("a question that waited too long is refused with 503") {
  SlowQuestions questions;
  auto endpoint = HttpEndpoint::start(
      {"127.0.0.1", 0},
      {[](std::string_view) { return HttpReply{}; },
       {{"/audit/"}, [&questions](std::string_view target) { return questions.answer(target); }}});
  REQUIRE(endpoint.has_value());
  const std::uint16_t port = (*endpoint)->port();
  const std::string request = "GET /audit/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  auto first = std::async(std::launch::async, [port, request] { return ask(port, request); });
  REQUIRE(questions.wait_for_the_first());
  auto second = std::async(std::launch::async, [port, request] { return ask(port, request); });
  std::this_thread::sleep_for(std::chrono::nanoseconds(kHttpQuestionPatience.ns) +
                              std::chrono::milliseconds(500));
  questions.open();
  CHECK(first.get().starts_with("HTTP/1.1 200 "));
  CHECK(second.get().starts_with("HTTP/1.1 503 "));
}

}  // namespace
}  // namespace fairlead
