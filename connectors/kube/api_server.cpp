#include "connectors/kube/api_server.h"

#include <atomic>
#include <mutex>

#include "connectors/kube/access/beginning.h"
#include "connectors/kube/access/discovery_round.h"
#include "connectors/kube/watch/failure_text.h"
#include "connectors/kube/watch/object_follower.h"
#include "connectors/kube/watch/random_bits.h"
#include "engine/apply/applier.h"
#include "engine/base/check.h"

namespace fairlead {
namespace {

constexpr std::size_t kPageBytesMax = std::size_t{64} << 20;
constexpr Duration kLongWait = seconds(10);

}  // namespace

struct ApiServerConnection::Impl : std::enable_shared_from_this<Impl> {
  // Drives one reflector: sends its requests and passes it the answers.
  struct Watcher {
    Watcher(Kind kind, const ReflectorSettings& settings, ServerLoad& load,
            std::function<std::uint64_t()> random)
        : reflector(kind, settings, load, std::move(random)) {}
    Reflector reflector;
    std::unique_ptr<HttpClient::Stream> stream;
    std::unique_ptr<IoLoop::Timer> timer;
    std::uint64_t generation =
        0;  // of the outstanding request: answers to earlier ones are dropped
  };

  Impl(IoLoop& loop_given, SourceName name_given, ApiServerSettings settings_given)
      : loop(loop_given), name(std::move(name_given)), settings(std::move(settings_given)) {}

  void begin(std::unique_ptr<Identities> identities) {
    http = HttpClient::make(loop, std::move(identities), settings.http);
    // An answer may come after this object has ended.
    sink = std::make_unique<KubeSink>(loop, *http, settings.writes,
                                      [weak = weak_from_this()](const WriteAnswer& answer) {
                                        if (const auto self = weak.lock()) self->count(answer);
                                      });
  }

  // Callbacks hold it weakly: its lifetime is that of its owner and of posted work, never that of a
  // dropped request. None of these callbacks runs before begin() or after stop().
  CredentialEvents credential_events() {
    CredentialEvents events;
    events.log = [this](const DiagnosticLine& line) { log(line.text, line.about); };
    events.stats = [this](const CredentialStats& stats) {
      std::lock_guard lock(mutex);
      counted.credentials = stats;
    };
    events.moved = [this] {
      loop.post([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self || self->stopped) return;
        for (auto& watcher : self->watchers)
          self->carry_out(*watcher, watcher->reflector.moved(self->loop.now()));
        self->discover_anew();
      });
    };
    return events;
  }

  void use(Result<Credentials> credentials) {
    if (stopped) return;
    const bool lost = credentials.has_error();
    http->use(std::move(credentials));
    for (auto& watcher : watchers)
      carry_out(*watcher, lost ? watcher->reflector.disconnected(loop.now())
                               : watcher->reflector.hurry(loop.now()));
    if (!lost) discover_anew();
  }

  void post(std::string path, std::string body) {
    if (stopped) return;
    if (posts >= kPostsMax) return post_lost("too many at a time");
    HttpRequest request;
    request.method = "POST";
    request.target = std::move(path);
    request.content_type = "application/json";
    request.body = std::move(body);
    request.timeout = settings.reflector.request_timeout;
    ++posts;
    http->send(std::move(request), [weak = weak_from_this()](Result<HttpResponse> answer) {
      const auto self = weak.lock();
      if (!self) return;
      --self->posts;
      if (!answer) return self->post_lost(answer.error().message);
      // 409: an earlier run sent it already; a notice has a fixed name.
      if (answer->status >= 300 && answer->status != 409)
        self->post_lost("HTTP " + std::to_string(answer->status));
    });
  }
  // Only the first is logged; the metric counts them all.
  void post_lost(const std::string& why) {
    bool first = false;
    {
      std::lock_guard lock(mutex);
      first = counted.posts_lost++ == 0;
    }
    if (first) log("an Event could not be sent: " + why);
  }

  void adjust(const ApiServerSettings& wanted) {
    if (stopped) return;
    settings.http = wanted.http;
    settings.writes = wanted.writes;
    settings.reflector = wanted.reflector;
    http->set_limits(settings.http);
    sink->set_rate(settings.writes);
    settings.scopes = wanted.scopes;
    for (auto& watcher : watchers) {
      watcher->reflector.adjust(loop.now(), settings.reflector);
      carry_out(*watcher, watcher->reflector.timer(loop.now()));
      confine(*watcher);
    }
  }
  void confine(Watcher& watcher) {
    const auto scope = settings.scopes.find(watcher.reflector.kind());
    carry_out(watcher,
              watcher.reflector.confine(
                  loop.now(), scope == settings.scopes.end() ? WatchScope{} : scope->second));
  }

