#include "engine/main/service/page_server.h"

#include <utility>

#include "engine/main/client/http_target.h"
#include "engine/main/client/log_page.h"
#include "engine/main/service/loopback_guard.h"
#include "engine/main/service/page_files.h"
#include "engine/main/service/question_service.h"

namespace fairlead {

namespace {

// A browser asks several questions at once, and each may need seconds of disk reads.
constexpr std::size_t kQuestionsMax = 64;
constexpr Duration kQuestionPatience = seconds(10);

HttpReply reply_to_path(std::string_view path) {
  if (path == "/livez" || path == "/readyz" || path == "/healthz")
    return {200, "text/plain", "ok\n"};
  return page_reply(path.starts_with(kPagePath) ? path : "/ui/none");
}

HttpServing serving_of(PageAnswers answers) {
  HttpServing serving;
  serving.frame_ancestors = std::move(answers.frame_ancestors);
  serving.handler = reply_to_path;
  serving.questions = {{std::string(kAuditPath), std::string(kLogPath), std::string(kPageApiPath)},
                       std::move(answers.reply),
                       kQuestionsMax,
                       kQuestionPatience};
  serving.streams = {std::string(kPageLivePath), std::move(answers.version)};
  // All clients are on this machine: one address may have every place.
  serving.places.requests_of_address = serving.places.requests;
  serving.guard = loopback_guard();
  return serving;
}

}  // namespace

Result<ListenAddress> page_address(const std::string& text) {
  auto address = parse_listen_address(text);
  if (!address) return in_context("--listen", address.error());
  if (address->host.empty()) address->host = "127.0.0.1";
  if (is_loopback(*address)) return *address;
  return Error{ErrorCode::bad_input,
               "--listen " + text +
                   ": expected an address of this machine alone (127.0.0.1:8787), because the page "
                   "asks for no token; from another machine use `ssh -L 8787:127.0.0.1:8787`"};
}

PageAnswers answers_from(ServedLogSource source) {
  const auto questions = std::make_shared<QuestionService>(std::move(source));
  PageAnswers answers;
  answers.reply = [questions](std::string_view target) { return questions->reply(target); };
  answers.version = [questions] { return questions->version(); };
  return answers;
}

PageAnswers answers_from(std::unique_ptr<RemoteHub> hub) {
  const std::shared_ptr<RemoteHub> shared = std::move(hub);
  PageAnswers answers;
  answers.reply = [shared](std::string_view target) { return shared->reply(target); };
  answers.version = [shared] { return shared->version(); };
  return answers;
}

Result<std::unique_ptr<PageServer>> PageServer::start(const ListenAddress& address,
                                                      PageAnswers answers) {
  std::unique_ptr<PageServer> server(new PageServer(address));
  auto endpoint = HttpEndpoint::start(address, serving_of(std::move(answers)));
  if (!endpoint) return endpoint.error();
  server->endpoint_ = *std::move(endpoint);
  return server;
}

std::string PageServer::url() const { return server() + std::string(kPagePath); }

std::string PageServer::server() const {
  const std::string& host = address_.host;
  return "http://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(endpoint_->port());
}

}  // namespace fairlead
