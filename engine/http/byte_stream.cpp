#include "engine/http/byte_stream.h"

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <type_traits>
#include <utility>

namespace fairlead {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using boost::system::error_code;

using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

std::chrono::nanoseconds span_of(Duration duration) {
  return std::chrono::nanoseconds(duration.ns);
}

// `Stream` is one of the two.
template <class Stream>
class AsioStream final : public ByteStream {
 public:
  template <class... Arguments>
  explicit AsioStream(Arguments&&... arguments)
      : stream_(std::forward<Arguments>(arguments)...), timer_(stream_.get_executor()) {}

  void handshake(Done done) override {
    if constexpr (kTls)
      stream_.async_handshake(TlsStream::server, without_bytes(std::move(done)));
    else
      done(0);
  }
  void read_some(std::span<char> into, Done done) override {
    stream_.async_read_some(asio::buffer(into.data(), into.size()), with_bytes(std::move(done)));
  }
  void write(std::string_view bytes, Done done) override {
    asio::async_write(stream_, asio::buffer(bytes.data(), bytes.size()),
                      with_bytes(std::move(done)));
  }
  void shutdown(Done done) override {
    if constexpr (kTls) {
      stream_.async_shutdown([this, done = std::move(done)](error_code error) {
        end_sending();
        without_bytes(done)(error);
      });
    } else {
      end_sending();
      done(0);
    }
  }
  // A TLS client's answer to a shutdown cannot be waited for here: it may be in what is unread.
  void discard(Done done) override {
    end_sending();
    drop_some(std::move(done));
  }
  void expire_after(Duration patience) override { lowest().expires_after(span_of(patience)); }
  void expire_never() override { lowest().expires_never(); }
  void wait(Duration delay, Done done) override {
    timer_.expires_after(span_of(delay));
    timer_.async_wait(without_bytes(std::move(done)));
  }
  bool has_unread() override {
    error_code gone;
    return lowest().socket().available(gone) > 0;
  }
  void close() override {
    timer_.cancel();
    lowest().close();
  }

 private:
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

  static auto with_bytes(Done done) {
    return [done = std::move(done)](error_code error, std::size_t bytes) {
      done(error ? std::nullopt : std::optional(bytes));
    };
  }
  static auto without_bytes(Done done) {
    return [done = std::move(done)](error_code error) {
      done(error ? std::nullopt : std::optional<std::size_t>(0));
    };
  }
  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }
  void end_sending() {
    error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
  }
  void drop_some(Done done) {
    // Ends when the client closes the connection, or at the deadline, which covers this read too.
    lowest().async_read_some(asio::buffer(dropped_),
                             [this, done = std::move(done)](error_code error, std::size_t) {
                               if (error) return done(std::nullopt);
                               drop_some(done);
                             });
  }

  Stream stream_;
  asio::steady_timer timer_;
  std::array<char, 4096> dropped_{};
};

}  // namespace

std::unique_ptr<ByteStream> make_byte_stream(tcp::socket socket, asio::ssl::context* tls) {
  if (tls != nullptr) return std::make_unique<AsioStream<TlsStream>>(std::move(socket), *tls);
  return std::make_unique<AsioStream<PlainStream>>(std::move(socket));
}

}  // namespace fairlead
