// The bytes of a watch stream, cut into watch events. Does no I/O.
//
// A stream is JSON documents, one a line; a line may span chunks and a chunk may hold many lines.
// The last line may lack its newline (a Status that a server leaves behind as it closes) or be cut
// short; finish() tells the two apart.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kube/json_document.h"
#include "connectors/kube/json_index.h"
#include "connectors/kube/watch_glance.h"

namespace fairlead {

/// Longest line of a watch stream. A line beyond it breaks the stream.
inline constexpr std::size_t kWatchLineBytesMax = kJsonBytesMax;

enum class WatchEventType : std::uint8_t { added, modified, deleted, bookmark, error };

/// One notification. What it shows stands in the decoder's buffers, or in the bytes that next() was
/// given, until its next call.
struct WatchEvent {
  WatchEventType type = WatchEventType::error;
  JsonView root;
  std::string_view line;  ///< its text

  JsonView object() const {
    JsonView inner = root["object"];
    return inner.given() ? inner : root;  // a bare Status stands for an ERROR event
  }
};

/// What next() found.
struct WatchStep {
  enum class Kind : std::uint8_t {
    event,      ///< `event` is set
    known,      ///< `glance` is set: it says what is known already, and was not read
    need_more,  ///< no complete line is buffered
    malformed,  ///< a line that is no watch event (`fault`); it has been skipped
    too_long,   ///< a line beyond the limit: the stream cannot be read on
  };
  Kind kind = Kind::need_more;
  std::optional<WatchEvent> event;
  std::optional<WatchGlance> glance;  ///< if the decoder glances and the line can be glanced at
  std::string fault;
};

class WatchDecoder {
 public:
  explicit WatchDecoder(std::size_t line_bytes_max = kWatchLineBytesMax)
      : line_bytes_max_(line_bytes_max) {}
  /// Glances at each line first; what `is_known` says yes to is not read, and of objects that are
  /// there, fields that no projection reads are null. Views are the line's.
  WatchDecoder(WatchGlancer glancer, std::function<bool(const WatchGlance&)> is_known)
      : WatchDecoder() {
    glancer_.emplace(std::move(glancer));
    is_known_ = std::move(is_known);
  }

  /// Appends what arrived. Call next() until it needs more.
  void feed(std::string_view bytes);
  WatchStep next();
  /// As feed() and next(), without a copy of lines that are whole in `bytes`: takes off the front
  /// of `bytes` what it read. When it needs more, it has taken all.
  WatchStep next(std::string_view& bytes);
  /// The stream has ended: the unfinished last line, if it is a whole document. need_more if
  /// nothing was left over, malformed if it was cut short.
  WatchStep finish();
  /// Forgets everything: a new stream begins.
  void reset();

 private:
  WatchStep decode(std::string_view line);
  WatchStep too_long() const;

  std::size_t line_bytes_max_;
  std::string buffer_;
  std::size_t taken_ = 0;     // bytes of buffer_ that were handed out
  std::size_t searched_ = 0;  // bytes of buffer_ known to hold no newline behind taken_
  std::optional<WatchGlancer> glancer_;
  std::vector<PlaceRange> left_out_;  // of the line that was glanced at
  std::function<bool(const WatchGlance&)> is_known_;
  JsonIndex index_;
  JsonDocument document_;
};

}  // namespace fairlead
