#include "connectors/kube/api_server.h"

#include <mutex>
#include <random>

#include "connectors/kube/discovery.h"
#include "engine/base/check.h"

namespace fairlead {
namespace {

constexpr std::size_t kPageBytesMax = std::size_t{64} << 20;

}  // namespace

struct ApiServerConnection::Impl : std::enable_shared_from_this<Impl> {
  // Drives one reflector: carries out what it asks for and tells it what came.
  struct Watcher {
    Watcher(Kind kind, const ReflectorSettings& settings, std::function<std::uint64_t()> random)
        : reflector(kind, settings, std::move(random)) {}
    Reflector reflector;
    std::unique_ptr<HttpClient::Stream> stream;
    std::unique_ptr<IoLoop::Timer> timer;
    std::uint64_t generation =
        0;  // of the outstanding request: answers to earlier ones are dropped
  };

  Impl(IoLoop& loop_given, SourceName name_given, ApiServerSettings settings_given,
       std::unique_ptr<HttpClient> http_given)
      : loop(loop_given),
        name(std::move(name_given)),
        settings(std::move(settings_given)),
        http(std::move(http_given)),
        sink(std::make_unique<KubeSink>(loop, *http, settings.writes,
                                        [this](const WriteAnswer& answer) { count(answer); })) {}

  void say(const std::string& line) const {
    if (settings.diagnose) settings.diagnose(name + ": " + line);
  }
  void count(const WriteAnswer& answer) {
    std::lock_guard lock(mutex);
    ++counted.writes[answer.result];
    ++counted.requests_by_code[answer.http_code];
  }
  void count(int code) {
    std::lock_guard lock(mutex);
    ++counted.requests_by_code[code];
  }

  void start(const std::vector<Kind>& kinds) {
    discovery = std::make_unique<Discovery>(kinds);
    for (Kind kind : kinds)
      watchers.push_back(
          std::make_unique<Watcher>(kind, settings.reflector, [this] { return random(); }));
    discover();
  }

  // Discovery: all paths at once, then every reflector hears its version.
  void discover() {
    discovery_timer.reset();
    if (discovering || stopped) return;
    const std::vector<std::string> paths = discovery->paths();
    discovering = paths.size();
    for (const std::string& path : paths) {
      HttpRequest request;
      request.target = path;
      request.timeout = settings.reflector.request_timeout;
      http->send(std::move(request),
                 [self = shared_from_this(), path](Result<HttpResponse> answer) {
                   self->discovered(path, answer);
                 });
    }
  }

  void discovered(const std::string& path, const Result<HttpResponse>& answer) {
    --discovering;
    if (stopped) return;
    const int status = answer.has_value() ? answer->status : 0;
    count(status);
    if (answer.has_value()) discovery->answer(path, status, answer->body);
    std::string trouble;
    if (answer.has_error())
      trouble = "discovery: " + answer.error().message;
    else if (status != 200 && status != 404)
      trouble = "discovery: " + path + " answered " + std::to_string(status);
    if (!trouble.empty()) round_trouble = trouble;
    if (discovering > 0) return;
    finish_discovery();
  }

  void finish_discovery() {
    if (round_trouble != said_trouble)
      say(round_trouble.empty() ? "discovery: answered again" : round_trouble);
    said_trouble = std::exchange(round_trouble, {});
    bool settled = said_trouble.empty();
    for (auto& watcher : watchers) {
      const Kind kind = watcher->reflector.kind();
      if (!discovery->decided(kind)) continue;
      auto version = discovery->version(kind);
      settled = settled && version.has_value();
      note_version(kind, version);
      carry_out(*watcher, watcher->reflector.served(loop.now(), std::move(version)));
    }
    discover_after(settled ? settings.discovery_settled : settings.discovery_waiting);
  }

  void note_version(Kind kind, const std::optional<std::string>& version) {
    std::lock_guard lock(mutex);
    if (version)
      counted.absent.erase(kind);
    else
      counted.absent.insert(kind);
  }

  void discover_after(Duration span) {
    if (stopped) return;
    discovery_timer = loop.after(span, [this] { discover(); });
  }

  void carry_out(Watcher& watcher, ReflectorOutput output) {
    if (stopped) return;
    if (output.cancel || output.request) {
      ++watcher.generation;
      watcher.stream.reset();
    }
    for (const std::string& line : output.diagnostics) say(line);
    for (auto& fact : output.facts) facts({name, std::move(fact)});
    if (stopped) return;
    if (output.request) send(watcher, *output.request);
    set_timer(watcher, output.wake);
    if (output.rediscover && !discovering) discover_after(seconds(1));
    std::lock_guard lock(mutex);
    counted.reflectors[watcher.reflector.kind()] = watcher.reflector.counters();
    counted.synced[watcher.reflector.kind()] = watcher.reflector.synced();
  }

