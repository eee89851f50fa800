#include "tests/simulation/network.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace fairlead::simulation {
namespace {

constexpr Duration kWay = milliseconds(1);
constexpr Duration kLatest = seconds(20);

Error no_answer(const char* why) { return {ErrorCode::unavailable, why}; }

HttpResponse status_of(int code, const std::string& reason, std::optional<Duration> wait = {}) {
  const Json body = {{"kind", "Status"},      {"apiVersion", "v1"}, {"status", "Failure"},
                     {"message", "by storm"}, {"reason", reason},   {"code", code}};
  return {code, wait, to_text(body), {}};
}

bool is_discovery(const HttpRequest& request) {
  return request.target == "/api" || request.target == "/apis";
}

// Leaves out one group of the document; which, does not change within an episode.
void leave_out_a_group(HttpResponse& response, std::uint64_t which) {
  Json document = read_json(response.body);
  if (!document.is_object()) return;
  for (const char* list : {"items", "groups"}) {
    const auto found = document.find(list);
    if (found == document.end() || !found->is_array() || found->empty()) continue;
    found->erase(found->begin() + static_cast<std::ptrdiff_t>(which % found->size()));
  }
  response.body = to_text(document);
  response.etag.clear();
}

// Has a list in pages read what there was some changes ago.
void ask_for_the_past(HttpRequest& request, std::uint64_t revision) {
  request.target += "&resourceVersion=" + std::to_string(revision) + "&resourceVersionMatch=Exact";
}

// What tells whether two lines are about different objects; empty: no object.
std::string_view uid_in(std::string_view line) {
  constexpr std::string_view kUid = "\"uid\":\"";
  const auto at = line.rfind(kUid);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + kUid.size(), 16);
}

std::vector<std::string> lines_of(std::string_view chunk) {
  std::vector<std::string> lines;
  while (!chunk.empty()) {
    const auto end = std::min(chunk.find('\n'), chunk.size() - 1) + 1;
    lines.emplace_back(chunk.substr(0, end));
    chunk.remove_prefix(end);
  }
  return lines;
}

}  // namespace

Network::Network(model::VirtualTime& time, Server& server, Faults& faults, LifeRef life,
                 std::function<Sender()> sender)
    : time_(time),
      server_(server),
      faults_(faults),
      life_(std::move(life)),
      sender_(std::move(sender)),
      streams_(time, server.model(), {kWay, minutes(30)}) {}

Network::~Network() { *alive_ = false; }

bool Network::dies(FaultKind kind) {
  if (!faults_.happens(kind, sender_().replica)) return false;
  life_->over = true;
  return true;
}

// A process that stands still gets everything when it goes on.
std::unique_ptr<Transport::Timer> Network::after(Duration span, std::function<void()> work) {
  struct Pausing final : Timer {
    std::unique_ptr<Timer> inner;
  };
  auto timer = std::make_unique<Pausing>();
  timer->inner = time_.after(span, [this, at = timer.get(), work = std::move(work)]() mutable {
    const Duration left{(life_->paused - now()).ns};
    if (left.ns <= 0) return work();
    at->inner = time_.after(left, std::move(work));
  });
  return timer;
}

void Network::deliver(Duration span, Done done, Result<HttpResponse> answer) {
  time_.post(span,
             [this, alive = alive_, done = std::move(done), answer = std::move(answer)]() mutable {
               if (!*alive || life_->over) return;
               if (now() < life_->paused)
                 return deliver({(life_->paused - now()).ns}, std::move(done), std::move(answer));
               if (dies(FaultKind::deaths_at_answer)) return;
               done(std::move(answer));
             });
}

