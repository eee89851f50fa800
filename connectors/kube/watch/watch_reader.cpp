#include "connectors/kube/watch/watch_reader.h"

#include <utility>

#include "connectors/kube/projection/projection.h"

namespace fairlead {
namespace {

constexpr int kBadLinesMax = 3;  // in a row, before everything is listed again

const LineFingerprint* pointer_to(const std::optional<LineFingerprint>& fingerprint) {
  return fingerprint ? &*fingerprint : nullptr;
}

}  // namespace

WatchReader::WatchReader(const WatchedCollection& collection, ObjectFacts& objects,
                         ReflectorCounters& counters)
    : collection_(collection),
      objects_(objects),
      counters_(counters),
      decoder_(LineFingerprinter(collection.kind()), [this](const LineFingerprint& fingerprint) {
        // A list has to see every object: one that it does not see is reported missing.
        return mode_ == Mode::watch && objects_.knows(fingerprint);
      }) {}

void WatchReader::begin_list() { begin(Mode::list); }
void WatchReader::begin_watch() { begin(Mode::watch); }

void WatchReader::begin(Mode mode) {
  decoder_.reset();
  useful_ = false;
  mode_ = mode;
}

// A line that cannot be read ends the stream, which is resumed from the last position. If the
// server sends such a line again and again, no position lies behind it: after kBadLinesMax a list
// does.
WatchReader::Step WatchReader::next(std::string_view& bytes) {
  WatchStep step = decoder_.next(bytes);
  switch (step.kind) {
    case WatchStep::Kind::need_more: return Step::need_more;
    case WatchStep::Kind::known: return read_known(*step.fingerprint);
    case WatchStep::Kind::event: return read_event(*step.event, pointer_to(step.fingerprint));
    case WatchStep::Kind::malformed:
    case WatchStep::Kind::too_long: break;
  }
  ++counters_.malformed;
  ++bad_lines_;
  fault_ = std::move(step.fault);
  if (mode_ == Mode::watch && bad_lines_ < kBadLinesMax) return Step::broken;
  bad_lines_ = 0;
  return Step::broken_for_good;
}

WatchReader::Step WatchReader::finish() {
  const WatchStep step = decoder_.finish();
  switch (step.kind) {
    case WatchStep::Kind::known: return read_known(*step.fingerprint);
    case WatchStep::Kind::event: return read_event(*step.event, pointer_to(step.fingerprint));
    case WatchStep::Kind::malformed: ++counters_.malformed; break;
    case WatchStep::Kind::need_more:
    case WatchStep::Kind::too_long: break;
  }
  return Step::need_more;
}

WatchReader::Step WatchReader::read_known(const LineFingerprint& fingerprint) {
  useful_ = true;
  bad_lines_ = 0;
  position_ = fingerprint.resource_version;
  objects_.handle_known(fingerprint);
  return Step::unchanged;
}

WatchReader::Step WatchReader::read_event(const WatchEvent& event,
                                          const LineFingerprint* fingerprint) {
  if (event.type == WatchEventType::error) return read_error(event.object());
  useful_ = true;
  bad_lines_ = 0;
  if (event.type == WatchEventType::bookmark) return read_bookmark(event.object());
  return read_object(event, fingerprint);
}

WatchReader::Step WatchReader::read_object(const WatchEvent& event,
                                           const LineFingerprint* fingerprint) {
  ++counters_.events;
  const Step step = mode_ == Mode::watch ? Step::changed : Step::listed;
  const JsonView object = event.object();
  const ObjectIdentity identity = identity_of(object);
  if (identity.name.empty()) {
    ++counters_.malformed;
    return step;
  }
  // The objects of a list come in any order of their versions: its position is the bookmark's at
  // its end. Objects that are not read move the position of a watch, too.
  if (mode_ == Mode::watch && !identity.resource_version.empty())
    position_ = identity.resource_version;
  if (!is_read(collection_.kind(), identity.name)) return step;
  if (event.type == WatchEventType::deleted)
    objects_.handle_deleted(object);
  else if (mode_ == Mode::list)
    objects_.list(object, event.line, fingerprint ? fingerprint->rest : LineFingerprint::Hash{});
  else
    objects_.handle_changed(object, identity, event.line, fingerprint);
  return step;
}

WatchReader::Step WatchReader::read_bookmark(JsonView object) {
  ++counters_.bookmarks;
  JsonView metadata = object["metadata"];
  const std::string_view version = metadata["resourceVersion"].string();
  if (mode_ == Mode::watch) {
    if (!version.empty()) position_ = version;
    return Step::bookmark;
  }
  if (metadata["annotations"]["k8s.io/initial-events-end"].string() != "true") return Step::listed;
  list_version_ = version;
  mode_ = Mode::watch;
  return Step::list_ended;
}

WatchReader::Step WatchReader::read_error(JsonView status) {
  const std::string_view reason = status["reason"].string();
  // A sender may give any 64-bit number; an HTTP status has three digits.
  failure_.code = static_cast<int>(status["code"].integer().value_or(0) % 1000);
  failure_.gone = failure_.code == 410 || reason == "Expired" || reason == "Gone";
  const bool is_status = status["kind"].string() == "Status";
  failure_.text = is_status ? status["message"].string() : "its object is no Status";
  return Step::failed;
}

}  // namespace fairlead
