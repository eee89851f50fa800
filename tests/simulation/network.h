// The way between one replica and one API server. A client is given answers when and as the faults
// of the run say.
#pragma once

#include <functional>
#include <memory>

#include "engine/fleet/model/model_transport.h"
#include "tests/simulation/server.h"

namespace fairlead::simulation {

class Network final : public Transport {
 public:
  /// All outlive it and what it still has to deliver. `sender` returns who sends now.
  Network(model::VirtualTime& time, Server& server, std::function<Sender()> sender);
  ~Network() override;

  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override;
  std::unique_ptr<Stream> stream(HttpRequest request, HttpStreamHandler handler) override;
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work) override {
    return time_.after(span, std::move(work));
  }
  LogTime now() const override { return time_.now(); }

 private:
  model::VirtualTime& time_;
  Server& server_;
  const std::function<Sender()> sender_;
  const model::ModelNetwork network_;
  model::ModelTransport streams_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::simulation
