// Requests and answers of the model, without a transport: an HTTP server or a test passes them in.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"

namespace fairlead::model {

/// One request, with those headers that the model reads.
struct ApiRequest {
  std::string method;  ///< upper case
  std::string path;    ///< decoded
  std::map<std::string, std::string> query;
  std::string accept;
  std::string content_type;
  std::string user_agent;
  std::string if_none_match;
  std::string body;

  std::string query_value(const std::string& name) const;
  /// Reads a flag as Go's strconv.ParseBool: `true`, `1`; everything else is false.
  bool query_flag(const std::string& name) const;
};

/// Splits `/path?a=b` and decodes both.
ApiRequest parse_target(std::string_view method, std::string_view target);

/// The lines of one watch, which the model adds as objects change.
///
/// Only the thread that owns the model may use it. `on_ready` is called whenever a line or the end
/// was added.
class WatchStream {
 public:
  explicit WatchStream(std::size_t lines_max) : lines_max_(lines_max) {}

  /// Removes and returns the next line with its newline; nullopt if there is none now.
  std::optional<std::string> next();
  /// Whether no line will follow (an ERROR was sent, the kind is gone, or the reader was too slow).
  bool ended() const { return ended_ && lines_.empty(); }
  void on_ready(std::function<void()> notify) { notify_ = std::move(notify); }

  /// Adds a line. A reader that lets more than lines_max wait loses the stream, so that memory
  /// stays bounded.
  void push(std::string line);
  void end();

 private:
  std::size_t lines_max_;
  std::vector<std::string> lines_;
  std::size_t read_ = 0;
  bool ended_ = false;
  std::function<void()> notify_;
};

/// One answer: a body, or a stream of watch lines.
struct ApiAnswer {
  int code = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::string> warnings;  ///< texts of Warning headers
  std::optional<int> retry_after;
  std::string etag;                    ///< the value of that header; empty: none
  std::shared_ptr<WatchStream> watch;  ///< set for a watch that has begun
  int watch_seconds = 0;  ///< when the watch is to be closed; 0 means the server's choice
};
/// Returns a 200 with `body`.
ApiAnswer json_answer(const Json& body);

}  // namespace fairlead::model
