#include "engine/main/service/webhook_listener.h"

#include <utility>

#include "connectors/kube/access/own_user.h"
#include "engine/runtime/system_clock.h"

namespace fairlead {
namespace {

constexpr Duration kAskAgain = seconds(10);

// An API server has a handful of connections, which it keeps for minutes; behind one address there
// may be several servers.
constexpr HttpPlaces kWebhookPlaces{
    .requests = 512, .requests_of_address = 512, .waiting = 512, .waiting_of_address = 512};
constexpr HttpPatience kWebhookPatience{
    .header = seconds(5), .idle = seconds(150), .answer = seconds(10)};

}  // namespace

Result<std::optional<WebhookPlace>> webhook_place(const WebhookOptions& options) {
  if (options.listen.empty()) {
    if (options.certificate.empty() && options.self_signed.empty())
      return std::optional<WebhookPlace>();
    return Error{ErrorCode::bad_input,
                 "--webhook-certificate and --webhook-self-signed are for --webhook-listen"};
  }
  auto address = parse_listen_address(options.listen);
  if (!address) return in_context("--webhook-listen", address.error());
  if (options.certificate.empty() == options.self_signed.empty())
    return Error{ErrorCode::bad_input,
                 "--webhook-listen needs one of --webhook-certificate DIR and "
                 "--webhook-self-signed SERVICE.NAMESPACE"};
  WebhookPlace place{*address, options.certificate, std::nullopt};
  if (!options.self_signed.empty()) {
    auto service = parse_webhook_address(options.self_signed);
    if (!service) return in_context("--webhook-self-signed", service.error());
    place.self_signed = *std::move(service);
  }
  return std::optional(std::move(place));
}

WebhookListener::WebhookListener(const AdmissionFeed& feed, Inbox& inbox, Logger logger)
    : logger_(std::move(logger)),
      service_(feed,
               {.post = [&inbox](AdmissionDecided note) { return inbox.offer(std::move(note)); }}) {
}

Result<std::unique_ptr<WebhookListener>> WebhookListener::start(
    const WebhookPlace& place, const AdmissionFeed& feed, Inbox& inbox, Credentials credentials,
    const Logger& logger, LoopWatch& watch) {
  std::unique_ptr<WebhookListener> listener(new WebhookListener(feed, inbox, logger));
  listener->certificate_ = place.self_signed
                               ? std::make_shared<ServedCertificate>(logger)
                               : std::make_shared<ServedCertificate>(place.certificate, logger);
  if (auto reached = listener->reach_hub(place, std::move(credentials)); !reached)
    return reached.error();
  if (auto listening = listener->listen(place.listen); !listening) return listening.error();
  WebhookListener& made = *listener;
  made.endpoint_watched_ = watch.watch("the webhook", [&made](std::function<void()> work) {
    made.endpoint_->post(std::move(work));
  });
  made.loop_watched_ =
      watch.watch("the webhook's connections",
                  [&made](std::function<void()> work) { made.loop_.post(std::move(work)); });
  return listener;
}

Result<void> WebhookListener::reach_hub(const WebhookPlace& place, Credentials credentials) {
  auto client = HttpClient::make(loop_, std::move(credentials), {});
  if (!client) return client.error();
  client_ = std::move(*client);
  loop_.run([this, &place] {
    identify();
    if (!place.self_signed) return;
    const std::string origin = place.self_signed->host();
    keeper_ = std::make_unique<WebhookSecretKeeper>(
        *client_, *place.self_signed,
        WebhookSecretKeeper::Ports{
            utc_now,
            [certificate = certificate_, origin](const std::string& pem, const std::string& key) {
              certificate->use(origin, pem, key);
            },
            [logger = logger_](const std::string& problem) {
              if (problem.empty())
                logger({Severity::info, "the webhook's certificate can be kept again", {}});
              else
                logger({Severity::error,
                        "the webhook's certificate cannot be kept",
                        {{"why", problem}}});
            }});
  });
  return {};
}

// Until the answer is there the hub's own requests are judged like everybody's; the conditions of
// the webhook configuration keep them away anyway.
void WebhookListener::identify() {
  ask_own_user(*client_, [this](Result<std::string> user) {
    if (ending_) return;
    if (user) {
      service_.identify(*user);
      return logger_(
          {Severity::info, "the webhook lets the hub's own requests pass", {{"user", *user}}});
    }
    if (user.error().message != problem_)
      logger_({Severity::warn,
               "the webhook does not know yet which requests are the hub's own",
               {{"why", user.error().message}}});
    problem_ = user.error().message;
    asking_ = loop_.after(kAskAgain, [this] { identify(); });
  });
}

Result<void> WebhookListener::listen(const ListenAddress& address) {
  HttpServing serving;
  serving.handler = [](std::string_view path) {
    return HttpReply{
        404, "text/plain; charset=utf-8",
        std::string(path) + ": POST an AdmissionReview to " + std::string(kAdmitPath) + "\n"};
  };
  serving.posts.path = std::string(kAdmitPath);
  serving.posts.inline_body_max = kInlineReviewMax;
  serving.posts.answer = [this](const ReceivedRequest& request) {
    return service_.reply(request.body);
  };
  serving.certificate = certificate_;
  serving.patience = kWebhookPatience;
  serving.places = kWebhookPlaces;
  auto started = HttpEndpoint::start(address, std::move(serving));
  if (!started) return in_context("--webhook-listen", started.error());
  endpoint_ = std::move(*started);
  logger_({Severity::info, "the webhook listens", {{"port", std::to_string(endpoint_->port())}}});
  return {};
}

WebhookListener::~WebhookListener() {
  endpoint_watched_.reset();
  loop_watched_.reset();
  // First: requests use the service, the certificate and the loop.
  endpoint_.reset();
  loop_.run([this] {
    ending_ = true;
    keeper_.reset();
    if (client_) client_->stop();
    asking_.reset();
    client_.reset();
  });
  loop_.stop();
}

}  // namespace fairlead
