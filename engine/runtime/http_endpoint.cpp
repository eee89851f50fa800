#include "engine/runtime/http_endpoint.h"

#include <utility>
#include <vector>

#include "engine/base/descriptors.h"
#include "engine/http/listener.h"
#include "engine/runtime/http_session.h"

namespace fairlead {

HttpEndpoint::HttpEndpoint(HttpServing serving)
    : shared_(std::make_unique<HttpShared>(std::move(serving))) {
  HttpServing& ours = shared_->serving;
  fit_into(descriptor_shares().accepted, ours.places, ours.streams);
}

HttpEndpoint::~HttpEndpoint() {
  // The listener first: while it drains, the threads still make the answers that it waits for.
  if (listener_) listener_->stop(shared_->serving.drain);
  shared_->question_thread.stop();
  shared_->post_thread.stop();
  // What still waits holds connections, which belong to the listener.
  shared_->question_thread.forget();
  shared_->post_thread.forget();
  shared_->decisions->close();
}

Result<std::unique_ptr<HttpEndpoint>> HttpEndpoint::start(const ListenAddress& address,
                                                          HttpServing serving) {
  std::unique_ptr<HttpEndpoint> endpoint(new HttpEndpoint(std::move(serving)));
  if (const auto listening = endpoint->listen(address); !listening) return listening.error();
  return endpoint;
}

Result<void> HttpEndpoint::listen(const ListenAddress& address) {
  const HttpServing& serving = shared_->serving;
  if (serving.questions.answer) shared_->question_thread.start();
  if (serving.posts.answer) shared_->post_thread.start();
  HttpListening listening{
      [this](HttpConnection& connection) { return make_session(connection, *shared_); },
      serving.patience};
  if (serving.certificate)
    listening.tls = [certificate = serving.certificate] { return certificate->context(); };
  auto listener = HttpListener::start(address, std::move(listening));
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  if (serving.certificate)
    listener_->repeat(serving.certificate->look_every(),
                      [certificate = serving.certificate] { certificate->look(); });
  if (serving.streams.version) listener_->repeat(serving.streams.tick, [this] { send_versions(); });
  return {};
}

std::uint16_t HttpEndpoint::port() const { return listener_->port(); }

void HttpEndpoint::post(std::function<void()> work) { listener_->post(std::move(work)); }

void HttpEndpoint::send_versions() {
  if (shared_->streaming.empty()) return;
  const std::string version = shared_->serving.streams.version();
  // A session that ends leaves the list.
  const std::vector<HttpSession*> streaming(shared_->streaming.begin(), shared_->streaming.end());
  for (HttpSession* const session : streaming) session->send_version(version);
}

}  // namespace fairlead
