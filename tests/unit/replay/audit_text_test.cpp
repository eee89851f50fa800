// What single lines of an answer say, where no scenario comes by.
#include <catch2/catch.hpp>

#include "engine/log/memory_log.h"
#include "replay/audit/explain.h"
#include "replay/audit/queue_changes.h"
#include "replay/audit/readable_amount.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

std::string words_of_sync(Kind kind) {
  return what_happened({Seq{4}, {}, Epoch{1}, "hub", {}, SourceSynced{kind, "", ""}}, {}, "cpu");
}

TEST_CASE("kinds are printed in the plural") {
  CHECK(words_of_sync(Kind::node) == "Nodes of hub live");
  CHECK(words_of_sync(Kind::cluster_metrics) == "ClusterMetrics of hub live");
  CHECK(words_of_sync(Kind::binding_policy) == "BindingPolicies of hub live");
}

TEST_CASE("deciding events are listed once, ascending") {
  MemoryLog log;
  REQUIRE(log.append(drafts(0, 9), LogTime{}, Epoch{1}).has_value());
  EventLookup lookup(log);
  const std::vector<Seq> seqs{Seq{8}, Seq{3}, Seq{8}, Seq{3}, Seq{5}};
  CHECK(seqs_json(seqs) == Json{3, 5, 8});
  CHECK(seqs_json({}) == Json::array());
  std::vector<std::uint64_t> listed;
  for (const Json& row : because_rows(State{}, seqs, "cpu", lookup)) listed.push_back(row["seq"]);
  CHECK(listed == std::vector<std::uint64_t>{3, 5, 8});
}

TEST_CASE("an empty value of the configuration is reported as such") {
  const Json place{{"seq", 1}, {"time", "1970-01-01T00:00:00Z"}};
  Json document{{"kind", "QuotaDiff"}, {"from", place}, {"to", place}};
  for (const char* part : {"claims", "workers", "capacity", "grants", "quotas"})
    document[part] = Json::array();
  document["configuration"] = Json::array(
      {{{"key", "capacity.headroom.percent"}, {"from", Json::object()}, {"to", nullptr}}});
  CHECK(audit_text({document}).find("capacity.headroom.percent  {}  ->  -\n") != std::string::npos);
}

Json history_row(const char* before, const char* after, const char* writer, const char* outcome) {
  return {{"time", "1970-01-01T00:00:00.123456789Z"},
          {"seq", 7},
          {"flavor", "od"},
          {"resource", "cpu"},
          {"old", before},
          {"new", after},
          {"writer", writer},
          {"seen", nullptr},
          {"answer", {{"outcome", outcome}, {"seq", 8}}},
          {"because", Json::array({6})},
          {"rule", "shrink"},
          {"fieldManagers", Json::array()},
          {"text", std::string("od cpu ") + before + " -> " + after}};
}

TEST_CASE("a history has colours for a terminal alone, each with what it says in words") {
  const Json place{{"seq", 9}, {"time", "1970-01-01T00:00:00Z"}};
  const AuditAnswer answer{{{"kind", "QuotaHistory"},
                            {"asOf", place},
                            {"unseen", Json::array()},
                            {"effective", Json::array()},
                            {"rows",
                             {history_row("10", "8", "fairlead", "accepted"),
                              history_row("8", "9500m", "fairlead", "accepted"),
                              history_row("9500m", "1", "fairlead", "rejected"),
                              history_row("8", "8", "fairlead", "accepted")}}}};
  const std::string plain = audit_text(answer);
  CHECK(plain.find('\x1b') == std::string::npos);
  std::string shown = audit_text(answer, {TextFor::terminal});
  std::vector<std::string> codes;
  std::string stripped;
  for (std::size_t at = 0; at < shown.size(); ++at) {
    if (shown[at] != '\x1b') {
      stripped += shown[at];
      continue;
    }
    const std::size_t end = shown.find('m', at);
    codes.push_back(shown.substr(at + 2, end - at - 2));
    at = end;
  }
  CHECK(stripped == plain);
  CHECK(codes == std::vector<std::string>{"1", "0", "31", "0", "32", "0", "33", "0"});
}

TEST_CASE("a history shows since when a quota is in force, never earlier than that") {
  const auto in_force = [](const char* time) {
    Json row = history_row("1", "2", "fairlead", "accepted");
    row["tookEffect"] = {{"seq", 9}, {"time", time}};
    row["seen"] = row["tookEffect"];
    return row;
  };
  const AuditAnswer answer{
      {{"kind", "QuotaHistory"},
       {"unseen", Json::array()},
       {"effective", Json::array()},
       {"rows",
        {in_force("2026-11-21T14:06:55.123000001Z"), in_force("2026-11-21T14:06:56.1231Z"),
         in_force("2026-11-21T14:06:56.1239999Z"), in_force("2026-11-21T15:06:56.9999+01:00")}}}};
  const std::string text = audit_text(answer);
  // To the millisecond, up; more exact where the next change is within it.
  for (const char* line : {"\n2026-11-21T14:06:55.124Z ", "\n2026-11-21T14:06:56.1231Z ",
                           "\n2026-11-21T14:06:56.124Z ", "\n2026-11-21T15:06:57+01:00 "}) {
    INFO(text);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("amounts are readable, and exact where that is asked for") {
  const auto said = [](const char* resource, const char* amount) {
    return readable_amount(resource, amount);
  };
  CHECK(said("cpu", "547200m") == "547.2");
  CHECK(said("cpu", "-1500m") == "-1.5");
  CHECK(said("cpu", "2k") == "2000");
  CHECK(said("cpu", "5M") == "5M");
  CHECK(said("nvidia.com/gpu", "48") == "48");
  CHECK(said("memory", "782758232064") == "729Gi");
  CHECK(said("memory", "28346784153") == "26.4Gi");
  CHECK(said("memory", "764412336Ki") == "729Gi");
  CHECK(said("memory", "1023") == "1023");
  CHECK(said("hugepages-2Mi", "2Mi") == "2Mi");
  CHECK(said("memory", "8 or 10") == "8 or 10");
  CHECK(said("cpu", "1n") == "1n");
  CHECK(said("cpu", "-") == "-");
}

TEST_CASE("a difference fits the terminal, and two amounts that differ never read the same") {
  const auto capacity = [](const char* resource, const char* before, const char* after) {
    return Json{{"cluster", "a-cluster-with-a-long-name"},
                {"flavor", "on-demand"},
                {"resource", resource},
                {"from", {{"accepted", before}, {"state", "Accepted"}, {"usable", before}}},
                {"to", {{"accepted", after}, {"state", "Growing"}, {"usable", before}}}};
  };
  const AuditAnswer answer{
      {{"kind", "QuotaDiff"},
       {"from", {{"seq", 1}, {"time", "2026-11-21T14:00:00Z"}}},
       {"to", {{"seq", 9}, {"time", "2026-11-21T15:00:00Z"}}},
       {"capacity",
        {capacity("cpu", "547200m", "456"), capacity("memory", "782758232064", "782758232000")}}}};
  const std::string text = audit_text(answer);
  INFO(text);
  CHECK(text.find("accepted 547.2 -> 456") != std::string::npos);
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    CHECK(end - at <= 80);
  }
  const std::string wide = audit_text(answer, {.wide = true});
  CHECK(wide.find("accepted 547.2 -> 456, state") != std::string::npos);
  CHECK(wide.find("accepted 782758232064 -> 782758232000, state") != std::string::npos);
  CHECK(audit_text(answer, {.exact = true}).find("accepted 547200m -> 456") != std::string::npos);
}

}  // namespace
}  // namespace fairlead
