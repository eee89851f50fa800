#include "engine/base/json.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

TEST_CASE("Members of a document of any shape are read") {
  const Json document{{"text", "a"}, {"number", 5}, {"list", {1}}, {"minus", -1}, {"half", 0.5}};
  CHECK(text_in(document, "text") == "a");
  CHECK(text_in(document, "number").empty());
  CHECK(natural_in(document, "number") == 5);
  for (const char* name : {"text", "minus", "half", "absent"}) CHECK(!natural_in(document, name));
  CHECK(list_in(document, "list").size() == 1);
  for (const char* name : {"text", "absent"}) CHECK(list_in(document, name).empty());
  CHECK(member(document, "absent").is_null());
  for (const Json& other : {Json(), Json(5), Json("text"), Json::array({"text"})}) {
    CHECK(member(other, "text").is_null());
    CHECK(text_in(other, "text").empty());
  }
}

TEST_CASE("A document that is nested without end is refused, not recursed into") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "\"\\\"[[\"" + std::string(depth, ']');
  };
  CHECK(read_json(nested(kJsonNestingMax)).is_array());
  CHECK(read_json(nested(kJsonNestingMax + 1)).is_discarded());
  CHECK(read_json(std::string(200'000, '[')).is_discarded());
  CHECK(read_own_json("{").is_null());
}

TEST_CASE("access to a value of another shape throws, in a release too") {
  const Json document{{"kind", 5}};
  CHECK(!if_well_shaped([&] { return document["absent"].is_null(); }));
  CHECK(!if_well_shaped([&] { return document.value("kind", ""); }));
  CHECK(!if_well_shaped([&] { return document["kind"]["a"].is_null(); }));
  CHECK(if_well_shaped([&] { return document["kind"] == 5; }) == true);
}

}  // namespace
}  // namespace fairlead
