// Any file: it is read or refused with file and line, never a crash, never a hang.
#include "connectors/kube/document/object_input.h"

#include "tests/fuzz/fuzz.h"

using namespace fairlead;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<InputLine> lines;
  auto done = read_objects_text(as_text(data, size), "f", lines);
  if (done.has_error()) {
    check(done.error().code == ErrorCode::bad_input, "bad input is called so");
    check(done.error().message.starts_with("f:"), "an error names the file");
  }
  LogTime last;
  for (const InputLine& line : lines) {
    check(line.time >= last, "time does not go back");
    check(line.line >= 1, "lines count from 1");
    last = line.time;
  }
  return 0;
}
