// What-ifs that are asked for again and again until they are done, as the audit page does.
#include "engine/main/service/what_if_runs.h"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/unit/replay/audit_trace.h"
#include "tests/unit/replay/what_if_asked.h"

namespace fairlead {
namespace {

WhatIfQuestion with(std::string setting) { return {{"", {std::move(setting)}}, "", ""}; }

WhatIfProgress ask(WhatIfRuns& runs, const ServedLog& served, const WhatIfQuestion& question) {
  const auto progress = runs.ask(served, question);
  REQUIRE(progress.has_value());
  return *progress;
}

std::shared_ptr<const FinishedWhatIf> finish(WhatIfRuns& runs, const ServedLog& served,
                                             const WhatIfQuestion& question) {
  WhatIfProgress progress = ask(runs, served, question);
  for (Seq before{}; !progress.finished; progress = ask(runs, served, question)) {
    CHECK(progress.seq > before);
    CHECK(progress.seq < progress.last);
    before = progress.seq;
  }
  return progress.finished;
}

ServedLog served_trace() {
  const auto log = std::make_shared<MemoryLog>();
  rehearse(read_trace("tests/scenarios/debounce/flapping-node-is-suppressed.txt"), *log);
  ServedLog served;
  served.log = log;
  return served;
}

TEST_CASE("one what-if is folded at a time, in parts, and its answer is kept") {
  const ServedLog served = served_trace();
  const WhatIfQuestion first = with("debounce.growWindow=10s");
  const WhatIfQuestion other = with("debounce.growWindow=20s");
  WhatIfRuns runs(3);
  CHECK_FALSE(ask(runs, served, first).finished);
  const WhatIfProgress waits = ask(runs, served, other);
  CHECK_FALSE(waits.finished);
  CHECK(waits.seq == Seq{});
  const auto answer = finish(runs, served, first);
  CHECK(to_json(answer->result) == to_json(asked(*served.log, under({"debounce.growWindow=10s"}))));
  CHECK(to_json(finish(runs, served, other)->result) ==
        to_json(asked(*served.log, under({"debounce.growWindow=20s"}))));
  CHECK(ask(runs, served, first).finished == answer);
}

TEST_CASE("a what-if that no page asks for any more is given up for another one") {
  const ServedLog served = served_trace();
  WhatIfRuns runs(3);
  CHECK_FALSE(ask(runs, served, with("debounce.growWindow=10s")).finished);
  CHECK(ask(runs, served, with("debounce.growWindow=20s")).seq == Seq{});
  std::this_thread::sleep_for(kWhatIfPatience);
  CHECK(ask(runs, served, with("debounce.growWindow=20s")).seq > Seq{});
}

TEST_CASE("answers about another log are not kept, and a bad question ends nothing") {
  const WhatIfQuestion question = with("debounce.growWindow=10s");
  WhatIfRuns runs(3);
  const ServedLog served = served_trace();
  CHECK_FALSE(ask(runs, served, question).finished);
  CHECK_FALSE(runs.ask(served, with("debounce.nothing=10s")).has_value());
  CHECK_FALSE(runs.ask(served, {}).has_value());
  finish(runs, served, question);
  ServedLog other;
  const auto log = std::make_shared<MemoryLog>();
  rehearse(read_trace("tests/scenarios/division/lower-tier-loses-first.txt"), *log);
  other.log = log;
  CHECK(to_json(finish(runs, other, question)->result) ==
        to_json(asked(*log, under({"debounce.growWindow=10s"}))));
}

}  // namespace
}  // namespace fairlead
