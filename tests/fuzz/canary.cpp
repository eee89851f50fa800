// A planted fault, which libFuzzer must find without a seed. If it does not, the libraries are not
// instrumented, and the other targets try little more than their seeds.
//
// The fault is behind a library's reader of times. Without instrumentation of that library
// libFuzzer would have to guess eleven characters at once, which takes days.
#include "engine/base/time.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(!parse_rfc3339(as_text(data, size)), "the planted fault");
  return 0;
}
