#include "engine/runtime/http_session.h"

#include <algorithm>
#include <utility>

#include "engine/http/gzip.h"

namespace fairlead {

namespace {

constexpr std::uint64_t kRequestBodyMax = 4096;  // of any request but a POST

// A page of ours runs no script but ours and asks no other host; no other page may show it unless
// an administrator named that one.
std::string page_headers(const HttpServing& serving) {
  return "Content-Security-Policy: default-src 'self'; base-uri 'none'; form-action 'none'; "
         "frame-ancestors " +
         serving.frame_ancestors +
         "\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n";
}
// What was answered of a log or a State is outdated with the next event.
constexpr const char* kKeptByNobody = "Cache-Control: no-store\r\n";
// An answer of fewer bytes is in one packet anyway.
constexpr std::size_t kGzipMin = 1024;
constexpr const char* kStreamEnd = "event: end\ndata: ask again\n\n";

bool reads(const ReceivedRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

// An answer about a log holds no secret that a guess in the request could be compared with.
HttpReply gzipped_for(const ReceivedRequest& request, HttpReply reply) {
  if (reply.status == 200 && reply.body.size() >= kGzipMin &&
      reply.content_type.starts_with("application/json") && accepts_gzip(request.accept_encoding))
    reply.gzipped = gzip(reply.body, GzipEffort::each);
  return reply;
}

// Sends what the client lacks, in the coding that it takes (RFC 9110, 8.8.3 and 12.5.3).
void fit_to(const ReceivedRequest& request, const HttpServing& serving, HttpReply& reply) {
  reply.headers = page_headers(serving);
  reply.headers += reply.cache_control.empty() ? std::string(kKeptByNobody)
                                               : "Cache-Control: " + reply.cache_control + "\r\n";
  if (!reply.gzipped.empty()) reply.headers += "Vary: Accept-Encoding\r\n";
  if (!reply.etag.empty()) {
    // Weak: the two codings of a body have one name.
    const std::string etag = "W/\"" + reply.etag + "\"";
    reply.headers += "ETag: " + etag + "\r\n";
    if (request.if_none_match.find("\"" + reply.etag + "\"") != std::string::npos) {
      reply.status = 304;
      reply.body.clear();
      return;
    }
  }
  if (reply.gzipped.empty() || !accepts_gzip(request.accept_encoding)) return;
  reply.body = std::move(reply.gzipped);
  reply.headers += "Content-Encoding: gzip\r\n";
}

bool is_probe(const ReceivedRequest& request) {
  return reads(request) &&
         std::find(kHttpProbes.begin(), kHttpProbes.end(), request.path()) != kHttpProbes.end();
}

HttpReply plain_reply(int status, std::string_view text) {
  return {status, "text/plain; charset=utf-8", std::string(text)};
}

HttpReply busy() {
  HttpReply reply = plain_reply(503, "busy with other questions\n");
  reply.retry_after_seconds = 1;
  return reply;
}

std::string version_event(const std::string& version) {
  return "event: version\ndata: " + version + "\n\n";
}

// Closes the oldest waiting connection if one more from `remote` would exceed a limit: the oldest
// of the same address if that has its share, so that it does not displace others, else the oldest
// of all.
void make_place(HttpShared& shared, const std::string& remote) {
  const HttpPlaces& places = shared.serving.places;
  const auto same = [&remote](const HttpSession* other) { return other->remote() == remote; };
  const auto of_address = std::count_if(shared.waiting.begin(), shared.waiting.end(), same);
  if (static_cast<std::size_t>(of_address) >= places.waiting_of_address)
    (*std::find_if(shared.waiting.begin(), shared.waiting.end(), same))->connection().close();
  else if (shared.waiting.size() >= places.waiting)
    shared.waiting.front()->connection().close();
}

}  // namespace

HttpSession::HttpSession(HttpConnection& connection, HttpShared& shared)
    : connection_(connection), shared_(shared), list_(&shared.waiting) {
  place_ = shared_.waiting.insert(shared_.waiting.end(), this);
}

void HttpSession::closed() {
  if (list_ != nullptr) std::exchange(list_, nullptr)->erase(place_);
  free_body();
}

void HttpSession::move_to(std::list<HttpSession*>& list) {
  if (list_ == nullptr) return;
  list.splice(list.end(), *list_, place_);
  list_ = &list;
}

// -- a request -----------------------------------------------------------------------------------

bool HttpSession::is_path_of_posts() const {
  return shared_.serving.posts.answer && request().path() == shared_.serving.posts.path;
}
bool HttpSession::is_post() const { return request().method == "POST" && is_path_of_posts(); }
bool HttpSession::is_question() const {
  const HttpQuestions& questions = shared_.serving.questions;
  const auto begins = [this](const std::string& prefix) {
    return request().target.starts_with(prefix);
  };
  return questions.answer &&
         std::any_of(questions.prefixes.begin(), questions.prefixes.end(), begins);
}
bool HttpSession::is_stream() const {
  const HttpStreams& streams = shared_.serving.streams;
  return streams.version && request().method == "GET" && request().path() == streams.path;
}

// Large bodies have places of their own.
std::variant<std::uint64_t, HttpReply> HttpSession::expect_body(
    std::optional<std::uint64_t> length) {
  if (!is_post()) return kRequestBodyMax;
  const std::uint64_t most = shared_.serving.posts.body_max;
  if (length && (*length <= kHttpSmallBody || *length > most)) return most;
  // A body of unknown length counts as large.
  if (shared_.large_bodies >= kHttpLargeBodiesMax) return busy();
  ++shared_.large_bodies;
  has_large_body_ = true;
  return most;
}

void HttpSession::free_body() {
  if (std::exchange(has_large_body_, false)) --shared_.large_bodies;
}

HttpReply HttpSession::body_too_long() {
  if (is_post() || reads(request())) return plain_reply(413, "the body is too long\n");
  return not_allowed();
}

HttpReply HttpSession::not_allowed() const {
  return plain_reply(405, is_path_of_posts() ? "POST only\n" : "GET only\n");
}

// Acquires a place for a request that is not a probe; false if there is none.
bool HttpSession::begin_answer() {
  std::list<HttpSession*>& answering = shared_.answering;
  const HttpPlaces& places = shared_.serving.places;
  const auto of_address =
      std::count_if(answering.begin(), answering.end(),
                    [this](const HttpSession* other) { return other->remote() == remote(); });
  if (answering.size() >= places.requests ||
      static_cast<std::size_t>(of_address) >= places.requests_of_address)
    return false;
  move_to(answering);
  return true;
}

void HttpSession::answer() {
  if (is_probe(request())) return reply(shared_.serving.handler(request().path()));
  if (!begin_answer()) return reply(busy());
  if (request().target.size() > kHttpTargetMax)
    return reply(plain_reply(414, "the target is longer than 8192 bytes: ask for less at once\n"));
  if (!is_post() && (is_path_of_posts() || !reads(request()))) return reply(not_allowed());
  if (!shared_.serving.guard) return serve();
  shared_.serving.guard(request(), GuardDecisions::expect(shared_.decisions, shared_self()));
}

void HttpSession::decided(std::optional<HttpReply> refusal) {
  if (refusal) return reply(std::move(*refusal));
  serve();
}

void HttpSession::serve() {
  if (is_stream()) return begin_stream();
  if (is_post()) return serve_post();
  if (is_question())
    return hand_over(shared_.question_thread, [this] {
      return gzipped_for(request(), shared_.serving.questions.answer(request().target));
    });
  reply(shared_.serving.handler(request().path()));
}

void HttpSession::serve_post() {
  const HttpPosts& posts = shared_.serving.posts;
  if (request().body.size() <= posts.inline_body_max) return reply(posts.answer(request()));
  hand_over(shared_.post_thread, [this] { return shared_.serving.posts.answer(request()); });
}

// Has `thread` make the answer. Nothing else uses the session meanwhile.
template <class Answer>
void HttpSession::hand_over(WorkThread& thread, Answer make_answer) {
  auto work = [self = shared_self(),
               make_answer = std::move(make_answer)](WorkThread::Turn turn) mutable {
    HttpReply reply = turn == WorkThread::Turn::late ? busy() : make_answer();
    HttpLoop& loop = self->connection_.loop();
    // Moved, not copied: the session belongs to the endpoint's thread and must be destroyed there.
    loop.post([self = std::move(self), reply = std::move(reply)]() mutable {
      self->reply(std::move(reply));
    });
  };
  // Work that is refused is destroyed here, on the endpoint's thread, with its hold on the session.
  if (!thread.offer(std::move(work))) reply(busy());
}

void HttpSession::reply(HttpReply reply) {
  free_body();
  fit_to(request(), shared_.serving, reply);
  // RFC 9110 demands these two.
  if (reply.status == 401) reply.headers += "WWW-Authenticate: Bearer\r\n";
  if (reply.status == 405)
    reply.headers += is_path_of_posts() ? "Allow: POST\r\n" : "Allow: GET, HEAD\r\n";
  connection_.reply(reply);
}

// -- a stream of versions ------------------------------------------------------------------------

void HttpSession::begin_stream() {
  const HttpStreams& streams = shared_.serving.streams;
  if (shared_.streaming.size() >= streams.max || connection_.is_draining()) return reply(busy());
  move_to(shared_.streaming);
  version_ = streams.version();
  connection_.begin_stream(std::string("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n") +
                           page_headers(shared_.serving) + kKeptByNobody +
                           "Connection: close\r\n\r\n" + version_event(version_));
}

void HttpSession::send_version(const std::string& version) {
  const HttpStreams& streams = shared_.serving.streams;
  const Duration silent{++silent_ticks_ * streams.tick.ns};
  const Duration age{++stream_ticks_ * streams.tick.ns};
  const bool old = streams.age_max.ns > 0 && age >= streams.age_max;
  if (old && sent_end_) return connection_.close();
  if (connection_.is_sending()) {  // the client has not read the last one yet
    if (silent > shared_.serving.patience.answer) connection_.close();
    return;
  }
  if (!old && version == version_ && silent < streams.silence_max) return;
  silent_ticks_ = 0;
  if (old) {
    connection_.send(kStreamEnd);
    sent_end_ = true;
  } else if (version != version_) {
    connection_.send(version_event(version));
    version_ = version;
  } else {
    connection_.send(":\n\n");
  }
}

// -- what sessions share -------------------------------------------------------------------------

std::function<void(std::optional<HttpReply>)> GuardDecisions::expect(
    const std::shared_ptr<GuardDecisions>& self, std::shared_ptr<HttpSession> session) {
  const std::uint64_t number = ++self->last_;
  HttpLoop& loop = session->connection().loop();
  self->pending_.emplace(number, std::move(session));
  return [self, number, &loop](std::optional<HttpReply> refusal) {
    const std::lock_guard lock(self->mutex_);
    // Still locked below: once close() has the lock, the loop is not used any more.
    if (self->closed_) return;
    loop.post([self, number, refusal = std::move(refusal)]() mutable {
      self->pass_on(number, std::move(refusal));
    });
  };
}

void GuardDecisions::pass_on(std::uint64_t number, std::optional<HttpReply> refusal) {
  auto found = pending_.extract(number);
  if (!found.empty()) found.mapped()->decided(std::move(refusal));
}

void GuardDecisions::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  pending_.clear();
}

HttpShared::HttpShared(HttpServing serving_given)
    : serving(std::move(serving_given)),
      question_thread(serving.questions.waiting_max, serving.questions.patience),
      post_thread(serving.posts.waiting_max, serving.posts.patience) {}

std::unique_ptr<HttpSession> make_session(HttpConnection& connection, HttpShared& shared) {
  make_place(shared, connection.remote());
  return std::make_unique<HttpSession>(connection, shared);
}

}  // namespace fairlead
