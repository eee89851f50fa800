// A Model behind an HTTP port: one API server that kubectl, the hub and tests can talk to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "connectors/kube/model/http_server.h"
#include "connectors/kube/model/model.h"

namespace fairlead::model {

struct ModelServerOptions {
  HttpServerOptions http;
  ModelOptions model;
};

/// Starts empty but for the built-in kinds and namespaces and the kinds of schema/crd.
///
/// Requests are answered on a thread of its own. `with_model` gives the embedding program the same
/// model under the same lock; what it changes reaches watchers at once.
class ModelServer {
 public:
  /// `clock` must outlive the server. ErrorCode::unavailable if the port is taken.
  static Result<std::unique_ptr<ModelServer>> start(const ModelServerOptions& options,
                                                    Clock& clock);
  virtual ~ModelServer() = default;

  virtual std::uint16_t port() const = 0;
  /// `http://127.0.0.1:PORT`.
  virtual std::string url() const = 0;
  /// Runs `use` while no request is being answered. Not reentrant.
  virtual void with_model(const std::function<void(Model&)>& use) = 0;
  /// Closes every connection. Idempotent.
  virtual void stop() = 0;
};

/// A kubeconfig with one context for `url`, named `name`. The model asks for no credentials.
std::string kubeconfig_for(const std::string& name, const std::string& url);

}  // namespace fairlead::model
