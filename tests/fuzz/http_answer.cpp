// Any bytes as the answer of a server, in any chunks: the same answer comes out however it is cut.
// The first byte chooses the size of the chunks, its highest bit whether the server then closes.
#include <algorithm>
#include <string>

#include "connectors/kube/transport/http_client.h"
#include "connectors/kube/transport/response_reader.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

struct ReadAnswer {
  bool failed = false;
  bool has_head = false, done = false, keeps = false;
  HttpResponse head;
  std::string body;
};

ReadAnswer read_answer(std::string_view text, std::size_t chunk, bool closes) {
  ReadAnswer out;
  ResponseReader reader;
  const ResponseReader::OnBody keep = [&](std::string_view piece) {
    out.body += piece;
    return true;
  };
  ErrorCondition error;
  for (std::size_t at = 0; at < text.size() && !error; at += chunk)
    reader.feed(text.substr(at, chunk), keep, error);
  if (closes && !error) reader.end(error);
  out.failed = static_cast<bool>(error);
  if (out.failed) check(!reader.fault(error).empty(), "a fault is named");
  out.has_head = reader.has_header();
  out.done = reader.done();
  if (!out.has_head) return out;
  out.keeps = reader.keep_alive();
  reader.copy_head(out.head);
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = as_text(data + 1, size - 1);
  const bool closes = data[0] >= 128;
  const ReadAnswer whole = read_answer(text, text.size() + 1, closes);
  const ReadAnswer cut = read_answer(text, data[0] % 64 + 1, closes);
  // Beast may see at once, or only at the end of a head, that this is none; neither is an answer.
  if (whole.failed != cut.failed)
    check(!whole.has_head && !cut.has_head, "a fault does not depend on how an answer is cut");
  check(whole.body.size() <= text.size(), "a body has no bytes that were not sent");
  if (whole.failed || cut.failed) return 0;
  check(whole.has_head == cut.has_head && whole.done == cut.done && whole.keeps == cut.keeps,
        "an answer ends at the same byte");
  check(whole.body == cut.body, "a body does not depend on how an answer is cut");
  check(whole.head.status == cut.head.status && whole.head.etag == cut.head.etag &&
            whole.head.retry_after == cut.head.retry_after,
        "nor does its head");
  return 0;
}
