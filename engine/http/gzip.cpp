#include "engine/http/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include "engine/base/check.h"

namespace fairlead {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;

// zlib takes the largest window with gzip's head instead of its own by this number.
constexpr int kWindowWithGzipHead = 15 + 16;
constexpr int kMemoryLevel = 8;  // zlib's own

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Of one element: `;q=0` means that the client refuses it.
bool is_refused(const http::param_list& parameters) {
  for (const auto& [name, value] : parameters)
    if (beast::iequals(name, "q"))
      return value.starts_with('0') && value.find_first_of("123456789") == value.npos;
  return false;
}

}  // namespace

std::string gzip(std::string_view text, GzipEffort effort) {
  z_stream stream{};
  const int level = effort == GzipEffort::once ? Z_BEST_COMPRESSION : Z_BEST_SPEED;
  check(deflateInit2(&stream, level, Z_DEFLATED, kWindowWithGzipHead, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib: no memory");
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  // zlib does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  check(ended == Z_STREAM_END, "zlib: deflateBound is a bound");
  return out;
}

// Not by http::ext_list: in Boost 1.81 it gives an element without parameters the parameters of the
// element before it.
bool accepts_gzip(std::string_view accept_encoding) {
  bool any = false;
  while (!accept_encoding.empty()) {
    const std::size_t comma = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view element = accept_encoding.substr(0, comma);
    accept_encoding.remove_prefix(std::min(comma + 1, accept_encoding.size()));
    const std::size_t semicolon = std::min(element.find(';'), element.size());
    const std::string_view coding = trimmed(element.substr(0, semicolon));
    const bool taken = !is_refused(http::param_list(element.substr(semicolon)));
    if (beast::iequals(coding, "gzip")) return taken;
    if (coding == "*") any = taken;
  }
  return any;
}

}  // namespace fairlead
