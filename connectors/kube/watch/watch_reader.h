// Reads a watch stream: its bytes become facts of objects, and steps that its owner acts on.
//
// A stream is either a list that goes on as a watch (it ends with a bookmark of its own), or a
// watch from a known version. The reader keeps the version that the stream has reached, from which
// another one can go on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "connectors/kube/watch/object_facts.h"
#include "connectors/kube/watch/reflector_output.h"
#include "connectors/kube/watch/watch_decoder.h"
#include "connectors/kube/watch/watched_collection.h"

namespace fairlead {

/// Not thread-safe; the reflector owns it.
class WatchReader {
 public:
  /// What one line led to.
  enum class Step : std::uint8_t {
    need_more,        ///< no complete line is left
    unchanged,        ///< a line of a watch that repeats known facts
    changed,          ///< an event of a watch
    bookmark,         ///< of a watch
    listed,           ///< an event of a list
    list_ended,       ///< at list_version(); a watch follows
    failed,           ///< an ERROR event: failure()
    broken,           ///< a line that cannot be read: fault()
    broken_for_good,  ///< as broken, in a list or too often in a row: the position is of no use
  };
  /// What an ERROR event says.
  struct Failure {
    int code = 0;
    bool gone = false;  ///< the version to watch from is too old
    std::string text;
  };

  /// The references outlive this.
  WatchReader(const WatchedCollection& collection, ObjectFacts& objects,
              ReflectorCounters& counters);
  WatchReader(const WatchReader&) = delete;
  WatchReader& operator=(const WatchReader&) = delete;

  /// A stream of that kind is requested; what is buffered of the last one is dropped.
  void begin_list();
  void begin_watch();
  /// The stream is given up.
  void stop() { decoder_.reset(); }

  /// Reads one line, and removes what it read from the front of `bytes`.
  Step next(std::string_view& bytes);
  /// The stream has ended: reads what it left without a newline. Never broken: a cut line is only
  /// counted.
  Step finish();

  /// Whether the stream brought an event.
  bool useful() const { return useful_; }
  /// The version to resume from; empty if none is known.
  const std::string& position() const { return position_; }
  void set_position(std::string resource_version) { position_ = std::move(resource_version); }
  /// Of the last step, if that is what it led to.
  const std::string& list_version() const { return list_version_; }
  const Failure& failure() const { return failure_; }
  const std::string& fault() const { return fault_; }

 private:
  enum class Mode : std::uint8_t { list, watch };

  void begin(Mode mode);
  Step read_known(const LineFingerprint& fingerprint);
  Step read_event(const WatchEvent& event, const LineFingerprint* fingerprint);
  Step read_object(const WatchEvent& event, const LineFingerprint* fingerprint);
  Step read_bookmark(JsonView object);
  Step read_error(JsonView status);

  const WatchedCollection& collection_;
  ObjectFacts& objects_;
  ReflectorCounters& counters_;
  WatchDecoder decoder_;
  Mode mode_ = Mode::list;
  bool useful_ = false;
  int bad_lines_ = 0;  // in a row
  std::string position_;
  std::string list_version_;
  Failure failure_;
  std::string fault_;
};

}  // namespace fairlead
