// A server that says what a test has written down.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kube/transport/transport.h"
#include "engine/fleet/model/virtual_time.h"

namespace fairlead {

/// Gives the answers that a test has put up, then none, and keeps the requests.
class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(model::VirtualTime& time) : time_(time) {}

  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override {
    sent.push_back(std::move(request));
    Result<HttpResponse> answer = Error{ErrorCode::unavailable, "timeout while waiting"};
    if (!answers.empty()) {
      answer = std::move(answers.front());
      answers.pop_front();
    }
    time_.post({}, [answer, done = std::move(done)] { done(answer); });
  }
  std::unique_ptr<Stream> stream(HttpRequest request, HttpStreamHandler handler) override {
    sent.push_back(std::move(request));
    streamed = std::move(handler);
    return std::make_unique<Stream>();
  }
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work) override {
    return time_.after(span, std::move(work));
  }
  LogTime now() const override { return time_.now(); }

  std::deque<Result<HttpResponse>> answers;
  std::vector<HttpRequest> sent;
  HttpStreamHandler streamed;

 private:
  model::VirtualTime& time_;
};

}  // namespace fairlead