  void log(const std::string& line, LineAbout about = LineAbout::trouble) const {
    if (settings.diagnose) settings.diagnose({name + ": " + line, about});
  }
  void count(const WriteAnswer& answer) {
    report_held_back(answer);
    std::lock_guard lock(mutex);
    ++counted.writes[answer.result];
    ++counted.requests_by_code[answer.http_code];
  }
  // A server that asks for a short wait is merely busy. The first of several in a row is reported.
  void report_held_back(const WriteAnswer& answer) {
    const Duration asked = answer.retry_after.value_or(Duration{});
    const bool held_back = answer.http_code != 0 && asked > kLongWait;
    if (held_back && !writes_held_back)
      log("a write was answered " + std::to_string(answer.http_code) +
          retry_after_text(answer.retry_after) + "; writes go on in " +
          to_go_duration(std::min(asked, kRetryAfterMax)));
    writes_held_back = held_back;
  }
  void count(int code) {
    std::lock_guard lock(mutex);
    ++counted.requests_by_code[code];
  }

  void start(const std::vector<Kind>& kinds) {
    discovery = std::make_unique<Discovery>(kinds);
    for (Kind kind : kinds)
      watchers.push_back(std::make_unique<Watcher>(kind, settings.reflector, load, random_bits));
    for (auto& watcher : watchers) {
      confine(*watcher);
      carry_out(*watcher, watcher->reflector.expected(loop.now()));
    }
    discover();
  }

  // Starts discovery again; answers to earlier requests no longer count.
  void discover_anew() {
    if (!discovery) return;
    round.restart();
    discovery->forget_documents();
    discover();
  }

  // Discovery: requests the documents, then the lists of what these do not decide, then passes
  // every reflector its version. Before the first lists it waits for its turn.
  void discover() {
    discovery_timer.reset();
    if (round.outstanding || stopped) return;
    if (!beginning.may_discover(settings.beginnings.get(), [this] { discover(); })) return;
    request_discovery(DiscoveryRound::Part::documents, discovery->documents());
  }

  void request_discovery(DiscoveryRound::Part part, std::vector<DiscoveryRequest> requests) {
    round.begin(part, std::move(requests));
    for (std::size_t i = 0; i < settings.discovery_inflight; ++i) send_discovery();
  }
  void send_discovery() {
    auto asked = round.next();
    if (!asked) return;
    HttpRequest request;
    request.target = asked->path;
    request.accept = asked->accept;
    if (!asked->etag.empty()) request.more_headers = "If-None-Match: " + asked->etag + "\r\n";
    request.timeout = settings.reflector.request_timeout;
    http->send(std::move(request), [weak = weak_from_this(), asked = *std::move(asked),
                                    mine = round.number](Result<HttpResponse> answer) {
      const auto self = weak.lock();
      if (self && mine == self->round.number) self->discovered(asked, answer);
    });
  }

  void discovered(const DiscoveryRequest& asked, const Result<HttpResponse>& answer) {
    --round.outstanding;
    if (stopped) return;
    beginning.progressed();
    const int status = answer.has_value() ? answer->status : 0;
    count(status);
    if (answer.has_error()) {
      round.troubles.insert(answer.error().message);
      round.drop_unsent();
    } else {
      note_discovered(asked, *answer);
    }
    if (round.outstanding > 0) return send_discovery();
    if (round.part == DiscoveryRound::Part::documents && round.troubles.empty())
      if (auto lists = discovery->lists(); !lists.empty())
        return request_discovery(DiscoveryRound::Part::lists, std::move(lists));
    finish_discovery();
  }

  void note_discovered(const DiscoveryRequest& asked, const HttpResponse& answer) {
    const bool is_list = round.part == DiscoveryRound::Part::lists;
    auto read = is_list
                    ? discovery->answer(asked.path, answer.status, answer.body)
                    : discovery->answer_document(asked, answer.status, answer.body, answer.etag);
    if (read.has_error()) round.troubles.insert(read.error().message);
    const bool failed =
        is_list ? answer.status != 200 && answer.status != 404 : is_failure(answer.status);
    if (!failed) return;
    round.troubles.insert(asked.path + " answered " + std::to_string(answer.status) +
                          retry_after_text(answer.retry_after));
    round.wait = std::max(round.wait, bounded_retry_after(answer.retry_after.value_or(Duration{}),
                                                          settings.reflector));
  }

