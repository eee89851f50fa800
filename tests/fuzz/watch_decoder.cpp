// Any bytes in any chunks: the same events come out however the stream is cut.
#include "connectors/kube/watch/watch_decoder.h"

#include <string>

#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

constexpr std::size_t kLineBytesMax = 512;

std::string events(std::string_view text, std::size_t chunk) {
  WatchDecoder decoder(kLineBytesMax);
  std::string out;
  auto note = [&](const WatchStep& step) {
    if (step.kind == WatchStep::Kind::event)
      out += std::to_string(static_cast<int>(step.event->type)) +
             canonical_text(step.event->object()) + "\n";
    if (step.kind == WatchStep::Kind::malformed) out += "!\n";
    return step.kind;
  };
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    decoder.feed(text.substr(at, chunk));
    for (;;) {
      const WatchStep::Kind kind = note(decoder.next());
      if (kind == WatchStep::Kind::need_more) break;
      if (kind == WatchStep::Kind::too_long) return out + ">";
    }
  }
  note(decoder.finish());
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t chunk = data[0] % 64 + 1;
  const std::string_view text = as_text(data + 1, size - 1);
  const std::string whole = events(text, text.size() + 1);
  check(whole == events(text, chunk), "events do not depend on how a stream is cut");
  return 0;
}
