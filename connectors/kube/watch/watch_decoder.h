// The bytes of a watch stream, cut into watch events. Does no I/O.
//
// A stream is JSON documents, one per line; a line may span chunks and a chunk may hold many lines.
// The last line may lack its newline (a Status that a server leaves behind as it closes) or be cut
// short; finish() distinguishes the two.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/watch/line_fingerprint.h"

namespace fairlead {

/// Longest line of a watch stream. A line beyond it breaks the stream.
inline constexpr std::size_t kWatchLineBytesMax = kJsonBytesMax;

enum class WatchEventType : std::uint8_t { added, modified, deleted, bookmark, error };

/// One notification. Its views refer to the decoder's buffers, to the bytes that next() was given
/// and to what all decoders of a thread share: they are valid until the next call of any.
struct WatchEvent {
  WatchEventType type = WatchEventType::error;
  JsonView root;
  std::string_view line;  ///< its text

  JsonView object() const {
    JsonView inner = root["object"];
    return inner.given() ? inner : root;  // a bare Status counts as an ERROR event
  }
};

/// The result of next().
struct WatchStep {
  enum class Kind : std::uint8_t {
    event,      ///< `event` is set
    known,      ///< `fingerprint` is set: the line repeats known facts, and was not read
    need_more,  ///< no complete line is buffered
    malformed,  ///< a line that is no watch event (`fault`); it has been skipped
    too_long,   ///< a line beyond the limit: the stream cannot be read on
  };
  Kind kind = Kind::need_more;
  std::optional<WatchEvent> event;
  std::optional<LineFingerprint> fingerprint;  ///< if the decoder makes one and the line allows it
  std::string fault;
};

class WatchDecoder {
 public:
  explicit WatchDecoder(std::size_t line_bytes_max = kWatchLineBytesMax)
      : line_bytes_max_(line_bytes_max) {}
  /// Makes the fingerprint of each line first. A line for which `is_known` returns true is not
  /// read; in objects of ADDED and MODIFIED the fields that no projection reads become null. Views
  /// refer to the line.
  WatchDecoder(LineFingerprinter fingerprinter,
               std::function<bool(const LineFingerprint&)> is_known)
      : WatchDecoder() {
    fingerprinter_.emplace(std::move(fingerprinter));
    is_known_ = std::move(is_known);
  }

  /// Appends what arrived. Call next() until it needs more.
  void feed(std::string_view bytes);
  WatchStep next();
  /// As feed() and next(), without a copy of lines that are whole in `bytes`: removes what it read
  /// from the front of `bytes`. When it returns need_more, `bytes` is empty.
  WatchStep next(std::string_view& bytes);
  /// The stream has ended: returns its unfinished last line, if it is a whole document; need_more
  /// if there is none, malformed if it was cut short.
  WatchStep finish();
  /// Drops all buffered bytes for a new stream.
  void reset();

 private:
  WatchStep decode(std::string_view line);
  WatchStep too_long() const;

  std::size_t line_bytes_max_;
  std::string buffer_;
  std::size_t consumed_ = 0;  // bytes of buffer_ that were handed out
  std::size_t searched_ = 0;  // bytes of buffer_ known to hold no newline behind consumed_
  std::optional<LineFingerprinter> fingerprinter_;
  std::function<bool(const LineFingerprint&)> is_known_;
};

}  // namespace fairlead
