#include "connectors/kube/watch_decoder.h"

#include <algorithm>

namespace fairlead {

void WatchDecoder::feed(std::string_view bytes) {
  if (taken_ > 0) {
    buffer_.erase(0, taken_);
    searched_ -= std::min(searched_, taken_);
    taken_ = 0;
  }
  buffer_.append(bytes);
}

WatchStep WatchDecoder::too_long() const {
  WatchStep step;
  step.kind = WatchStep::Kind::too_long;
  step.fault = "a line is longer than " + std::to_string(line_bytes_max_) + " bytes";
  return step;
}

WatchStep WatchDecoder::next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', std::max(searched_, taken_));
    if (end == std::string::npos) {
      searched_ = buffer_.size();
      if (buffer_.size() - taken_ > line_bytes_max_) return too_long();
      return {};
    }
    const std::string_view line = std::string_view(buffer_).substr(taken_, end - taken_);
    taken_ = end + 1;
    searched_ = taken_;
    if (line.size() > line_bytes_max_) return too_long();
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return decode(line);
  }
}

WatchStep WatchDecoder::finish() {
  const std::string_view rest = std::string_view(buffer_).substr(taken_);
  WatchStep step;
  taken_ = searched_ = buffer_.size();  // (what the step shows stays until the next call)
  if (rest.find_first_not_of(" \t\r\n") != std::string_view::npos) step = decode(rest);
  return step;
}

void WatchDecoder::reset() {
  buffer_.clear();
  taken_ = 0;
  searched_ = 0;
}

WatchStep WatchDecoder::decode(std::string_view line) {
  auto malformed = [](std::string what) {
    WatchStep step;
    step.kind = WatchStep::Kind::malformed;
    step.fault = std::move(what);
    return step;
  };
  JsonFault fault;
  if (!index_.find(line)) {
    fault = fault_of(line);
    return malformed("byte " + std::to_string(fault.offset) + ": " + fault.what);
  }
  WatchStep step;
  if (glancer_) step.glance = glancer_->glance(index_, left_out_);
  if (step.glance && is_known_(*step.glance)) {
    step.kind = WatchStep::Kind::known;
    return step;
  }
  // Only of these is nothing read but the projection, the identity and the version.
  const bool projected =
      step.glance && (step.glance->type == "ADDED" || step.glance->type == "MODIFIED");
  if (!projected) left_out_.clear();
  if (!parse_indexed(index_, document_, fault, left_out_))
    return malformed("byte " + std::to_string(fault.offset) + ": " + fault.what);
  JsonView root = document_.root();
  const std::string_view type = root["type"].string();
  step.kind = WatchStep::Kind::event;
  step.event.emplace();
  step.event->root = root;
  step.event->line = line;
  if (type == "ADDED")
    step.event->type = WatchEventType::added;
  else if (type == "MODIFIED")
    step.event->type = WatchEventType::modified;
  else if (type == "DELETED")
    step.event->type = WatchEventType::deleted;
  else if (type == "BOOKMARK")
    step.event->type = WatchEventType::bookmark;
  else if (type == "ERROR" || (type.empty() && root["kind"].string() == "Status"))
    step.event->type = WatchEventType::error;
  else
    return malformed("no watch event: its type is unknown");
  if (step.event->type != WatchEventType::error && !root["object"].is(JsonKind::object))
    return malformed("a watch event without an object");
  return step;
}

}  // namespace fairlead
