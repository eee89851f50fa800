// Node selectors, requirement by requirement, and the four ways in which a device reaches nodes.
#include <catch2/catch.hpp>

#include "engine/devices/node_reach.h"

namespace fairlead {
namespace {

using Values = std::vector<std::string>;

const Labels kLabels{{"zone", "a"}, {"rack", "7"}, {"example.com/gpu", ""}, {"big", "x9"}};

bool label(const std::string& key, const std::string& op, Values values = {}) {
  return matches({{{{{key, op, std::move(values)}}, {}}}}, "n1", kLabels);
}
bool field(const std::string& key, const std::string& op, Values values = {}) {
  return matches({{{{}, {{key, op, std::move(values)}}}}}, "n1", kLabels);
}

TEST_CASE("In wants the label with one of the values") {
  CHECK(label("zone", "In", {"b", "a"}));
  CHECK_FALSE(label("zone", "In", {"b"}));
  CHECK_FALSE(label("absent", "In", {"a"}));
  CHECK(label("example.com/gpu", "In", {""}));
}

TEST_CASE("NotIn and DoesNotExist match where the label is absent") {
  CHECK(label("absent", "NotIn", {"a"}));
  CHECK(label("zone", "NotIn", {"b"}));
  CHECK_FALSE(label("zone", "NotIn", {"a"}));
  CHECK(label("absent", "DoesNotExist"));
  CHECK_FALSE(label("zone", "DoesNotExist"));
  CHECK(label("zone", "Exists"));
  CHECK_FALSE(label("absent", "Exists"));
}

TEST_CASE("Gt and Lt compare integers") {
  CHECK(label("rack", "Gt", {"6"}));
  CHECK_FALSE(label("rack", "Gt", {"7"}));
  CHECK(label("rack", "Lt", {"10"}));
  CHECK_FALSE(label("rack", "Lt", {"7"}));
  CHECK_FALSE(label("absent", "Lt", {"7"}));
  CHECK_FALSE(label("big", "Gt", {"1"}));
  CHECK_FALSE(label("rack", "Lt", {"99999999999999999999"}));
}

TEST_CASE("a requirement that the API would refuse matches nothing") {
  CHECK_FALSE(label("zone", "in", {"a"}));
  CHECK_FALSE(label("absent", "NotIn", {}));
  CHECK_FALSE(label("zone", "Exists", {"a"}));
  CHECK_FALSE(label("absent", "DoesNotExist", {"a"}));
  CHECK_FALSE(label("rack", "Gt", {"1", "2"}));
  CHECK_FALSE(label("rack", "Gt", {"-6"}));
  CHECK_FALSE(label("rack", "Gt", {"+6"}));
  CHECK_FALSE(label("absent", "NotIn", {"not a value"}));
  CHECK_FALSE(label("absent", "NotIn", {std::string(64, 'a')}));
  CHECK_FALSE(label("example.com/", "DoesNotExist"));
}

TEST_CASE("a field is the node's name, compared with one value") {
  CHECK(field("metadata.name", "In", {"n1"}));
  CHECK_FALSE(field("metadata.name", "In", {"n2"}));
  CHECK(field("metadata.name", "NotIn", {"n2"}));
  CHECK_FALSE(field("metadata.name", "NotIn", {"n1"}));
  CHECK_FALSE(field("metadata.name", "In", {"n1", "n2"}));
  CHECK_FALSE(field("metadata.name", "Exists"));
  CHECK_FALSE(field("metadata.uid", "NotIn", {"n2"}));
}

TEST_CASE("a selector matches by one of its terms, a term by all of its requirements") {
  const NodeRequirement zone_a{"zone", "In", {"a"}}, zone_b{"zone", "In", {"b"}};
  const NodeRequirement here{"metadata.name", "In", {"n1"}};
  const NodeRequirement there{"metadata.name", "In", {"n2"}};
  CHECK(matches({{{{zone_b}, {}}, {{zone_a}, {here}}}}, "n1", kLabels));
  CHECK_FALSE(matches({{{{zone_a, zone_b}, {}}}}, "n1", kLabels));
  CHECK_FALSE(matches({{{{zone_a}, {there}}}}, "n1", kLabels));
  CHECK_FALSE(matches({{{}}}, "n1", kLabels));
  CHECK_FALSE(matches({}, "n1", kLabels));
}

TEST_CASE("a device reaches what its slice does, or says it itself") {
  ResourceSliceFacts slice;
  slice.reach = {NodeReachKind::node, "n1", {}};
  slice.devices.resize(2);
  slice.devices[1].extras.emplace().reach = {NodeReachKind::all, {}, {}};
  for (const DeviceFacts& device : slice.devices) {
    CHECK(reaches(reach_of(slice, device), "n1", kLabels));
    CHECK_FALSE(reaches(reach_of(slice, device), "n2", kLabels));
  }
  slice.reach.kind = NodeReachKind::devices;
  CHECK_FALSE(reaches(reach_of(slice, slice.devices[0]), "n1", kLabels));
  CHECK(reaches(reach_of(slice, slice.devices[1]), "n2", kLabels));
  slice.reach = {NodeReachKind::selector, {}, {{{{{"zone", "In", {"a"}}}, {}}}}};
  CHECK(reaches(reach_of(slice, slice.devices[0]), "n2", kLabels));
  CHECK_FALSE(reaches(reach_of(slice, slice.devices[0]), "n2", {}));
  slice.reach = {};
  CHECK_FALSE(reaches(reach_of(slice, slice.devices[0]), "n1", kLabels));
}

}  // namespace
}  // namespace fairlead