  void set_timer(Watcher& watcher, LogTime wake) {
    watcher.timer.reset();
    if (wake == kForever) return;
    const Duration span = wake - loop.now();
    watcher.timer = loop.after(std::max(span, Duration{0}), [this, &watcher] {
      carry_out(watcher, watcher.reflector.timer(loop.now()));
    });
  }

  void send(Watcher& watcher, const ReflectorRequest& wanted) {
    HttpRequest request;
    request.target = wanted.target;
    request.timeout = settings.reflector.request_timeout;
    const std::uint64_t mine = watcher.generation;
    if (wanted.kind == ReflectorRequest::Kind::watch) {
      watcher.stream = http->stream(std::move(request), stream_handler(watcher, mine));
      return;
    }
    request.body_bytes_max = kPageBytesMax;
    http->send(std::move(request),
               [self = shared_from_this(), &watcher, mine](Result<HttpResponse> answer) {
                 self->count(answer.has_value() ? answer->status : 0);
                 if (self->stopped || mine != watcher.generation) return;
                 const HttpResponse said = flatten(std::move(answer));
                 self->carry_out(watcher, watcher.reflector.page(self->loop.now(), said.status,
                                                                 said.body, said.retry_after));
               });
  }

  HttpStreamHandler stream_handler(Watcher& watcher, std::uint64_t mine) {
    HttpStreamHandler handler;
    auto current = [self = shared_from_this(), &watcher, mine] {
      return !self->stopped && mine == watcher.generation;
    };
    handler.opened = [this, &watcher, current] {
      count(200);
      if (current()) carry_out(watcher, watcher.reflector.opened(loop.now()));
    };
    handler.bytes = [this, &watcher, current](std::string_view chunk) {
      if (current()) carry_out(watcher, watcher.reflector.bytes(loop.now(), chunk));
    };
    handler.ended = [this, &watcher, current](Result<HttpResponse> answer) {
      if (!current()) return;
      const HttpResponse said = flatten(std::move(answer));
      if (said.status != 200) count(said.status);
      carry_out(watcher,
                watcher.reflector.ended(loop.now(), said.status, said.body, said.retry_after));
    };
    return handler;
  }

  // No answer is status 0, with why as its body.
  static HttpResponse flatten(Result<HttpResponse> answer) {
    if (answer.has_value()) return std::move(*answer);
    return {0, std::nullopt, answer.error().message};
  }

  void close() {
    if (stopped) return;
    stopped = true;
    discovery_timer.reset();
    for (auto& watcher : watchers) {
      watcher->timer.reset();
      watcher->stream.reset();
    }
    sink.reset();
    http->stop();
  }

  IoLoop& loop;
  const SourceName name;
  const ApiServerSettings settings;
  std::unique_ptr<HttpClient> http;
  std::unique_ptr<KubeSink> sink;
  std::function<void(WatchFact)> facts;
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::unique_ptr<Discovery> discovery;
  std::unique_ptr<IoLoop::Timer> discovery_timer;
  std::size_t discovering = 0;  // answers that are awaited
  std::string round_trouble, said_trouble;
  std::mt19937_64 random{std::random_device{}()};
  bool stopped = false;

  mutable std::mutex mutex;
  ApiServerCounters counted;
};

ApiServerConnection::ApiServerConnection(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

ApiServerConnection::~ApiServerConnection() { stop(); }

Result<std::unique_ptr<ApiServerConnection>> ApiServerConnection::make(IoLoop& loop,
                                                                       SourceName name,
                                                                       Credentials credentials,
                                                                       ApiServerSettings settings) {
  auto http = HttpClient::make(loop, std::move(credentials), settings.http);
  if (http.has_error()) return in_context(name, http.error());
  return std::unique_ptr<ApiServerConnection>(new ApiServerConnection(
      std::make_shared<Impl>(loop, std::move(name), std::move(settings), std::move(*http))));
}

void ApiServerConnection::watch(std::vector<Kind> kinds, std::function<void(WatchFact)> sink) {
  impl_->loop.post([impl = impl_, kinds = std::move(kinds), sink = std::move(sink)]() mutable {
    if (impl->stopped) return;
    check(impl->discovery == nullptr, "a connection watches once");
    impl->facts = std::move(sink);
    impl->start(kinds);
  });
}

PatchSink& ApiServerConnection::sink() { return *impl_->sink; }

ApiServerCounters ApiServerConnection::counters() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->counted;
}

void ApiServerConnection::stop() {
  impl_->loop.run([impl = impl_] { impl->close(); });
}

}  // namespace fairlead
