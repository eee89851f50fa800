// One connection of an HttpEndpoint, plain or TLS, and what all of them share. Included by
// http_endpoint.cpp and http_session.cpp only.
//
// A connection is in one of three lists. In `waiting` it has not sent a whole request, or a probe
// is being answered: holding it open costs a client nothing, so the oldest is closed where places
// are short. In `answering` it has sent a request, and is never closed for another one.
// In `streaming` it gets versions (HttpStreams) until it leaves or does not read them.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/runtime/http_endpoint.h"
#include "engine/runtime/work_thread.h"

namespace fairlead {

/// A connection as the lists know it. On the endpoint's thread only.
class HttpSession {
 public:
  virtual ~HttpSession() = default;
  virtual const boost::asio::ip::address& remote() const = 0;
  /// Closes the connection to make room for another one.
  virtual void give_way() = 0;
  /// The endpoint ends: closes the connection, unless something of a request has come.
  virtual void drain() = 0;
  /// The guard has decided about the request: it passes, or gets this refusal.
  virtual void decided(std::optional<HttpReply> refusal) = 0;
  /// A tick of the endpoint, for a session in `streaming`: sends the version if it is another one.
  virtual void tell_version(const std::string& version) = 0;
};

/// Where a guard's decision goes. It may come from any thread, and after the end of the endpoint.
class GuardDecisions {
 public:
  explicit GuardDecisions(boost::asio::io_context& context) : context_(&context) {}

  /// Keeps `session` until its decision, or close(). Returns what calls its decided() then. On the
  /// endpoint's thread, as everything but what it returns.
  static std::function<void(std::optional<HttpReply>)> expect(
      const std::shared_ptr<GuardDecisions>& self, std::shared_ptr<HttpSession> session);
  /// Drops decisions from now on, and the sessions that wait for some. From any thread, when the
  /// endpoint's thread has ended.
  void close();

 private:
  struct Pending {
    std::shared_ptr<HttpSession> session;
    boost::asio::any_io_executor busy;  // the context has work as long as this is there
  };
  void pass_on(std::uint64_t number, std::optional<HttpReply> refusal);

  std::mutex mutex_;                  // guards the next one
  boost::asio::io_context* context_;  // null: closed
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_ = 0;
};

/// What the sessions of an endpoint share; outlives them.
struct HttpShared {
  HttpShared(HttpServing serving_given, boost::asio::io_context& context);

  HttpServing serving;
  WorkThread question_thread;
  WorkThread post_thread;
  std::shared_ptr<GuardDecisions> decisions;
  std::list<HttpSession*> waiting;    // oldest first
  std::list<HttpSession*> answering;  // oldest first
  std::list<HttpSession*> streaming;  // oldest first
  std::size_t large_bodies = 0;
  bool draining = false;
};

/// Serves a connection that was accepted. The session lives as long as something of it is pending.
void open_session(boost::asio::ip::tcp::socket socket, boost::asio::ip::address remote,
                  HttpShared& shared);

}  // namespace fairlead