  void finish_discovery() {
    const Duration waiting = std::max(settings.discovery_waiting, std::exchange(round.wait, {}));
    for (const std::string& trouble : round.troubles)
      if (!round.reported.contains(trouble))
        log("discovery: " + trouble + "; asked again in " + to_go_duration(waiting));
    if (round.troubles.empty() && !round.reported.empty())
      log("discovery: answered again", LineAbout::recovery);
    round.reported = std::exchange(round.troubles, {});
    bool settled = round.reported.empty();
    for (auto& watcher : watchers) {
      const Kind kind = watcher->reflector.kind();
      if (!discovery->decided(kind)) continue;
      auto version = discovery->version(kind);
      // Most servers serve some kinds of devices, if any, and will do so tomorrow. Of a kind that
      // is wanted later confine() asks again.
      settled =
          settled && (version.has_value() || is_of_devices(kind) || !watcher->reflector.wanted());
      note_version(kind, version);
      carry_out(*watcher, watcher->reflector.served(loop.now(), std::move(version)));
    }
    for (const std::string& sentence : discovery->newly_unread()) log(sentence);
    if (!round.reported.empty()) beginning.give_up();
    discover_after(settled ? settings.discovery_settled : waiting);
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
    discovery_timer = loop.after(spread_by_name(span, name), [this] { discover(); });
  }

  // A request that is replaced may still be answered: its callbacks compare the generation. They
  // may hold the watcher by reference, since watchers live as long as this, which they lock first.
  void carry_out(Watcher& watcher, ReflectorOutput output) {
    if (stopped) return;
    if (output.cancel || output.request) {
      ++watcher.generation;
      watcher.stream.reset();
    }
    for (const DiagnosticLine& line : output.diagnostics) log(line.text, line.about);
    for (auto& fact : output.facts) facts({name, std::move(fact)});
    if (stopped) return;
    if (output.request) send(watcher, *output.request);
    set_timer(watcher, output.wake);
    // Kinds that vanish together are looked for in one round; a round that is under way finds them.
    if (output.rediscover && !round.outstanding) discover_after(seconds(1));
    if (!round.outstanding) beginning.end_if_begun(watchers, *discovery);
    std::lock_guard lock(mutex);
    counted.reflectors[watcher.reflector.kind()] = watcher.reflector.counters();
    if (watcher.reflector.wanted())
      counted.synced[watcher.reflector.kind()] = watcher.reflector.synced();
    else
      counted.synced.erase(watcher.reflector.kind());
  }

  void set_timer(Watcher& watcher, LogTime wake) {
    watcher.timer.reset();
    if (wake == kForever) return;
    const Duration span = wake - loop.now();
    // Raw pointers will do: the timer ends with its watcher, on this thread.
    watcher.timer = loop.after(std::max(span, Duration{0}), [this, &watcher] {
      carry_out(watcher, watcher.reflector.timer(loop.now()));
    });
  }

  void send(Watcher& watcher, const ReflectorRequest& wanted) {
    HttpRequest request;
    request.target = wanted.target;
    request.accept = wanted.accept;
    request.timeout = settings.reflector.request_timeout;
    const std::uint64_t mine = watcher.generation;
    if (wanted.kind == ReflectorRequest::Kind::watch) {
      watcher.stream = http->stream(std::move(request), stream_handler(watcher, mine));
      return;
    }
    request.body_bytes_max = kPageBytesMax;
    http->send(std::move(request),
               [weak = weak_from_this(), &watcher, mine](Result<HttpResponse> answer) {
                 const auto self = weak.lock();
                 if (!self) return;
                 self->count(answer.has_value() ? answer->status : 0);
                 self->beginning.progressed();
                 if (self->stopped || mine != watcher.generation) return;
                 const HttpResponse said = flatten(std::move(answer));
                 self->carry_out(watcher, watcher.reflector.page(self->loop.now(), said.status,
                                                                 said.body, said.retry_after));
               });
  }

