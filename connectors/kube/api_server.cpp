#include "connectors/kube/api_server.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "connectors/kube/access/beginning.h"
#include "connectors/kube/access/discovery_round.h"
#include "connectors/kube/watch/failure_text.h"
#include "engine/apply/applier.h"
#include "engine/base/check.h"

namespace fairlead {
namespace {

constexpr std::size_t kPageBytesMax = std::size_t{64} << 20;
constexpr Duration kLongWait = seconds(10);

}  // namespace

// Callbacks hold it weakly: its lifetime is that of its owner, never that of a dropped request.
struct ApiServer::Impl : std::enable_shared_from_this<Impl> {
  // Drives one reflector: sends its requests and passes it the answers.
  struct Watcher {
    Watcher(Kind kind, const ReflectorSettings& settings, ServerLoad& load,
            std::function<std::uint64_t()> random)
        : reflector(kind, settings, load, std::move(random)) {}
    Reflector reflector;
    std::unique_ptr<Transport::Stream> stream;
    std::unique_ptr<Transport::Timer> timer;
    std::uint64_t generation =
        0;  // of the outstanding request: answers to earlier ones are dropped
  };

  Impl(Transport& transport_given, SourceName name_given, ApiServerSettings settings_given)
      : transport(transport_given),
        name(std::move(name_given)),
        settings(std::move(settings_given)) {}

  void begin() {
    // An answer may come after this object has ended.
    sink = std::make_unique<KubeSink>(transport, settings.writes,
                                      [weak = weak_from_this()](const WriteAnswer& answer) {
                                        if (const auto self = weak.lock()) self->count(answer);
                                      });
  }

  // Every reflector gets the same input.
  void all_get(ReflectorOutput (Reflector::*input)(LogTime)) {
    if (stopped) return;
    for (auto& watcher : watchers)
      carry_out(*watcher, (watcher->reflector.*input)(transport.now()));
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
    transport.send(std::move(request), [weak = weak_from_this()](Result<HttpResponse> answer) {
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
    settings.writes = wanted.writes;
    settings.reflector = wanted.reflector;
    sink->set_rate(settings.writes);
    settings.scopes = wanted.scopes;
    for (auto& watcher : watchers) {
      watcher->reflector.adjust(transport.now(), settings.reflector);
      carry_out(*watcher, watcher->reflector.timer(transport.now()));
      confine(*watcher);
    }
  }
  void confine(Watcher& watcher) {
    const auto scope = settings.scopes.find(watcher.reflector.kind());
    carry_out(watcher,
              watcher.reflector.confine(
                  transport.now(), scope == settings.scopes.end() ? WatchScope{} : scope->second));
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
      watchers.push_back(
          std::make_unique<Watcher>(kind, settings.reflector, load, settings.random));
    for (auto& watcher : watchers) {
      confine(*watcher);
      carry_out(*watcher, watcher->reflector.expected(transport.now()));
    }
    discover();
  }

  // Starts discovery again; answers to earlier requests no longer count.
  void discover_anew() {
    if (stopped || !discovery) return;
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
    request.if_none_match = asked->etag;
    request.timeout = settings.reflector.request_timeout;
    transport.send(std::move(request), [weak = weak_from_this(), asked = *std::move(asked),
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
      carry_out(*watcher, watcher->reflector.served(transport.now(), std::move(version)));
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
    discovery_timer = transport.after(spread_by_name(span, name), [this] { discover(); });
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
    const Duration span = wake - transport.now();
    // Raw pointers will do: the timer ends with its watcher, on this thread.
    watcher.timer = transport.after(std::max(span, Duration{0}), [this, &watcher] {
      carry_out(watcher, watcher.reflector.timer(transport.now()));
    });
  }

  void send(Watcher& watcher, const ReflectorRequest& wanted) {
    HttpRequest request;
    request.target = wanted.target;
    request.accept = wanted.accept;
    request.timeout = settings.reflector.request_timeout;
    const std::uint64_t mine = watcher.generation;
    if (wanted.kind == ReflectorRequest::Kind::watch) {
      watcher.stream = transport.stream(std::move(request), stream_handler(watcher, mine));
      return;
    }
    request.body_bytes_max = kPageBytesMax;
    transport.send(
        std::move(request), [weak = weak_from_this(), &watcher, mine](Result<HttpResponse> answer) {
          const auto self = weak.lock();
          if (!self) return;
          self->count(answer.has_value() ? answer->status : 0);
          self->beginning.progressed();
          if (self->stopped || mine != watcher.generation) return;
          const HttpResponse said = flatten(std::move(answer));
          self->carry_out(watcher, watcher.reflector.page(self->transport.now(), said.status,
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
      self->carry_out(watcher, watcher.reflector.opened(self->transport.now()));
    };
    handler.bytes = [&watcher, current](std::string_view chunk) {
      if (const auto self = current())
        self->carry_out(watcher, watcher.reflector.bytes(self->transport.now(), chunk));
    };
    handler.ended = [&watcher, current](Result<HttpResponse> answer) {
      const auto self = current();
      if (!self) return;
      const HttpResponse said = flatten(std::move(answer));
      if (said.status != 200) self->count(said.status);
      self->carry_out(watcher, watcher.reflector.ended(self->transport.now(), said.status,
                                                       said.body, said.retry_after));
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
    sink->close();
  }

  Transport& transport;
  const SourceName name;
  ApiServerSettings settings;
  std::unique_ptr<KubeSink> sink;
  std::function<void(WatchFact)> facts;
  ServerLoad load;
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::size_t posts = 0;  // under way
  std::unique_ptr<Discovery> discovery;
  std::unique_ptr<Transport::Timer> discovery_timer;
  DiscoveryRound round;
  Beginning beginning;
  bool writes_held_back = false;
  bool stopped = false;

  mutable std::mutex mutex;
  ApiServerCounters counted;
};

ApiServer::ApiServer(Transport& transport, SourceName name, ApiServerSettings settings)
    : impl_(std::make_shared<Impl>(transport, std::move(name), std::move(settings))) {
  impl_->begin();
}

ApiServer::~ApiServer() { stop(); }

void ApiServer::watch(const std::vector<Kind>& kinds, std::function<void(WatchFact)> sink) {
  if (impl_->stopped) return;
  check(impl_->discovery == nullptr, "a server is watched once");
  impl_->facts = std::move(sink);
  impl_->start(kinds);
}

void ApiServer::moved() {
  impl_->all_get(&Reflector::moved);
  impl_->discover_anew();
}

void ApiServer::disconnected() { impl_->all_get(&Reflector::disconnected); }

void ApiServer::reconnected() {
  impl_->all_get(&Reflector::hurry);
  impl_->discover_anew();
}

void ApiServer::adjust(const ApiServerSettings& settings) { impl_->adjust(settings); }

std::unique_ptr<ObjectFollower> ApiServer::follow(
    std::string collection, std::string name,
    std::function<void(std::optional<JsonView>)> on_object) {
  return std::make_unique<ObjectFollower>(
      impl_->transport, std::move(collection), std::move(name), std::move(on_object),
      [raw = impl_.get()](const DiagnosticLine& line) { raw->log(line.text, line.about); });
}

PatchSink& ApiServer::sink() { return *impl_->sink; }

void ApiServer::post(std::string path, std::string body) {
  impl_->post(std::move(path), std::move(body));
}

ApiServerCounters ApiServer::counters() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->counted;
}

void ApiServer::stop() { impl_->close(); }

}  // namespace fairlead
