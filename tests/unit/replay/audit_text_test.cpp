// What single lines of an answer say, where no scenario comes by.
#include <catch2/catch.hpp>

#include "engine/log/memory_log.h"
#include "replay/audit/explain.h"
#include "replay/audit/queue_changes.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

std::string words_of_sync(Kind kind) {
  return what_happened({Seq{4}, {}, Epoch{1}, "hub", {}, SourceSynced{kind, "", ""}}, {}, "cpu");
}

TEST_CASE("kinds are told in the plural") {
  CHECK(words_of_sync(Kind::node) == "Nodes of hub live");
  CHECK(words_of_sync(Kind::cluster_metrics) == "ClusterMetrics of hub live");
  CHECK(words_of_sync(Kind::binding_policy) == "BindingPolicies of hub live");
}

TEST_CASE("deciding events are told once, ascending") {
  MemoryLog log;
  REQUIRE(log.append(drafts(0, 9), LogTime{}, Epoch{1}).has_value());
  EventLookup lookup(log);
  const std::vector<Seq> seqs{Seq{8}, Seq{3}, Seq{8}, Seq{3}, Seq{5}};
  CHECK(seqs_json(seqs) == Json{3, 5, 8});
  CHECK(seqs_json({}) == Json::array());
  std::vector<std::uint64_t> told;
  for (const Json& row : because_rows(State{}, seqs, "cpu", lookup)) told.push_back(row["seq"]);
  CHECK(told == std::vector<std::uint64_t>{3, 5, 8});
}

TEST_CASE("an empty value of the configuration is told as such") {
  const Json place{{"seq", 1}, {"time", "1970-01-01T00:00:00Z"}};
  Json document{{"kind", "QuotaDiff"}, {"from", place}, {"to", place}};
  for (const char* part : {"claims", "workers", "capacity", "grants", "quotas"})
    document[part] = Json::array();
  document["configuration"] = Json::array(
      {{{"key", "capacity.headroom.percent"}, {"from", Json::object()}, {"to", nullptr}}});
  CHECK(audit_text({document}).find("capacity.headroom.percent  {}  ->  -\n") != std::string::npos);
}

}  // namespace
}  // namespace fairlead