  HttpStreamHandler stream_handler(Watcher& watcher, std::uint64_t mine) {
    HttpStreamHandler handler;
    // Returns this, unless it has ended or the stream is an earlier one.
    auto current = [weak = weak_from_this(), &watcher, mine] {
      auto self = weak.lock();
      if (self && (self->stopped || mine != watcher.generation)) self.reset();
      if (self) self->beginning.progressed();
      return self;
    };
    handler.opened = [&watcher, current] {
      const auto self = current();
      if (!self) return;
      self->count(200);
      self->carry_out(watcher, watcher.reflector.opened(self->loop.now()));
    };
    handler.bytes = [&watcher, current](std::string_view chunk) {
      if (const auto self = current())
        self->carry_out(watcher, watcher.reflector.bytes(self->loop.now(), chunk));
    };
    handler.ended = [&watcher, current](Result<HttpResponse> answer) {
      const auto self = current();
      if (!self) return;
      const HttpResponse said = flatten(std::move(answer));
      if (said.status != 200) self->count(said.status);
      self->carry_out(watcher, watcher.reflector.ended(self->loop.now(), said.status, said.body,
                                                       said.retry_after));
    };
    return handler;
  }

  // No answer becomes status 0, with the reason as its body.
  static HttpResponse flatten(Result<HttpResponse> answer) {
    if (answer.has_value()) return std::move(*answer);
    return {0, std::nullopt, answer.error().message};
  }

  void close() {
    if (stopped) return;
    stopped = true;
    discovery_timer.reset();
    beginning.give_up();
    for (auto& watcher : watchers) {
      watcher->timer.reset();
      watcher->stream.reset();
    }
    followers.clear();
    sink.reset();
    http->stop();
  }

  IoLoop& loop;
  const SourceName name;
  ApiServerSettings settings;
  std::unique_ptr<HttpClient> http;
  std::unique_ptr<KubeSink> sink;
  std::function<void(WatchFact)> facts;
  ServerLoad load;
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::map<std::uint64_t, std::unique_ptr<ObjectFollower>> followers;
  std::size_t posts = 0;       // under way
  std::uint64_t followed = 0;  // guarded by mutex
  std::unique_ptr<Discovery> discovery;
  std::unique_ptr<IoLoop::Timer> discovery_timer;
  DiscoveryRound round;
  Beginning beginning;
  bool writes_held_back = false;
  bool stopped = false;
  std::atomic<bool> stopped_for_good{false};  // the loop may be gone

  mutable std::mutex mutex;
  ApiServerCounters counted;
};

ApiServerConnection::ApiServerConnection(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

ApiServerConnection::~ApiServerConnection() { stop(); }

Result<std::unique_ptr<ApiServerConnection>> ApiServerConnection::make(IoLoop& loop,
                                                                       SourceName name,
                                                                       Credentials credentials,
                                                                       ApiServerSettings settings) {
  auto impl = std::make_shared<Impl>(loop, std::move(name), std::move(settings));
  auto identities = Identities::make(loop, std::move(credentials), impl->settings.credentials,
                                     impl->credential_events());
  if (identities.has_error()) return in_context(impl->name, identities.error());
  impl->begin(std::move(*identities));
  return std::unique_ptr<ApiServerConnection>(new ApiServerConnection(std::move(impl)));
}

std::unique_ptr<ApiServerConnection> ApiServerConnection::waiting(
    IoLoop& loop, SourceName name, Error why, std::function<Result<Credentials>()> read_again,
    ApiServerSettings settings) {
  auto impl = std::make_shared<Impl>(loop, std::move(name), std::move(settings));
  impl->begin(Identities::waiting(loop, std::move(why), std::move(read_again),
                                  impl->settings.credentials, impl->credential_events()));
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
  impl_->loop.post([impl = impl_, path = std::move(path), body = std::move(body)]() mutable {
    impl->post(std::move(path), std::move(body));
  });
}

void ApiServerConnection::adjust(const ApiServerSettings& settings) {
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
    std::lock_guard lock(impl_->mutex);
    number = ++impl_->followed;
  }
  // Posted work runs in order, so it comes before what ends the follower.
  impl_->loop.post([impl = impl_, number, collection = std::move(collection),
                    name = std::move(name), on_object = std::move(on_object)]() mutable {
    if (impl->stopped) return;
    impl->followers[number] = std::make_unique<ObjectFollower>(
        impl->loop, *impl->http, std::move(collection), std::move(name), std::move(on_object),
        [raw = impl.get()](const DiagnosticLine& line) { raw->log(line.text, line.about); });
  });
  return std::make_unique<FollowerHandle>(impl_, number);
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
  impl_->stopped_for_good = true;
}

}  // namespace fairlead
