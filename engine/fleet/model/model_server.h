// A Model behind an HTTP port: one API server that kubectl, the hub and tests can talk to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/fleet/model/shared_model.h"
#include "engine/http/listener.h"

namespace fairlead::model {

/// Limits of one server.
struct HttpServerOptions {
  std::uint16_t port = 0;  ///< on 127.0.0.1; 0: any free one
  std::size_t connections_max = 512;
  std::size_t body_bytes_max = 8u << 20;
  Duration watch_lifetime = minutes(30);     ///< of a watch whose request has no timeoutSeconds
  Duration bookmark_interval = seconds(60);  ///< watches get bookmarks this often
};

struct ModelServerOptions {
  HttpServerOptions http;
  ModelOptions model;
};

/// A server that answers requests on a thread of its own. The embedding program may use its model,
/// too; changes reach watchers at once.
class ModelServer {
 public:
  /// Starts a server; `clock` outlives it. Fails with `unavailable` if the port is in use.
  static Result<std::unique_ptr<ModelServer>> start(const ModelServerOptions& options,
                                                    Clock& clock);
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;
  ~ModelServer() { stop(); }

  std::uint16_t port() const { return listener_->port(); }
  /// `http://127.0.0.1:PORT`.
  const std::string& url() const { return model_.url; }
  SharedModel& model() { return model_; }
  /// Closes every connection. Idempotent; must not be called by a use of the model.
  void stop();

 private:
  ModelServer(const ModelServerOptions& options, Clock& clock);

  SharedModel model_;
  const HttpServerOptions options_;
  std::unique_ptr<HttpListener> listener_;  // last: its thread uses the members above
};

}  // namespace fairlead::model
