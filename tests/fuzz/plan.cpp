// Any objects: the engine plans over them with its parts switched on, and plans the same again.
#include <algorithm>

#include "engine/log/memory_log.h"
#include "replay/dry_run.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

constexpr std::size_t kLinesMax = 100;

Configuration configuration() {
  Configuration all;
  all.multikueue.dispatcher = true;
  all.dra.dispatch = all.dra.fleet_claims = true;
  all.dra.steps_max = 1000;
  all.pool.clusters.emplace_back().name = "*";
  return all;
}

std::vector<PlannedWrite> planned(const std::vector<InputLine>& lines) {
  MemoryLog log;
  DryRun run(log, {configuration(), Feedback::assumed, lines.back().time + hours(1)});
  (void)run.run(lines);
  return run.writes();
}

bool is_same(const PlannedWrite& a, const PlannedWrite& b) {
  return a.seq == b.seq && a.time == b.time && a.intent == b.intent;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<InputLine> lines;
  if (read_objects_text(as_text(data, size), "f", lines).has_error()) return 0;
  if (lines.empty() || lines.size() > kLinesMax) return 0;
  const auto once = planned(lines), again = planned(lines);
  check(std::equal(once.begin(), once.end(), again.begin(), again.end(), is_same),
        "the same objects give the same writes");
  return 0;
}
