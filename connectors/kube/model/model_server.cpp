#include "connectors/kube/model/model_server.h"

#include <mutex>
#include <variant>

namespace fairlead::model {
namespace {

class ServedModel final : public ModelServer {
 public:
  ServedModel(const ModelServerOptions& options, Clock& clock) : model_(clock, options.model) {
    model_.install_fairlead_crds();
  }
  ~ServedModel() override { stop(); }

  Result<std::monostate> listen(const HttpServerOptions& options) {
    HttpServer::Callbacks callbacks{[this](const ApiRequest& request) {
                                      const std::lock_guard lock(mutex_);
                                      return model_.handle(request);
                                    },
                                    [this](WatchStream& stream) {
                                      const std::lock_guard lock(mutex_);
                                      std::optional<std::string> line = stream.next();
                                      return HttpServer::Pulled{std::move(line), stream.ended()};
                                    },
                                    [this](WatchStream& stream, std::function<void()> notify) {
                                      const std::lock_guard lock(mutex_);
                                      stream.on_ready(std::move(notify));
                                    },
                                    [this] {
                                      const std::lock_guard lock(mutex_);
                                      model_.send_bookmarks();
                                    }};
    Result<std::unique_ptr<HttpServer>> started = HttpServer::start(options, std::move(callbacks));
    if (!started) return started.error();
    http_ = std::move(*started);
    return std::monostate();
  }

  std::uint16_t port() const override { return http_->port(); }
  std::string url() const override { return "http://127.0.0.1:" + std::to_string(port()); }

  void with_model(const std::function<void(Model&)>& use) override {
    const std::lock_guard lock(mutex_);
    use(model_);
  }

  void stop() override {
    if (http_) http_->stop();
  }

 private:
  std::mutex mutex_;  // guards model_ and its streams
  Model model_;
  std::unique_ptr<HttpServer> http_;  // last: its thread uses the members above
};

}  // namespace

Result<std::unique_ptr<ModelServer>> ModelServer::start(const ModelServerOptions& options,
                                                        Clock& clock) {
  auto server = std::make_unique<ServedModel>(options, clock);
  Result<std::monostate> listening = server->listen(options.http);
  if (!listening) return listening.error();
  return std::unique_ptr<ModelServer>(std::move(server));
}

std::string kubeconfig_for(const std::string& name, const std::string& url) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: " + name + "\nclusters:\n- name: " + name +
         "\n  cluster: {server: \"" + url + "\"}\nusers:\n- name: " + name +
         "\n  user: {}\ncontexts:\n- name: " + name + "\n  context: {cluster: " + name +
         ", user: " + name + "}\n";
}

}  // namespace fairlead::model
