// Questions about the super cluster pool on every scenario of it, at every event: the answers agree
// with each other and with what was written.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "engine/fold/pool/annotations.h"
#include "tests/support/sample.h"
#include "tests/unit/replay/audit_trace.h"
#include "tests/unit/replay/what_if_asked.h"

namespace fairlead {
namespace {

std::vector<std::filesystem::path> pool_scenarios() {
  std::vector<std::filesystem::path> paths;
  for (const auto& path : scenario_files())
    if (scenario_name(path).starts_with("pool/")) paths.push_back(path);
  return paths;
}

// The objects of tenants of this kind that a log is about.
std::set<AuditPlacement, bool (*)(const AuditPlacement&, const AuditPlacement&)> objects_in(
    const MemoryLog& log, Kind kind) {
  const auto before = [](const AuditPlacement& a, const AuditPlacement& b) {
    return std::tie(a.tenant, a.namespace_, a.pod) < std::tie(b.tenant, b.namespace_, b.pod);
  };
  std::set<AuditPlacement, bool (*)(const AuditPlacement&, const AuditPlacement&)> found(+before);
  auto reader = log.read(log.first_seq());
  REQUIRE(reader.has_value());
  for (auto event = (*reader)->next(); event && *event; event = (*reader)->next()) {
    const auto* seen = std::get_if<ObjectObserved>(&(*event)->fact);
    if (!seen || !is_tenant((*event)->source) || seen->key.kind != kind) continue;
    const std::string tenant(tenant_of((*event)->source));
    if (kind == Kind::pod)
      found.insert({tenant, seen->key.namespace_, seen->key.name});
    else
      found.insert({tenant, seen->key.name, ""});
  }
  return found;
}

Int128 exact(const Json& text, const std::string& resource) {
  const auto quantity = Quantity::parse(text.get<std::string>());
  REQUIRE(quantity);
  return to_amount(resource, *quantity);
}

// Each row's numbers follow from each other.
void check_row(const Json& document, const Json& row) {
  INFO(to_text(row));
  const Json& placements = document["placements"];
  const auto id = row["id"].get<std::string>();
  CHECK(row["slices"].get<std::int64_t>() == placements.value(id, std::int64_t{0}));
  if (row["state"] != "open") CHECK(row["room"] == 0);
  if (row["usable"].is_null() || document["slice"].is_null()) return;
  std::int64_t fit = INT64_MAX;
  for (const std::string resource : {"cpu", "memory"}) {
    const Int128 left =
        exact(row["usable"][resource], resource) - exact(row["others"][resource], resource);
    const Int128 one = exact(document["slice"][resource], resource);
    fit = std::min(fit, saturate(left < 0 ? Int128{0} : left / one));
  }
  if (row["state"] == "open") CHECK(row["room"].get<std::int64_t>() == fit);
  if (!document.contains("pod"))
    CHECK(row.contains("short") == (fit <= row["slices"].get<std::int64_t>()));
}

void check_why(const MemoryLog& log, const AuditPlacement& object, Seq seq) {
  const AuditSource source{log, nullptr};
  const auto why = audit_why_placement(source, object, seq, {});
  if (!why) {
    CHECK(why.error().code == ErrorCode::bad_input);  // not there yet, or gone
    return;
  }
  const Json& document = why->document;
  for (const Json& row : document["clusters"]) check_row(document, row);
  for (const Json& change : document["changes"]) {
    CHECK(change["rule"].get<std::string>().starts_with("pool/"));
    CHECK_FALSE(change["facts"].empty());
  }
  CHECK_FALSE(audit_text(*why).empty());
  auto why_not = audit_why_not_placement(source, object, seq, {});
  REQUIRE(why_not.has_value());
  CHECK_FALSE(audit_text(*why_not).empty());
  why_not->document["kind"] = "PlacementWhy";
  CHECK(why_not->document == document);
}

// The tenant's current values are those that its history leads to.
void check_placement_history(const MemoryLog& log, const AuditPlacement& object) {
  const AuditSource source{log, nullptr};
  const auto history = audit_history_placements(source, object, log.first_seq(), log.last_seq());
  REQUIRE(history.has_value());
  Json value;
  for (const Json& row : history->document["rows"]) {
    CHECK(row["old"] == value);
    CHECK(row["old"] != row["new"]);
    value = row["new"];
  }
  auto reader = log.read(log.first_seq());
  REQUIRE(reader.has_value());
  std::optional<std::string> placements;
  for (auto event = (*reader)->next(); event && *event; event = (*reader)->next()) {
    if ((*event)->source != tenant_source(object.tenant)) continue;
    if (const auto* gone = std::get_if<ObjectGone>(&(*event)->fact);
        gone && gone->key == ObjectKey{Kind::namespace_, "", object.namespace_})
      placements.reset();
    const auto* seen = std::get_if<ObjectObserved>(&(*event)->fact);
    if (seen && seen->key == ObjectKey{Kind::namespace_, "", object.namespace_})
      placements = std::get<NamespaceFacts>(seen->facts).placements;
  }
  INFO(to_text(history->document));
  const auto slices = read_placements(placements, INT64_MAX);
  const std::string text = placements ? slices ? placements_text(*slices) : *placements : "null";
  CHECK((value.is_string() ? value.get<std::string>() : to_text(value)) == text);
}

TEST_CASE(
    "audit: rooms add up and histories lead to current values, on every scenario of the pool") {
  std::size_t asked = 0;
  for (const std::filesystem::path& path : pool_scenarios()) {
    DYNAMIC_SECTION(scenario_name(path)) {
      const AuditTrace trace = read_trace(path);
      MemoryLog log;
      rehearse(trace, log);
      const auto namespaces = objects_in(log, Kind::namespace_);
      const auto pods = objects_in(log, Kind::pod);
      // A history without answers is one in which each write stays a wish.
      const auto& arguments = trace.head.arguments;
      if (std::find(arguments.begin(), arguments.end(), "--no-feedback") == arguments.end())
        for (const AuditPlacement& object : namespaces) check_placement_history(log, object);
      const std::uint64_t last = log.last_seq().value;
      for (std::uint64_t seq = 1; seq <= last;
           seq += std::max<std::uint64_t>(1, last / sample(8))) {
        for (const AuditPlacement& object : namespaces) check_why(log, object, Seq{seq});
        for (const AuditPlacement& object : pods) check_why(log, object, Seq{seq});
        ++asked;
      }
      CHECK(asked > 0);
    }
  }
}

TEST_CASE("a what-if of another policy names the tenants whose placements differ") {
  MemoryLog log;
  rehearse(read_trace("tests/scenarios/pool/worked-example.txt"), log);
  const WhatIf result = asked(log, under({"pool.policy=spread"}));
  const std::string text = what_if_text(result);
  INFO(text);
  CHECK_FALSE(result.differences.empty());
  CHECK(text.find("Namespace web of tenant/acme") != std::string::npos);
  CHECK(text.find(R"(none -> {"r1":3,"r2":3})") != std::string::npos);
  CHECK(text.find("NOT AFFECTED") == std::string::npos);
}

TEST_CASE("a what-if names the namespaces that have a policy of their own") {
  MemoryLog log;
  rehearse(read_trace("tests/scenarios/pool/slices-spread.txt"), log);
  const WhatIf result = asked(log, under({"pool.policy=pack"}));
  const Json document = to_json(result);
  INFO(to_text(document));
  REQUIRE(document["overridden"].size() == 1);
  const Json& row = document["overridden"][0];
  CHECK(row["setting"] == "pool.policy");
  CHECK(row["name"] == "tight");
  CHECK(row["source"] == "tenant/acme");
  CHECK(row["annotation"] == "fairlead.io/pool-policy");
  CHECK(row["value"] == "pack");
  CHECK(what_if_text(result).find("Namespace tight of tenant/acme") != std::string::npos);
}

TEST_CASE("a what-if names the VirtualClusters that have a limit of their own") {
  MemoryLog log;
  rehearse(read_trace("tests/scenarios/pool/tenant-limit-beats-the-default.txt"), log);
  const Json document = to_json(asked(log, under({R"(pool.tenantLimit={"memory":"8Gi"})"})));
  INFO(to_text(document));
  REQUIRE(document["overridden"].size() == 1);  // that of bolt cannot be read
  CHECK(document["overridden"][0]["setting"] == "pool.tenantLimit");
  CHECK(document["overridden"][0]["kind"] == "VirtualCluster");
  CHECK(document["overridden"][0]["value"] == "{}");
}

}  // namespace
}  // namespace fairlead
