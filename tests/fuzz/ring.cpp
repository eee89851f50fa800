// Any text as a value of a replicated log's server, and any bytes as its stream: a commit that is
// read is written as the same; lines do not depend on how the stream is cut.
// The first byte of the input is the number of the slot and the size of the chunks.
#include <string>

#include "connectors/ring/line_stream.h"
#include "connectors/ring/ring_json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/ring/scripted_transport.h"

using namespace fairlead;

namespace {

void check_commit(std::string_view text, std::uint32_t slot) {
  const auto document = parse_json(text);
  if (document.has_error()) return;
  const auto commit = read_ring_json(document->root(), slot, "x");
  if (!commit) {
    check(commit.error().code == ErrorCode::corrupt, "what is no commit is called so");
    check(commit.error().message.starts_with("x"), "an error names the value");
    return;
  }
  check(commit->slots > 0 && commit->slot() == slot, "a commit is in its slot");
  const auto written = parse_json(ring_json(*commit));
  check(written.has_value(), "a commit is written as JSON");
  const auto again = read_ring_json(written->root(), slot, "x");
  check(again.has_value() && *again == *commit, "a commit is read as it is written");
}

// The lines that were read, and why the stream ended.
std::string lines_of(std::string_view text, std::size_t chunk) {
  model::VirtualTime time{LogTime{}};
  ScriptedTransport transport(time);
  std::string out;
  int ended = 0;
  LineStream::Handler handler;
  handler.line = [&](JsonView line) -> std::optional<Error> {
    out += canonical_text(line) + "\n";
    return std::nullopt;
  };
  handler.refused = [](const HttpResponse&) { return Error{ErrorCode::unavailable, "refused"}; };
  handler.ended = [&](Error why) {
    out += why.message;
    ++ended;
  };
  const LineStream stream(transport, {}, "the stream", std::move(handler));
  const HttpStreamHandler streamed = transport.streamed;
  streamed.opened();
  // A stream that is given up gets no more.
  for (std::size_t at = 0; at < text.size() && ended == 0; at += chunk)
    streamed.bytes(text.substr(at, chunk));
  if (ended == 0) streamed.ended(HttpResponse{200, {}, {}});
  check(ended == 1, "a stream ends once");
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = as_text(data + 1, size - 1);
  check_commit(text, data[0] % 8);
  check(lines_of(text, text.size() + 1) == lines_of(text, data[0] % 64 + 1),
        "lines do not depend on how a stream is cut");
  if (const auto slot = read_slot_number(text))
    check(std::to_string(*slot) == text, "the number of a slot has one text");
  return 0;
}
