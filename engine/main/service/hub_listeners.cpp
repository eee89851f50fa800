#include "engine/main/service/hub_listeners.h"

#include <utility>

#include "engine/main/client/http_target.h"
#include "engine/main/client/log_page.h"
#include "engine/main/service/frame_ancestors.h"
#include "engine/main/service/loopback_guard.h"
#include "engine/main/service/page_files.h"

namespace fairlead {

namespace {

constexpr const char* kPlainText = "text/plain; charset=utf-8";
// A stream is judged when it begins, so it must not outlive a token by more than an answer of the
// guard does.
constexpr Duration kStreamAgeMax = seconds(10);

std::string not_ready(const HubStats& stats) {
  if (!stats.role.trouble.empty()) return stats.role.trouble + "\n";
  if (stats.role.role == HubRole::follower)
    return "the replicated log is not read to its end yet\n";
  if (stats.planning) return "not planning any more: the diagnostics say why\n";
  std::string kinds;
  for (const Kind kind : stats.awaited)
    kinds.append(kinds.empty() ? " " : ", ").append(info(kind).name);
  return "not planning yet" + (kinds.empty() ? "" : ": no list so far of" + kinds) + "\n";
}

std::optional<HttpReply> reply_to_probe(std::string_view path, const HubPages& pages) {
  const bool lives = path == "/livez" || path == "/healthz";
  if (!lives && path != "/readyz") return std::nullopt;
  if (const std::string hung = pages.watch.hung(); !hung.empty())
    return HttpReply{lives ? 500 : 503, kPlainText, hung + "\n"};
  return lives || pages.status.ready()
             ? HttpReply{200, kPlainText, "ok\n"}
             : HttpReply{503, kPlainText, not_ready(pages.status.stats())};
}

bool is_page_file(std::string_view path) {
  return path.starts_with(kPagePath) && !path.starts_with(kPageApiPath);
}

Result<std::optional<ListenAddress>> listen_option(const char* name, const std::string& text) {
  if (text.empty()) return std::optional<ListenAddress>();
  auto parsed = parse_listen_address(text);
  if (!parsed) return in_context(name, parsed.error());
  return std::optional<ListenAddress>(*parsed);
}

}  // namespace

Result<ListenAddresses> listen_addresses(const ListenOptions& options) {
  auto plain = listen_option("--listen", options.plain);
  if (!plain) return plain.error();
  auto secure = listen_option("--listen-secure", options.secure);
  if (!secure) return secure.error();
  if (secure->has_value() && options.certificate.empty())
    return Error{ErrorCode::bad_input,
                 "--listen-secure needs --certificate DIR, with tls.crt and tls.key"};
  if (!secure->has_value() && !options.certificate.empty())
    return Error{ErrorCode::bad_input, "--certificate is for --listen-secure"};
  auto ancestors = frame_ancestors_of(options.frame_ancestors);
  if (!ancestors) return ancestors.error();
  return ListenAddresses{*plain, *secure, options.certificate, *std::move(ancestors)};
}

HttpReply HubListeners::reply_to(std::string_view path) const {
  if (auto reply = reply_to_probe(path, pages_)) return *std::move(reply);
  if (path.starts_with(kPagePath)) return page_reply(path);
  if (path != "/metrics")
    return {404, kPlainText, "/livez, /readyz, /metrics, /ui/, /audit/, /log/\n"};
  ServingStats serving;
  if (certificate_) serving.certificate_expires = certificate_->not_after();
  std::string page = metrics_text(pages_.status.stats(), pages_.connections.stats(),
                                  machine_stats(pages_.data), serving);
  if (pages_.webhook != nullptr)
    page += webhook_metrics_text(pages_.webhook->stats(), pages_.webhook->certificate_expires());
  return {200, "text/plain; version=0.0.4; charset=utf-8", std::move(page)};
}

HttpServing HubListeners::everything(const ListenAddresses& addresses) const {
  HttpServing serving;
  serving.frame_ancestors = addresses.frame_ancestors;
  serving.handler = [this](std::string_view path) { return reply_to(path); };
  serving.questions = {{std::string(kAuditPath), std::string(kLogPath), std::string(kPageApiPath)},
                       [this](std::string_view target) { return pages_.questions.reply(target); }};
  serving.streams = {std::string(kPageLivePath), [this] { return pages_.questions.version(); }};
  return serving;
}

Result<void> HubListeners::start(const ListenAddresses& addresses, const Credentials& credentials,
                                 const Logger& logger) {
  // Made before any server: a page that is served reads it.
  if (addresses.secure)
    certificate_ = std::make_shared<ServedCertificate>(addresses.certificate, logger);
  if (addresses.plain)
    if (auto started = start_plain(addresses, logger); !started) return started;
  if (addresses.secure)
    if (auto started = start_secure(addresses, credentials, logger); !started) return started;
  if (addresses.secure || (addresses.plain && is_loopback(*addresses.plain)))
    keeper_ = std::make_unique<IndexKeeper>(pages_.questions, logger, pages_.watch);
  const auto watch = [this](const char* name, auto& with_loop) {
    watched_.push_back(pages_.watch.watch(
        name, [&with_loop](std::function<void()> work) { with_loop.post(std::move(work)); }));
  };
  if (plain_) watch("--listen", *plain_);
  if (secure_) watch("--listen-secure", *secure_);
  if (guard_) watch("the reviews of callers", *guard_);
  return {};
}

Result<void> HubListeners::start_plain(const ListenAddresses& addresses, const Logger& logger) {
  const ListenAddress& address = *addresses.plain;
  HttpServing serving = everything(addresses);
  if (is_loopback(address)) {
    serving.guard = loopback_guard();
  } else {
    serving.questions = {};
    serving.streams = {};
    serving.handler = [this](std::string_view path) {
      if (auto reply = reply_to_probe(path, pages_)) return *std::move(reply);
      return HttpReply{403, kPlainText,
                       "this address serves /livez and /readyz alone; /metrics, /ui/, /audit/ and "
                       "/log/ are served by --listen-secure, and by --listen on 127.0.0.1\n"};
    };
  }
  auto started = HttpEndpoint::start(address, std::move(serving));
  if (!started) return started.error();
  plain_ = std::move(*started);
  logger({Severity::info, "listening", {{"port", std::to_string(plain_->port())}}});
  return {};
}

Result<void> HubListeners::start_secure(const ListenAddresses& addresses,
                                        const Credentials& credentials, const Logger& logger) {
  auto guard = CallerGuard::make(credentials, logger);
  if (!guard) return guard.error();
  guard_ = std::move(*guard);
  HttpServing serving = everything(addresses);
  serving.guard = [judge = guard_->guard()](const ReceivedRequest& request,
                                            std::function<void(std::optional<HttpReply>)> decided) {
    // The page's own files hold nothing of the hub, and a browser fetches them before it has a
    // token.
    if (is_page_file(request.path())) return decided(std::nullopt);
    judge(request, std::move(decided));
  };
  serving.streams.age_max = kStreamAgeMax;
  serving.certificate = certificate_;
  auto started = HttpEndpoint::start(*addresses.secure, std::move(serving));
  if (!started) return started.error();
  secure_ = std::move(*started);
  logger({Severity::info, "listening with TLS", {{"port", std::to_string(secure_->port())}}});
  return {};
}

}  // namespace fairlead
