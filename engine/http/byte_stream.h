// The bytes of one accepted connection, plain or TLS. Asio stays behind it.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/time.h"

namespace boost::asio::ssl {
class context;
}

namespace fairlead {

/// At most one read and one write are pending at a time. Used on the thread of its io_context only,
/// where callbacks are called too. The owner keeps the stream, and the bytes it passes, until then.
class ByteStream {
 public:
  /// Gets the number of bytes that were read or written; nullopt: the operation failed, the client
  /// left, the deadline passed, or close() was called.
  using Done = std::function<void(std::optional<std::size_t>)>;

  virtual ~ByteStream() = default;
  /// Does the TLS handshake; of a plain stream calls `done` at once.
  virtual void handshake(Done done) = 0;
  virtual void read_some(std::span<char> into, Done done) = 0;
  /// Writes all of `bytes`.
  virtual void write(std::string_view bytes, Done done) = 0;
  /// Ends sending. With TLS it first exchanges close_notify alerts with the client; without TLS it
  /// calls `done` at once.
  virtual void shutdown(Done done) = 0;
  /// Ends sending, and drops what the client sends. Calls `done` when the client closes the
  /// connection or the deadline passes.
  virtual void discard(Done done) = 0;
  /// What is pending by then fails.
  virtual void expire_after(Duration patience) = 0;
  virtual void expire_never() = 0;
  /// Calls `done` after `delay`, with nullopt if close() comes first. One is pending at a time.
  virtual void wait(Duration delay, Done done) = 0;
  /// Whether the client has sent what was not read.
  virtual bool has_unread() = 0;
  virtual void close() = 0;
};

/// A stream of `socket`, with TLS if there are settings for it. It keeps what it needs of them.
std::unique_ptr<ByteStream> make_byte_stream(boost::asio::ip::tcp::socket socket,
                                             boost::asio::ssl::context* tls);

}  // namespace fairlead
