// The port Transport to an API server in memory, in virtual time: no socket and no thread.
#pragma once

#include <memory>

#include "connectors/kube/transport/transport.h"
#include "engine/fleet/model/model.h"
#include "engine/fleet/model/virtual_time.h"

namespace fairlead::model {

/// What lies between a client and the server.
struct ModelNetwork {
  Duration way = milliseconds(1);         ///< of a request, an answer or a line, one way
  Duration watch_lifetime = minutes(30);  ///< of a watch whose request has no timeoutSeconds
};

/// Returns what `model` answers to a client that calls itself `user_agent`.
HttpResponse answer_of(Model& model, const HttpRequest& wanted, std::string user_agent = {});

/// One client's way to one server. After its end no callback runs.
class ModelTransport final : public Transport {
 public:
  /// `time` and `model` outlive it and what it still has to deliver.
  ModelTransport(VirtualTime& time, Model& model, ModelNetwork network = {});
  ~ModelTransport() override;
  ModelTransport(const ModelTransport&) = delete;
  ModelTransport& operator=(const ModelTransport&) = delete;

  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override;
  std::unique_ptr<Stream> stream(HttpRequest request, HttpStreamHandler handler) override;
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work) override {
    return time_.after(span, std::move(work));
  }
  LogTime now() const override { return time_.now(); }

 private:
  class OpenWatch;

  VirtualTime& time_;
  Model& model_;
  const ModelNetwork network_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::model
