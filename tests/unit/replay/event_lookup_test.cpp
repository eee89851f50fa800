#include "engine/log/memory_log.h"
#include "replay/audit/audit_moment.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

TEST_CASE("events that were expected are the same as those asked for one by one") {
  MemoryLog log;
  for (int commit = 0; commit < 100; ++commit)
    REQUIRE(log.append(drafts(10 * commit, 10), LogTime{} + seconds(commit), Epoch{1}).has_value());
  // In no order, twice, far apart, none, and behind the end.
  const std::vector<Seq> seqs{Seq{77}, Seq{3},   Seq{3},    Seq{0},    Seq{78},   Seq{80},
                              Seq{1},  Seq{900}, Seq{1000}, Seq{1001}, Seq{2000}, Seq{901}};
  EventLookup expecting(log), asking(log);
  expecting.expect(seqs);
  for (const Seq seq : seqs) {
    const Event* expected = expecting.at(seq);
    const Event* asked = asking.at(seq);
    REQUIRE((expected == nullptr) == (asked == nullptr));
    if (expected != nullptr) CHECK(*expected == *asked);
    CHECK((expected == nullptr) == (seq == Seq{0} || seq > Seq{1000}));
    CHECK(expecting.place(seq) == asking.place(seq));
  }
  expecting.expect(seqs);
  CHECK(expecting.at(Seq{500})->seq == Seq{500});
}

}  // namespace
}  // namespace fairlead