// The server carries the request out when it arrives, though its client may have ended by then.
void Network::send(HttpRequest request, Done done) {
  if (life_->over) return;
  const Sender from = sender_();
  const bool dies_now = dies(FaultKind::deaths_at_send);
  if (dies_now && faults_.first_way()) return;
  const LogTime given_up = time_.now() + request.timeout;
  if (faults_.happens(FaultKind::lost_requests, server_.name()))
    return deliver(request.timeout, std::move(done), no_answer("timed out"));
  Duration way = kWay;
  if (faults_.happens(FaultKind::late_requests, server_.name())) {
    way.ns = request.timeout.ns + faults_.up_to(seconds(30)).ns;
    deliver(request.timeout, std::exchange(done, nullptr), no_answer("timed out"));
  }
  // The network may be gone when it arrives.
  time_.post(way, [this, alive = alive_, &server = server_, from, given_up,
                   request = std::move(request), done = std::move(done)]() mutable {
    if (*alive) return arrived(std::move(request), from, given_up, std::move(done));
    if (!server.away() && !server.denies()) (void)server.answer(request, from, AnswerFate::lost);
  });
}

void Network::arrived(HttpRequest request, const Sender& from, LogTime given_up, Done done) {
  const std::string& where = server_.name();
  const bool writes = request.method != "GET";
  const auto answer = [&](HttpResponse response) {
    if (done) deliver(kWay, std::move(done), std::move(response));
  };
  if (unreachable()) {
    if (done) deliver(kWay, std::move(done), no_answer("connection refused"));
    return;
  }
  if (server_.denies()) return answer(status_of(401, "Unauthorized"));
  if (faults_.happens(FaultKind::throttles, where))
    return answer(status_of(429, "TooManyRequests", seconds(1 + faults_.below(30))));
  if (faults_.happens(FaultKind::errors, where)) return answer(status_of(500, "InternalError"));
  if (writes && faults_.happens(FaultKind::conflicts, where))
    return answer(status_of(409, "Conflict"));
  if (!writes && request.target.find("?limit=") != std::string::npos &&
      request.target.find("&continue=") == std::string::npos &&
      faults_.happens(FaultKind::stale_lists, where))
    ask_for_the_past(request, server_.some_past(static_cast<std::uint64_t>(faults_.below(20))));
  const bool lost = faults_.happens(FaultKind::lost_answers, where);
  const bool broken = writes && faults_.happens(FaultKind::errors_after, where);
  HttpResponse response =
      server_.answer(request, from, lost || broken || !done ? AnswerFate::lost : AnswerFate::heard);
  if (server_.lies() && is_discovery(request))
    leave_out_a_group(response, static_cast<std::uint64_t>(server_.trouble.lies.ns / 1000));
  if (!done) return;
  const Duration left{std::max<std::int64_t>(0, (given_up - time_.now()).ns)};
  if (lost) return deliver(left, std::move(done), no_answer("timed out"));
  if (broken) return answer(status_of(500, "InternalError"));
  if (response.body.size() > request.body_bytes_max) return answer(status_of(413, "TooLarge"));
  const Duration way =
      faults_.happens(FaultKind::slow_requests, where) ? faults_.up_to(kLatest) : kWay;
  if (way > left) return deliver(left, std::move(done), no_answer("timed out"));
  deliver(way, std::move(done), std::move(response));
}

// A watch as its client sees it. The handle owns it; its work holds it weakly.
class Network::WatchedStream final : public std::enable_shared_from_this<WatchedStream> {
 public:
  WatchedStream(Network& network, HttpStreamHandler handler)
      : network_(network), handler_(std::move(handler)) {}

  void begin(HttpRequest request) {
    Faults& faults = network_.faults_;
    Server& server = network_.server_;
    if (network_.unreachable()) return end_later(no_answer("connection refused"));
    if (server.denies()) return end_later(status_of(401, "Unauthorized"));
    if (faults.happens(FaultKind::lost_requests, server.name())) {
      next_ = network_.now() + request.timeout;
      return end_later(no_answer("timed out"));
    }
    if (network_.server_.without_watch_lists() &&
        request.target.find("sendInitialEvents") != std::string::npos)
      return end_later(status_of(422, "Invalid"));
    if (faults.happens(FaultKind::throttles, server.name()))
      return end_later(status_of(429, "TooManyRequests", seconds(1 + faults.below(30))));
    if (faults.happens(FaultKind::errors, server.name()))
      return end_later(status_of(500, "InternalError"));
    if (faults.happens(FaultKind::refused_watches, server.name()))
      return end_later(status_of(410, "Expired"));
    const std::weak_ptr<WatchedStream> weak = weak_from_this();
    cut_ = std::make_shared<std::function<void()>>([weak] {
      if (const auto self = weak.lock()) self->end_later(no_answer("connection reset"));
    });
    server.on_cut(cut_);
    inner_ = network_.streams_.stream(
        std::move(request), {[this] { later([this] { handler_.opened(); }); },
                             [this](std::string_view chunk) { take(chunk); },
                             [this](Result<HttpResponse> end) { end_later(std::move(end)); }});
  }

