// Any text as an annotation of a tenant: it is read or refused; what was read is within its bounds,
// and its canonical text is read as the same.
#include <string>

#include "engine/fold/pool/annotations.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

constexpr std::int64_t kSlicesMax = 1000;

void check_placements(const std::string& text) {
  const auto slices = read_placements(text, kSlicesMax);
  if (!slices) return;
  std::int64_t sum = 0;
  for (const auto& [id, count] : *slices) {
    check(is_super_cluster_id(id), "an id is one");
    check(count >= 0 && count <= kSlicesMax - sum, "the sum is bounded");
    sum += count;
  }
  check(read_placements(placements_text(*slices), kSlicesMax) == slices,
        "the canonical text is read as the same");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(as_text(data, size));
  check_placements(text);
  if (const auto slice = read_slice(text))
    check(slice->cpu > 0 && slice->memory > 0, "a slice has both");
  if (const auto limit = read_limit(text))
    for (const auto& [resource, amount] : *limit)
      check((resource == "cpu" || resource == "memory") && amount >= 0,
            "a limit is of both at most");
  return 0;
}
