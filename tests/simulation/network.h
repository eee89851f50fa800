// The way between one process of the hub and one API server. Requests, answers and lines get there
// as the faults of the run let them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/fleet/model/model_transport.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/life.h"
#include "tests/simulation/server.h"

namespace fairlead::simulation {

class Network final : public Transport {
 public:
  /// All outlive it and what it still has to deliver. `sender` returns who sends now.
  Network(model::VirtualTime& time, Server& server, Faults& faults, LifeRef life,
          std::function<Sender()> sender);
  ~Network() override;

  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override;
  std::unique_ptr<Stream> stream(HttpRequest request, HttpStreamHandler handler) override;
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work) override;
  LogTime now() const override { return time_.now(); }

 private:
  class WatchedStream;
  using Done = std::function<void(Result<HttpResponse>)>;

  /// Calls `done` after `span`, unless the client has ended.
  void deliver(Duration span, Done done, Result<HttpResponse> answer);
  void arrived(HttpRequest request, const Sender& from, LogTime given_up, Done done);
  bool dies(FaultKind kind);
  bool unreachable() const { return server_.away() || now() < life_->alone; }

  model::VirtualTime& time_;
  Server& server_;
  Faults& faults_;
  const LifeRef life_;
  const std::function<Sender()> sender_;
  model::ModelTransport streams_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::simulation
