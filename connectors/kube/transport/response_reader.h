// One answer of a server, read from its bytes as they come. Beast's parser stays behind it:
// included by http_client.cpp and its test only.
#pragma once

#include <boost/asio/error.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/kube/transport/http_connection.h"
#include "engine/base/time.h"

namespace fairlead {

/// The head of an answer, in bytes, at most.
inline constexpr std::size_t kAnswerHeadMax = std::size_t{64} << 10;
/// Bytes that a server may have sent of one line of the framing (a chunk's size and extension), or
/// of the head or the trailers, and that a reader keeps until its end has come. Chunks say nothing
/// that is used, so only a server that sends without end has longer ones.
inline constexpr std::size_t kUnreadMax = std::size_t{128} << 10;

struct HttpResponse;

/// A body that is not kept: each piece is passed on where it lies.
struct PassedBody {
  struct value_type {
    const std::function<bool(std::string_view)>* on_body = nullptr;  ///< false ends the reading
  };
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(boost::beast::http::header<is_request, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, ErrorCondition& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, ErrorCondition& error) {
      error = {};
      std::size_t taken = 0;
      for (const auto piece : boost::beast::buffers_range_ref(buffers)) {
        if (piece.size() == 0) continue;
        taken += piece.size();
        const std::string_view text(static_cast<const char*>(piece.data()), piece.size());
        if ((*body_.on_body)(text)) continue;
        error = boost::asio::error::operation_aborted;
        break;
      }
      return taken;
    }
    void finish(ErrorCondition& error) { error = {}; }

   private:
    value_type& body_;
  };
};

/// Keeps at most kUnreadMax bytes and one piece that it was fed, however the answer is framed.
class ResponseReader {
 public:
  /// Gets the body in pieces; false ends the reading.
  using OnBody = std::function<bool(std::string_view)>;

  ResponseReader();
  /// Reads more of the answer. `error` is set if it is not HTTP, or if something but the body goes
  /// on without an end.
  void feed(std::string_view bytes, const OnBody& on_body, ErrorCondition& error);
  /// The server has closed the connection: an answer without a length ends here. An answer that has
  /// not begun stays incomplete.
  void end(ErrorCondition& error);

  /// What feed() failed for, for a person.
  std::string fault(const ErrorCondition& error) const;

  bool has_header() const { return parser_.is_header_done(); }
  bool done() const { return parser_.is_done(); }
  /// Whether another request may follow on the connection. Not where the server has sent more than
  /// the answer: that would be read as the next one.
  bool keep_alive() const { return parser_.keep_alive() && pending_.empty(); }
  int status() const { return static_cast<int>(parser_.get().result_int()); }
  void copy_head(HttpResponse& out) const;

 private:
  std::optional<Duration> retry_after() const;

  std::size_t parse(std::string_view bytes, ErrorCondition& error);

  boost::beast::http::response_parser<PassedBody> parser_;
  std::string pending_;   // that the parser has not used
  bool endless_ = false;  // what is pending, as far as can be waited for
};

}  // namespace fairlead
