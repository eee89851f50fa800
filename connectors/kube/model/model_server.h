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

/// A server that starts with the built-in kinds and namespaces and the kinds of schema/crd.
///
/// It answers requests on a thread of its own. `with_model` gives the embedding program the same
/// model under the same lock; its changes reach watchers at once.
class ModelServer {
 public:
  /// Starts a server; `clock` outlives it. Fails with `unavailable` if the port is in use.
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

/// Returns a kubeconfig with one context for `url`, named `name`. The model needs no credentials.
std::string kubeconfig_for(const std::string& name, const std::string& url);

}  // namespace fairlead::model
