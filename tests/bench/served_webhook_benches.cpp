// The webhook as an API server meets it: a review over a kept TLS connection, 200 times a second,
// while the hub folds 1,000 events a second and makes a view of each round.
//
// The bound of the median is a bare TLS echo of the same bytes, under the same load. The 99th
// percentile is held against the goal of docs/webhook.md, because that of an echo is the
// machine's.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "connectors/kube/access/webhook_authority.h"
#include "engine/main/service/webhook_service.h"
#include "engine/runtime/http_endpoint.h"
#include "engine/runtime/system_clock.h"
#include "tests/bench/benches.h"
#include "tests/bench/busy_hub.h"
#include "tests/bench/review.h"
#include "tests/bench/tls_echo.h"

namespace fairlead::bench {
namespace {

constexpr std::chrono::milliseconds kReviewEvery{5};
constexpr double kGoalMilliseconds = 5;
constexpr double kPaceKept = 0.9;  // of the events of a second, else nothing is measured

// An edit of a queue that a claim decides: the answer holds a warning out of the view.
std::string review_request() {
  const std::string body = review_text("high", {"on-demand", "spot"}, "500", "7");
  return "POST " + std::string(kAdmitPath) +
         "?timeout=5s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// The hub, its webhook, and the echo beside it.
class ServedWebhook {
 public:
  explicit ServedWebhook(const Place& place)
      : hub_(place.directory),
        service_(hub_.feed(), {}),
        certificate_(std::make_shared<ServedCertificate>([](const Diagnostic&) {})),
        reviews_(place.size == Size::tiny ? 20 : 800),
        paced_(place.size == Size::full) {
    const WebhookSecret secret = need(renewed({}, "localhost", utc_now()));
    certificate_->use("bench", secret.certificate, secret.key);
    HttpServing serving;
    serving.handler = [](std::string_view) { return HttpReply{404, "text/plain", ""}; };
    serving.posts.path = std::string(kAdmitPath);
    serving.posts.inline_body_max = kInlineReviewMax;
    serving.posts.answer = [this](const ReceivedRequest& request) {
      return service_.reply(request.body);
    };
    serving.certificate = certificate_;
    endpoint_ = need(HttpEndpoint::start(need(parse_listen_address("127.0.0.1:0")), serving));
    TlsAsker first(endpoint_->port());
    const std::string answer = first.ask(request_);
    if (!answer.starts_with("HTTP/1.1 200") || answer.find("\"warnings\"") == std::string::npos)
      give_up("the rule did not object: " + answer);
    echo_ = std::make_unique<TlsEcho>(certificate_->context(), request_.size(), answer);
  }

  // Milliseconds of each review, ascending.
  std::vector<double> reviewed() { return asked(endpoint_->port()); }
  std::vector<double> echoed() { return asked(echo_->port()); }

 private:
  std::vector<double> asked(std::uint16_t port) {
    TlsAsker asker(port);
    std::vector<double> took;
    const std::uint64_t folded = hub_.folded();
    const auto begin = std::chrono::steady_clock::now();
    for (auto at = begin; took.size() < reviews_; at += kReviewEvery) {
      std::this_thread::sleep_until(at);
      took.push_back(1e3 * seconds_of([&] { keep(asker.ask(request_)); }));
    }
    const double span =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double rate = static_cast<double>(hub_.folded() - folded) / span;
    if (paced_ && rate < kPaceKept * kBusyEventsPerSecond)
      give_up("the hub folded only " + std::to_string(std::lround(rate)) + " events a second");
    std::sort(took.begin(), took.end());
    return took;
  }

  const std::string request_ = review_request();
  BusyHub hub_;
  WebhookService service_;
  const std::shared_ptr<ServedCertificate> certificate_;
  const std::size_t reviews_;
  const bool paced_;
  std::unique_ptr<HttpEndpoint> endpoint_;
  std::unique_ptr<TlsEcho> echo_;
};

double middle(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

double p99(const std::vector<double>& sorted) {
  const double place = std::ceil(0.99 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(place) - 1];
}

Trial median_trial(const Place& place) {
  const auto served = std::make_shared<ServedWebhook>(place);
  return {[served] { return middle(served->reviewed()); },
          [served] { return middle(served->echoed()); }};
}

Trial p99_trial(const Place& place) {
  const auto served = std::make_shared<ServedWebhook>(place);
  return {[served] { return p99(served->reviewed()); }, [] { return kGoalMilliseconds; }};
}

}  // namespace

void add_served_webhook_benches(Suite& suite) {
  suite.add({"webhook/served, median", "a bare TLS echo of the same bytes", "ms", Better::less, 2,
             median_trial});
  suite.add({"webhook/served, p99", "the goal", "ms", Better::less, 1, p99_trial});
}

}  // namespace fairlead::bench
