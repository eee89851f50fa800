// A planted fault. libFuzzer must find it within its runs, from nothing: if it does not, it is not
// told where the code has been, and the other targets see little more than their seeds.
//
// It is behind a reader of a library, so that it takes the library's instrumentation: blindly the
// eleven characters and more of a time are not found in days.
#include "engine/base/time.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(!parse_rfc3339(as_text(data, size)), "the planted fault");
  return 0;
}