 private:
  // In the order of the stream, not after its end, and not after the end of the handle.
  void later(std::function<void()> work) {
    next_ = std::max({next_, network_.now(), network_.life_->paused});
    network_.time_.post(next_ - network_.now(),
                        [weak = weak_from_this(), life = network_.life_, work = std::move(work)] {
                          if (life->over) return;
                          if (const auto self = weak.lock()) work();
                        });
  }
  void end_later(Result<HttpResponse> end) {
    if (std::exchange(over_, true)) return;
    later([this, end = std::move(end)] { handler_.ended(end); });
  }
  void take(std::string_view chunk) {
    if (over_ || silent_) return;
    // What a partition keeps back comes after it: TCP sends it again, and a stream that goes on has
    // lost nothing.
    next_ = std::max(next_, network_.life_->alone);
    Faults& faults = network_.faults_;
    const std::string& where = network_.server_.name();
    if (faults.happens(FaultKind::silent_streams, where)) {
      silent_ = true;
      return;
    }
    std::string out;
    std::vector<std::string> lines = lines_of(chunk);
    // Lines that changed places come together: a client that got the later one alone would go on
    // behind the earlier one, which no server lets it miss.
    std::size_t together = 0;
    for (std::size_t at = 0; at < lines.size(); ++at) {
      std::string& line = lines[at];
      if (at > 0 && at == together) {
        out += line;
        continue;
      }
      if (faults.happens(FaultKind::cut_streams, where)) {
        out += line.substr(0, line.size() / 2);
        return give_and_cut(std::move(out));
      }
      const bool object = !uid_in(line).empty();  // else a bookmark, which keeps its place
      if (object && faults.happens(FaultKind::delayed_lines, where)) {
        give(std::exchange(out, {}));
        next_ = std::max(next_, network_.now() + faults.up_to(kLatest));
      }
      if (object && faults.happens(FaultKind::unsaid_losses, where)) continue;
      if (object && faults.happens(FaultKind::lost_lines, where))
        return give_and_cut(std::move(out));
      if (object && at + 1 < lines.size() && !uid_in(lines[at + 1]).empty() &&
          uid_in(line) != uid_in(lines[at + 1]) &&
          faults.happens(FaultKind::swapped_lines, where)) {
        std::swap(line, lines[at + 1]);
        together = at + 1;
      }
      out += line;
      if (object && faults.happens(FaultKind::doubled_lines, where)) out += line;
    }
    give(std::move(out));
  }
  void give(std::string bytes) {
    if (!bytes.empty()) later([this, bytes = std::move(bytes)] { handler_.bytes(bytes); });
  }
  void give_and_cut(std::string bytes) {
    give(std::move(bytes));
    end_later(no_answer("connection reset"));
  }

  Network& network_;
  const HttpStreamHandler handler_;
  std::unique_ptr<Stream> inner_;
  std::shared_ptr<std::function<void()>> cut_;
  LogTime next_;  // nothing is delivered before it
  bool silent_ = false;
  bool over_ = false;
};

std::unique_ptr<Transport::Stream> Network::stream(HttpRequest request, HttpStreamHandler handler) {
  struct Handle final : Stream {
    explicit Handle(std::shared_ptr<WatchedStream> watch_given) : watch(std::move(watch_given)) {}
    const std::shared_ptr<WatchedStream> watch;
  };
  auto watch = std::make_shared<WatchedStream>(*this, std::move(handler));
  watch->begin(std::move(request));
  return std::make_unique<Handle>(std::move(watch));
}

}  // namespace fairlead::simulation
