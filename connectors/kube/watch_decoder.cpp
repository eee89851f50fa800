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

WatchStep WatchDecoder::next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', std::max(searched_, taken_));
    if (end == std::string::npos) {
      searched_ = buffer_.size();
      if (buffer_.size() - taken_ > line_bytes_max_)
        return {WatchStep::Kind::too_long,
                {},
                "a line is longer than " + std::to_string(line_bytes_max_) + " bytes"};
      return {};
    }
    const std::string_view line = std::string_view(buffer_).substr(taken_, end - taken_);
    taken_ = end + 1;
    searched_ = taken_;
    if (line.size() > line_bytes_max_)
      return {WatchStep::Kind::too_long,
              {},
              "a line is longer than " + std::to_string(line_bytes_max_) + " bytes"};
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return decode(line);
  }
}

WatchStep WatchDecoder::finish() {
  const std::string_view rest = std::string_view(buffer_).substr(taken_);
  WatchStep step;
  if (rest.find_first_not_of(" \t\r\n") != std::string_view::npos) step = decode(rest);
  reset();
  return step;
}

void WatchDecoder::reset() {
  buffer_.clear();
  taken_ = 0;
  searched_ = 0;
}

WatchStep WatchDecoder::decode(std::string_view line) const {
  auto malformed = [](std::string what) {
    return WatchStep{WatchStep::Kind::malformed, {}, std::move(what)};
  };
  JsonFault fault;
  auto document = parse_json(line, fault, line_bytes_max_);
  if (!document) return malformed("byte " + std::to_string(fault.offset) + ": " + fault.what);
  JsonView root = document->root();
  const std::string_view type = root["type"].string();
  WatchStep step;
  step.kind = WatchStep::Kind::event;
  step.event.emplace();
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
  step.event->document = std::move(*document);
  return step;
}

}  // namespace fairlead
