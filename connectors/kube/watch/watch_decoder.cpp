#include "connectors/kube/watch/watch_decoder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "connectors/kube/document/json_index.h"

namespace fairlead {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

void set_malformed(WatchStep& step, std::string what) {
  step = {};
  step.kind = WatchStep::Kind::malformed;
  step.fault = std::move(what);
}

void set_malformed(WatchStep& step, const JsonFault& fault) {
  set_malformed(step, "byte " + std::to_string(fault.offset) + ": " + fault.what);
}

std::optional<WatchEventType> type_of(JsonView root) {
  const std::string_view type = root["type"].string();
  if (type == "MODIFIED") return WatchEventType::modified;
  if (type == "ADDED") return WatchEventType::added;
  if (type == "DELETED") return WatchEventType::deleted;
  if (type == "BOOKMARK") return WatchEventType::bookmark;
  if (type == "ERROR" || (type.empty() && root["kind"].string() == "Status"))
    return WatchEventType::error;
  return std::nullopt;
}

// What decoding a line needs. It grows with the lines, to several times their size, and of
// thousands of streams a thread reads one at a time.
struct LineWorkspace {
  JsonIndex index;
  JsonDocument document;
  std::vector<PlaceRange> left_out;  // of the line that was fingerprinted
};

LineWorkspace& line_workspace() {
  thread_local LineWorkspace lent;
  return lent;
}

}  // namespace

void WatchDecoder::feed(std::string_view bytes) {
  if (consumed_ > 0) {
    buffer_.erase(0, consumed_);
    searched_ -= std::min(searched_, consumed_);
    consumed_ = 0;
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
    const std::size_t end = buffer_.find('\n', std::max(searched_, consumed_));
    if (end == std::string::npos) {
      searched_ = buffer_.size();
      if (buffer_.size() - consumed_ > line_bytes_max_) return too_long();
      if (consumed_ == buffer_.size()) reset();  // a stream may be silent for hours
      return {};
    }
    const std::string_view line = std::string_view(buffer_).substr(consumed_, end - consumed_);
    consumed_ = end + 1;
    searched_ = consumed_;
    if (line.size() > line_bytes_max_) return too_long();
    if (!is_blank(line)) return decode(line);
  }
}

WatchStep WatchDecoder::next(std::string_view& bytes) {
  for (;;) {
    const std::size_t end = bytes.find('\n');
    if (consumed_ < buffer_.size()) {
      // A line that began in earlier bytes is completed in the buffer.
      WatchStep step = next();
      if (step.kind != WatchStep::Kind::need_more || bytes.empty()) return step;
      // Only to the end of this line: those behind it are read where they are.
      const std::string_view more = bytes.substr(0, end == bytes.npos ? end : end + 1);
      feed(more);
      bytes.remove_prefix(more.size());
      continue;
    }
    if (end == std::string_view::npos) {
      feed(std::exchange(bytes, {}));
      return next();
    }
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (line.size() > line_bytes_max_) return too_long();
    if (!is_blank(line)) return decode(line);
  }
}

WatchStep WatchDecoder::finish() {
  const std::string_view rest = std::string_view(buffer_).substr(consumed_);
  WatchStep step;
  consumed_ = searched_ = buffer_.size();  // (views of the step stay valid until the next call)
  if (rest.find_first_not_of(" \t\r\n") != std::string_view::npos) step = decode(rest);
  return step;
}

void WatchDecoder::reset() {
  std::string().swap(buffer_);
  consumed_ = 0;
  searched_ = 0;
}

// Behind the line there is a newline, or the NUL of the buffer.
WatchStep WatchDecoder::decode(std::string_view line) {
  WatchStep step;
  auto& [index, document, left_out] = line_workspace();
  if (!index.find(line)) {
    set_malformed(step, fault_of(line));
    return step;
  }
  if (fingerprinter_) step.fingerprint = fingerprinter_->fingerprint(index, left_out);
  if (step.fingerprint && is_known_(*step.fingerprint)) {
    step.kind = WatchStep::Kind::known;
    return step;
  }
  // Only of these does the reflector read nothing but facts, identity and version, so that fields
  // may be left out.
  const bool projected = step.fingerprint && (step.fingerprint->type == "ADDED" ||
                                              step.fingerprint->type == "MODIFIED");
  if (!projected) left_out.clear();
  // In place unless there is an escape to undo; then, and to find a fault, a copy is parsed.
  if (!parse_in_place(index, document, left_out)) {
    JsonFault fault;
    if (!parse_indexed(index, document, fault, left_out)) {
      set_malformed(step, fault);
      return step;
    }
  }
  const JsonView root = document.root();
  const auto type = type_of(root);
  if (!type) {
    set_malformed(step, "no watch event: its type is unknown");
  } else if (*type != WatchEventType::error && !root["object"].is(JsonKind::object)) {
    set_malformed(step, "a watch event without an object");
  } else {
    step.kind = WatchStep::Kind::event;
    step.event.emplace(WatchEvent{*type, root, line});
  }
  return step;
}

}  // namespace fairlead
