// One client of an HttpEndpoint, and what all of them share. Included by http_endpoint.cpp and
// http_session.cpp only.
//
// A session is in one of three lists. In `waiting` it has not sent a whole request, or a probe is
// being answered: holding it open costs a client nothing, so the oldest is closed where places are
// short. In `answering` it has sent a request, and is never closed for another one.
// In `streaming` it gets versions (HttpStreams) until it leaves or does not read them.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/http/connection.h"
#include "engine/runtime/http_endpoint.h"
#include "engine/runtime/work_thread.h"

namespace fairlead {

class HttpSession;

/// Where a guard's decision goes. It may come from any thread, and after the end of the endpoint.
class GuardDecisions {
 public:
  /// Keeps `session` until its decision, or close(). Returns what calls its decided() then, on the
  /// endpoint's thread. It is called on that thread itself.
  static std::function<void(std::optional<HttpReply>)> expect(
      const std::shared_ptr<GuardDecisions>& self, std::shared_ptr<HttpSession> session);
  /// Drops decisions from now on, and the sessions that wait for some. From any thread, when the
  /// endpoint's thread has ended.
  void close();

 private:
  void pass_on(std::uint64_t number, std::optional<HttpReply> refusal);

  std::mutex mutex_;     // guards the next one
  bool closed_ = false;  // the loop must not be used any more
  std::map<std::uint64_t, std::shared_ptr<HttpSession>> pending_;
  std::uint64_t last_ = 0;
};

/// What the sessions of an endpoint share; outlives them.
struct HttpShared {
  explicit HttpShared(HttpServing serving_given);

  HttpServing serving;
  WorkThread question_thread;
  WorkThread post_thread;
  std::shared_ptr<GuardDecisions> decisions = std::make_shared<GuardDecisions>();
  std::list<HttpSession*> waiting;    // oldest first
  std::list<HttpSession*> answering;  // oldest first
  std::list<HttpSession*> streaming;  // oldest first
  std::size_t large_bodies = 0;
};

/// Decides what each request of a connection gets. On the endpoint's thread only.
class HttpSession final : public HttpHandler {
 public:
  HttpSession(HttpConnection& connection, HttpShared& shared);
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  const std::string& remote() const { return connection_.remote(); }
  HttpConnection& connection() { return connection_; }
  /// The guard has decided about the request: it passes, or gets this refusal.
  void decided(std::optional<HttpReply> refusal);
  /// A tick of the endpoint, for a session in `streaming`: sends the version if it has changed.
  void send_version(const std::string& version);

  std::variant<std::uint64_t, HttpReply> expect_body(std::optional<std::uint64_t> length) override;
  HttpReply body_too_long() override;
  void answer() override;
  void answered() override { move_to(shared_.waiting); }
  void closed() override;

 private:
  const ReceivedRequest& request() const { return connection_.request(); }
  std::shared_ptr<HttpSession> shared_self() { return {connection_.shared_from_this(), this}; }
  bool is_post() const;
  bool is_path_of_posts() const;
  bool is_question() const;
  bool is_stream() const;
  HttpReply not_allowed() const;
  bool begin_answer();
  void serve();
  void serve_post();
  void begin_stream();
  template <class Answer>
  void hand_over(WorkThread& thread, Answer make_answer);
  void reply(HttpReply reply);
  void move_to(std::list<HttpSession*>& list);
  void free_body();

  HttpConnection& connection_;  // owns this
  HttpShared& shared_;
  std::list<HttpSession*>* list_;  // null: closed
  std::list<HttpSession*>::iterator place_;
  std::string version_;            // that a stream sent last
  std::int64_t stream_ticks_ = 0;  // since it began
  std::int64_t silent_ticks_ = 0;  // since it sent something
  bool sent_end_ = false;          // of the stream
  bool has_large_body_ = false;
};

/// Makes the session of a connection that was accepted, and closes another one where it has to.
std::unique_ptr<HttpSession> make_session(HttpConnection& connection, HttpShared& shared);

}  // namespace fairlead
