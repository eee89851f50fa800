#include "connectors/kube/api_server_connection.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "connectors/kube/transport/http_client.h"

namespace fairlead {
namespace {

// Passes writes to the loop's thread.
class PostingSink final : public PatchSink {
 public:
  PostingSink(IoLoop& loop, std::shared_ptr<ApiServer> server)
      : loop_(loop), server_(std::move(server)) {}
  void send(WriteRequest request, std::function<void(WriteAnswer)> answered) override {
    loop_.post(
        [server = server_, request = std::move(request), answered = std::move(answered)]() mutable {
          server->sink().send(std::move(request), std::move(answered));
        });
  }

 private:
  IoLoop& loop_;
  const std::shared_ptr<ApiServer> server_;
};

}  // namespace

// On the loop's thread, but for what is guarded by the mutex. It lives as long as its owner and
// posted work.
struct ApiServerConnection::Impl : std::enable_shared_from_this<Impl> {
  Impl(IoLoop& loop_given, SourceName name_given, DiagnosticSink diagnose_given)
      : loop(loop_given), name(std::move(name_given)), diagnose(std::move(diagnose_given)) {}

  void begin(std::unique_ptr<Identities> identities, ConnectionSettings settings) {
    http = HttpClient::make(loop, std::move(identities), settings.http);
    server = std::make_shared<ApiServer>(*http, name, std::move(settings));
    sink.emplace(loop, server);
  }

  // None of these callbacks runs before begin() or after stop().
  CredentialEvents credential_events() {
    CredentialEvents events;
    events.log = [this](const DiagnosticLine& line) {
      if (diagnose) diagnose({name + ": " + line.text, line.about});
    };
    events.stats = [this](const CredentialStats& stats) {
      const std::lock_guard lock(mutex);
      credentials = stats;
    };
    events.moved = [this] {
      loop.post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->server->moved();
      });
    };
    return events;
  }

  void use(Result<Credentials> wanted) {
    if (stopped) return;
    const bool lost = wanted.has_error();
    http->use(std::move(wanted));
    lost ? server->disconnected() : server->reconnected();
  }

  void adjust(const ConnectionSettings& wanted) {
    if (stopped) return;
    http->set_limits(wanted.http);
    server->adjust(wanted);
  }

  void close() {
    if (std::exchange(stopped, true)) return;
    followers.clear();
    server->stop();
    http->stop();
  }

  IoLoop& loop;
  const SourceName name;
  const DiagnosticSink diagnose;
  std::unique_ptr<HttpClient> http;
  std::shared_ptr<ApiServer> server;
  std::optional<PostingSink> sink;
  std::map<std::uint64_t, std::unique_ptr<ObjectFollower>> followers;
  bool stopped = false;
  std::atomic<bool> stopped_for_good{false};  // the loop may be gone

  mutable std::mutex mutex;  // guards the rest
  CredentialStats credentials;
  std::uint64_t followed = 0;
};

ApiServerConnection::ApiServerConnection(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

ApiServerConnection::~ApiServerConnection() { stop(); }

Result<std::unique_ptr<ApiServerConnection>> ApiServerConnection::make(
    IoLoop& loop, SourceName name, Credentials credentials, ConnectionSettings settings) {
  auto impl = std::make_shared<Impl>(loop, std::move(name), settings.diagnose);
  auto identities = Identities::make(loop, std::move(credentials), settings.credentials,
                                     impl->credential_events());
  if (identities.has_error()) return in_context(impl->name, identities.error());
  impl->begin(std::move(*identities), std::move(settings));
  return std::unique_ptr<ApiServerConnection>(new ApiServerConnection(std::move(impl)));
}

std::unique_ptr<ApiServerConnection> ApiServerConnection::waiting(
    IoLoop& loop, SourceName name, Error why, std::function<Result<Credentials>()> read_again,
    ConnectionSettings settings) {
  auto impl = std::make_shared<Impl>(loop, std::move(name), settings.diagnose);
  auto identities = Identities::waiting(loop, std::move(why), std::move(read_again),
                                        settings.credentials, impl->credential_events());
  impl->begin(std::move(identities), std::move(settings));
  return std::unique_ptr<ApiServerConnection>(new ApiServerConnection(std::move(impl)));
}

std::function<void(Result<Credentials>)> ApiServerConnection::use() {
  return [impl = impl_](Result<Credentials> credentials) {
    if (impl->stopped_for_good) return;
    impl->loop.post([impl, credentials = std::move(credentials)]() mutable {
      impl->use(std::move(credentials));
    });
  };
}

void ApiServerConnection::post(std::string path, std::string body) {
  impl_->loop.post(
      [server = impl_->server, path = std::move(path), body = std::move(body)]() mutable {
        server->post(std::move(path), std::move(body));
      });
}

void ApiServerConnection::adjust(const ConnectionSettings& settings) {
  impl_->loop.post([impl = impl_, settings] { impl->adjust(settings); });
}

// Ends its ObjectFollower on the loop's thread.
struct ApiServerConnection::FollowerHandle final : ApiServerConnection::Follower {
  FollowerHandle(std::shared_ptr<Impl> impl_given, std::uint64_t number_given)
      : impl(std::move(impl_given)), number(number_given) {}
  ~FollowerHandle() override {
    if (impl->stopped_for_good) return;
    impl->loop.run([this] { impl->followers.erase(number); });
  }
  std::shared_ptr<Impl> impl;
  std::uint64_t number;
};

std::unique_ptr<ApiServerConnection::Follower> ApiServerConnection::follow(
    std::string collection, std::string name,
    std::function<void(std::optional<JsonView>)> on_object) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(impl_->mutex);
    number = ++impl_->followed;
  }
  // Posted work runs in order, so it comes before what ends the follower.
  impl_->loop.post([impl = impl_, number, collection = std::move(collection),
                    name = std::move(name), on_object = std::move(on_object)]() mutable {
    if (impl->stopped) return;
    impl->followers[number] =
        impl->server->follow(std::move(collection), std::move(name), std::move(on_object));
  });
  return std::make_unique<FollowerHandle>(impl_, number);
}

void ApiServerConnection::watch(std::vector<Kind> kinds, std::function<void(WatchFact)> sink) {
  impl_->loop.post([server = impl_->server, kinds = std::move(kinds),
                    sink = std::move(sink)]() mutable { server->watch(kinds, std::move(sink)); });
}

PatchSink& ApiServerConnection::sink() { return *impl_->sink; }

ConnectionCounters ApiServerConnection::counters() const {
  ConnectionCounters all{impl_->server->counters(), {}};
  const std::lock_guard lock(impl_->mutex);
  all.credentials = impl_->credentials;
  return all;
}

void ApiServerConnection::stop() {
  impl_->loop.run([impl = impl_] { impl->close(); });
  impl_->stopped_for_good = true;
}

}  // namespace fairlead
