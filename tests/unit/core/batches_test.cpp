#include "engine/core/batches.h"

#include <catch2/catch.hpp>
#include <string>

namespace fairlead {
namespace {

WatchFact node(const std::string& name, const std::string& version, const std::string& uid = "u") {
  ObjectSeen seen;
  seen.key = {Kind::node, "", name};
  seen.uid = uid;
  seen.resource_version = version;
  seen.facts = NodeFacts{};
  return {"cluster2", seen};
}
WatchFact gone(const std::string& name) {
  return {"cluster2", ObjectMissing{{Kind::node, "", name}, "", ""}};
}

std::string shape(const std::vector<std::vector<WatchFact>>& batches) {
  std::string text;
  for (const auto& batch : batches) {
    text += "[";
    for (const WatchFact& fact : batch) {
      if (const auto* seen = std::get_if<ObjectSeen>(&fact.said))
        text += seen->key.name + seen->resource_version;
      if (const auto* missing = std::get_if<ObjectMissing>(&fact.said))
        text += "-" + missing->key.name;
      if (std::holds_alternative<ListCompleted>(fact.said)) text += "list";
      text += " ";
    }
    text.back() = ']';
  }
  return text;
}

TEST_CASE("a batch holds no object twice: the newest state of a burst stays") {
  CHECK(shape(into_batches({node("a", "1"), node("b", "2"), node("a", "3")}, 10)) == "[a3 b2]");
  CHECK(shape(into_batches({node("a", "1"), gone("a"), node("a", "3", "v")}, 10)) ==
        "[a1][-a][a3]");
  CHECK(shape(into_batches({node("a", "1", "u"), node("a", "2", "v")}, 10)) == "[a1][a2]");
}

TEST_CASE("a state of a lower version, or of one without an order, is left to ingest") {
  CHECK(shape(into_batches({node("a", "5"), node("a", "3")}, 10)) == "[a5][a3]");
  CHECK(shape(into_batches({node("a", "x"), node("a", "y")}, 10)) == "[ax][ay]");
}

TEST_CASE("a batch is bounded, and the same name elsewhere is another object") {
  CHECK(shape(into_batches({node("a", "1"), node("b", "2"), node("c", "3")}, 2)) == "[a1 b2][c3]");
  WatchFact other = node("a", "2");
  other.source = "cluster3";
  CHECK(shape(into_batches({node("a", "1"), other}, 10)) == "[a1 a2]");
  const WatchFact list{"cluster2", ListCompleted{Kind::node, "9"}};
  CHECK(shape(into_batches({node("a", "1"), list, list}, 10)) == "[a1 list][list]");
  CHECK(into_batches({}, 10).empty());
}

}  // namespace
}  // namespace fairlead
