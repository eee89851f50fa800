#include "connectors/kube/transport/response_reader.h"

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <charconv>

#include "connectors/kube/transport/http_client.h"

namespace fairlead {
namespace http = boost::beast::http;

ResponseReader::ResponseReader() {
  parser_.body_limit(boost::none);
  parser_.header_limit(kAnswerHeadMax);
  parser_.eager(true);
}

void ResponseReader::feed(std::string_view bytes, const OnBody& on_body, ErrorCondition& error) {
  parser_.get().body().on_body = &on_body;
  if (pending_.empty()) {
    bytes.remove_prefix(parse(bytes, error));
    pending_.assign(bytes);
  } else {
    pending_.append(bytes);
    pending_.erase(0, parse(pending_, error));
    if (pending_.empty()) std::string().swap(pending_);  // a stream may be silent for hours
  }
  // The parser uses every byte of a body at once; what it leaves waits for the end of a line or of
  // the header fields.
  endless_ = !error && !parser_.is_done() && pending_.size() > kUnreadMax;
  if (endless_) error = http::error::header_limit;
}

// Returns how much it used.
std::size_t ResponseReader::parse(std::string_view bytes, ErrorCondition& error) {
  std::size_t used = 0;
  while (!parser_.is_done() && used < bytes.size()) {
    const std::size_t consumed =
        parser_.put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
    used += consumed;
    const bool hungry = error == http::error::need_more;
    if (hungry) error = {};
    if (error || consumed == 0) break;
  }
  return used;
}

std::string ResponseReader::fault(const ErrorCondition& error) const {
  if (!endless_) return error.message();
  return "the head, a chunk's extension or the trailers of the answer are longer than " +
         std::to_string(kUnreadMax) + " bytes";
}

void ResponseReader::end(ErrorCondition& error) {
  // put_eof only after a byte: Beast would turn an empty stream into a complete answer of 200.
  if (parser_.got_some()) parser_.put_eof(error);
}

void ResponseReader::copy_head(HttpResponse& out) const {
  out.status = status();
  out.retry_after = retry_after();
  out.etag = std::string(parser_.get()[http::field::etag]);
}

std::optional<Duration> ResponseReader::retry_after() const {
  const auto text = parser_.get()[http::field::retry_after];
  std::int64_t count = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed != std::errc{} || end != text.data() + text.size() || count < 0) return std::nullopt;
  return seconds(std::min<std::int64_t>(count, 86'400));
}

}  // namespace fairlead
