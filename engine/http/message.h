// One HTTP request and its reply, as a server sees them.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

/// What a client sends that cannot use Authorization: an API server's service proxy takes that one
/// for its own and does not pass it on.
inline constexpr std::string_view kHttpOwnAuthorization = "Fairlead-Authorization";

/// A request that was read whole, or its head. An empty header is one that was not sent.
struct ReceivedRequest {
  std::string method;
  std::string target;  ///< path and query, as the client sent them
  std::string host;
  std::string authorization;      ///< never to be stored or logged
  std::string own_authorization;  ///< the header kHttpOwnAuthorization; the same holds for it
  std::string accept;
  std::string content_type;
  std::string user_agent;
  std::string if_none_match;
  std::string accept_encoding;
  std::string body;

  /// The target without the query.
  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
};

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  int retry_after_seconds = 0;     ///< the Retry-After header; 0: none
  std::string headers = {};        ///< further header lines, each with its line break (CRLF)
  std::string etag = {};           ///< names the body; empty: it has no name
  std::string cache_control = {};  ///< empty: no-store
  std::string gzipped = {};        ///< the body as gzip; empty: not at hand
};

}  // namespace fairlead
