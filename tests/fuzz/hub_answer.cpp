// Any text as the answer of a hub elsewhere, and as a body that is stored in a log: it is read, or
// refused with a Result.
#include <sstream>

#include "engine/core/notice.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/log_page.h"
#include "engine/plan/claims/written_status.h"
#include "replay/audit/audit.h"
#include "replay/bundle/bundle_page.h"
#include "replay/whatif/write_comparison.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

void read_as_body(const std::string& text) {
  PatchIntended intent;
  intent.body = text;
  for (const auto& [kind, verb] : {std::pair{Kind::claim, Verb::apply_status},
                                   std::pair{Kind::workload, Verb::apply_status}}) {
    intent.target = {kind, "", "x"};
    intent.verb = verb;
    (void)notices_of(intent, text, Seq{1}, LogTime{});
    (void)text_of_write(intent);
  }
  (void)read_status(text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(as_text(data, size));
  for (const int status : {200, 400, 401, 500, 503}) {
    HttpResponse response;
    response.status = status;
    response.body = text;
    const Error error = hub_failure(response, "the hub");
    check(!error.message.empty(), "a failure has a message");
  }
  int asked = 0;
  const AskHub hub = [&](const std::string&) -> Result<std::string> {
    if (++asked > 3) return Error{ErrorCode::unavailable, "the end"};
    return text;
  };
  std::ostringstream out;
  (void)print_from_hub(hub, "cat", {}, LogOutput::text, out, out);
  (void)read_bundle_page(text);
  if (Json document = read_json(text); document.is_object()) {
    const AuditAnswer answer{std::move(document)};
    (void)if_well_shaped([&] { return audit_text(answer, {TextFor::terminal}); });
  }
  read_as_body(text);
  return 0;
}
