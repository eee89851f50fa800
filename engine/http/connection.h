// One connection of an HTTP/1.1 server: it reads requests one after the other, and writes their
// answers. What is answered, and which clients are served, is its handler's decision. The hub and
// the model of an API server share it: docs/decisions/0046-one-http-server-below-hub-and-model.md.
//
// A request that two readers may understand differently (RFC 9112: no Host or two, a transfer
// coding other than chunked, any in HTTP/1.0) gets 400 without its handler. A client that waits for
// `100 Continue` gets it when its head is accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "engine/base/time.h"
#include "engine/http/message.h"

namespace fairlead {

class ByteStream;

/// How long a client may send nothing, or read nothing, before its connection is closed.
struct HttpPatience {
  /// From a request's first byte, or from the beginning of the connection (a TLS handshake
  /// included), to the request's end. A client cannot extend it byte by byte.
  Duration header = seconds(5);
  Duration idle = seconds(30);    ///< between the end of an answer and the next request
  Duration answer = seconds(10);  ///< for the client to read an answer
};

/// The thread of a server. Its functions may be called from any thread.
class HttpLoop {
 public:
  virtual ~HttpLoop() = default;
  /// Runs `work` on the server's thread, unless the server ends before.
  virtual void post(std::function<void()> work) = 0;
};

/// Used on the server's thread only. It lives as long as one of its operations is pending, or as
/// long as another owner shares it: that one gives it back on the server's thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  virtual ~HttpConnection() = default;
  virtual HttpLoop& loop() = 0;
  /// The client's IP address.
  virtual const std::string& remote() const = 0;
  /// The request that is answered, or its head while its body is not read yet.
  virtual const ReceivedRequest& request() const = 0;

  /// Answers the request.
  virtual void reply(const HttpReply& reply) = 0;
  /// Answers the request with a stream without a length, which begins with `bytes`, a head
  /// included. The handler sends, and closes the connection at the end; what the client sends is
  /// dropped.
  virtual void begin_stream(std::string bytes) = 0;
  /// Sends more of a stream. Call it when nothing is being sent.
  virtual void send(std::string bytes) = 0;
  virtual bool is_sending() const = 0;
  /// Calls HttpHandler::woken() after `delay`. One such call is pending at a time.
  virtual void wake_after(Duration delay) = 0;

  /// Closes the connection at once.
  virtual void close() = 0;
  /// The server ends: closes the connection unless something of a request has come, which is
  /// answered first.
  virtual void drain() = 0;
  virtual bool is_draining() const = 0;
};

/// Handles the requests of one connection, which owns it. All calls are made on the server's
/// thread.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// A head has come. `length` is the body's; nullopt: the head does not say it. Returns how many
  /// bytes the body may have, or the reply that refuses it unread.
  virtual std::variant<std::uint64_t, HttpReply> expect_body(
      std::optional<std::uint64_t> length) = 0;
  /// Returns the reply to a body of more bytes than expect_body() allowed.
  virtual HttpReply body_too_long() = 0;
  /// A request is whole. It gets its one HttpConnection::reply() or begin_stream() now or later.
  virtual void answer() = 0;
  /// An answer was sent. The next request, or the end, is waited for.
  virtual void answered() {}
  /// What was to be sent of a stream was sent.
  virtual void sent() {}
  virtual void woken() {}
  /// The connection is closed, by either side. Called once, and nothing after it.
  virtual void closed() {}
};
using MakeHttpHandler = std::function<std::unique_ptr<HttpHandler>(HttpConnection&)>;

/// What a connection gets when it is opened.
struct HttpOpening {
  std::unique_ptr<ByteStream> stream;
  std::string remote;
  HttpLoop& loop;
  HttpPatience patience;
  std::function<void()> ended;  ///< called by its destructor
};
/// Serves a connection that was accepted.
std::shared_ptr<HttpConnection> open_connection(HttpOpening opening, const MakeHttpHandler& make);

}  // namespace fairlead
