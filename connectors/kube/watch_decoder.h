// The bytes of a watch stream, cut into watch events. Does no I/O.
//
// A stream is JSON documents, one a line; a line may span chunks and a chunk may hold many lines.
// The last line may lack its newline (a Status that a server leaves behind as it closes) or be cut
// short; finish() tells the two apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "connectors/kube/json_document.h"

namespace fairlead {

/// Longest line of a watch stream. A line beyond it breaks the stream.
inline constexpr std::size_t kWatchLineBytesMax = kJsonBytesMax;

enum class WatchEventType : std::uint8_t { added, modified, deleted, bookmark, error };

/// One notification. `object` is a view into `document`, which moves with it.
struct WatchEvent {
  WatchEventType type = WatchEventType::error;
  JsonDocument document;

  JsonView object() const {
    JsonView inner = document.root()["object"];
    return inner.given() ? inner : document.root();  // a bare Status stands for an ERROR event
  }
};

/// What next() found.
struct WatchStep {
  enum class Kind : std::uint8_t {
    event,      ///< `event` is set
    need_more,  ///< no complete line is buffered
    malformed,  ///< a line that is no watch event (`fault`); it has been skipped
    too_long,   ///< a line beyond the limit: the stream cannot be read on
  };
  Kind kind = Kind::need_more;
  std::optional<WatchEvent> event;
  std::string fault;
};

class WatchDecoder {
 public:
  explicit WatchDecoder(std::size_t line_bytes_max = kWatchLineBytesMax)
      : line_bytes_max_(line_bytes_max) {}

  /// Appends what arrived. Call next() until it needs more.
  void feed(std::string_view bytes);
  WatchStep next();
  /// The stream has ended: the unfinished last line, if it is a whole document. need_more if
  /// nothing was left over, malformed if it was cut short.
  WatchStep finish();
  /// Forgets everything: a new stream begins.
  void reset();

 private:
  WatchStep decode(std::string_view line) const;

  std::size_t line_bytes_max_;
  std::string buffer_;
  std::size_t taken_ = 0;     // bytes of buffer_ that were handed out
  std::size_t searched_ = 0;  // bytes of buffer_ known to hold no newline behind taken_
};

}  // namespace fairlead
