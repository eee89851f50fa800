#include "engine/fold/capacity/capacity.h"

#include <catch2/catch.hpp>

namespace fairlead::capacity_test {
namespace {

Labels labels_of(const std::map<std::string, std::string>& labels) { return Labels(labels); }

ResourceFlavorFacts flavor_with(std::map<std::string, std::string> labels) {
  return {std::move(labels), {}, {}, ""};
}

NodeFacts node_with(std::map<std::string, std::string> labels, std::vector<Taint> taints = {}) {
  NodeFacts node;
  node.labels = labels_of(labels);
  node.taints = std::move(taints);
  node.ready = true;
  return node;
}

// Who wins the cpu of a node among all of these.
std::string winner(const NodeFacts& node, const Flavors& flavors) {
  FlavorTables tables;
  tables.by_name = flavors;
  return winning_flavor(node, tables, "cpu");
}

TEST_CASE("capacity: the flavor with most labels wins a node, then the first by name") {
  const Flavors flavors = {{"any", flavor_with({})},
                           {"b", flavor_with({{"type", "gpu"}})},
                           {"c", flavor_with({{"type", "gpu"}})},
                           {"zone", flavor_with({{"type", "gpu"}, {"zone", "1"}})}};
  CHECK(winner(node_with({{"type", "gpu"}, {"zone", "1"}, {"x", "y"}}), flavors) == "zone");
  CHECK(winner(node_with({{"type", "gpu"}, {"zone", "2"}}), flavors) == "b");
  CHECK(winner(node_with({}), flavors) == "any");
  CHECK(winner(node_with({{"type", "cpu"}}), {{"b", flavors.at("b")}}).empty());
  CHECK(winner(node_with({}), {}).empty());
}

TEST_CASE("capacity: of flavors with equal labels the nodeTaints decide") {
  const Taint reserved{"reserved", "", "NoSchedule"}, spot{"spot", "true", "NoExecute"};
  const Taint soft{"soft", "", "PreferNoSchedule"};
  const Flavors flavors = {{"a-both", {{}, {reserved, spot}, {}, ""}},
                           {"b-reserved", {{}, {reserved, soft}, {}, ""}},
                           {"c-plain", {}}};
  CHECK(winner(node_with({}), flavors) == "c-plain");  // the others' taints it lacks
  CHECK(winner(node_with({}, {reserved}), flavors) == "b-reserved");
  CHECK(winner(node_with({}, {reserved, spot}), flavors) == "a-both");
  CHECK(winner(node_with({}, {{"other", "", "NoSchedule"}}), flavors) == "c-plain");
}

TEST_CASE("capacity: only a taint that a flavor names may let another flavor win") {
  const Taint reserved{"reserved", "", "NoSchedule"}, broken{"broken", "", "NoExecute"};
  const Flavors flavors = {{"a", {{}, {reserved}, {}, ""}}, {"b", {}}};
  CHECK_FALSE(taints_may_decide({}, {}, flavors));
  CHECK_FALSE(taints_may_decide({}, {broken}, flavors));
  CHECK_FALSE(taints_may_decide({reserved}, {broken, reserved}, flavors));
  CHECK(taints_may_decide({}, {reserved}, flavors));
  CHECK(taints_may_decide({broken, reserved}, {broken}, flavors));
}

TEST_CASE("capacity: candidates are the flavors that stand with a resource, or all") {
  const Flavors flavors = {{"cheap", {}}, {"default", {}}, {"gpu", flavor_with({{"gpu", "yes"}})}};
  const ResourceAliases aliases = {{"gpu", "nvidia.com/gpu"}};
  const CandidateTable table = candidates_of({{"cpu", {"default"}},
                                              {"memory", {"default"}},
                                              {"gpu", {"gpu"}},
                                              {"tpu", {"not there"}},
                                              {"pods", {"cheap", "default", "gpu"}}},
                                             flavors, aliases);
  CHECK(table.sets == 3);
  CHECK(table.of("cpu") == table.of("memory"));
  CHECK(table.of("cpu") != table.of("nvidia.com/gpu"));
  CHECK(table.of("nvidia.com/gpu") != 0);
  CHECK(table.of("pods") == 0);  // all of the hub
  CHECK(table.of("tpu") == 0);
  FlavorTables tables;
  tables.by_name = flavors;
  tables.candidates = table;
  const NodeFacts node = node_with({{"gpu", "yes"}});
  CHECK(winning_flavor(node, tables, "cpu") == "default");
  CHECK(winning_flavor(node, tables, "nvidia.com/gpu") == "gpu");
  CHECK(winning_flavor(node, tables, "pods") == "gpu");
  CHECK(winning_flavors(node_with({}), tables)[table.of("nvidia.com/gpu")] == NodeFlavor{});
  CHECK(table == candidates_of({{"memory", {"default"}},
                                {"cpu", {"default"}},
                                {"nvidia.com/gpu", {"gpu"}},
                                {"pods", {"cheap", "default", "gpu", "nor this"}}},
                               flavors, aliases));
}

TEST_CASE("capacity: a node counts if it is won, ready, schedulable and tolerated") {
  const Flavors flavors = {{"f", flavor_with({})}};
  NodeFacts node;
  node.ready = true;
  CHECK(is_eligible(node, "f", flavors));
  CHECK_FALSE(is_eligible(node, "", flavors));
  node.unschedulable = true;
  CHECK_FALSE(is_eligible(node, "f", flavors));
  node.unschedulable = false;
  node.ready = false;
  CHECK_FALSE(is_eligible(node, "f", flavors));
  node.ready = true;
  node.taints = {{"k", "v", "NoExecute"}};
  CHECK_FALSE(is_eligible(node, "f", flavors));
}

TEST_CASE(
    "capacity: a taint is covered by the flavor's own taint, or a toleration as in Kubernetes") {
  const Taint taint{"k", "v", "NoSchedule"};
  ResourceFlavorFacts flavor = flavor_with({});
  CHECK(keeps_out(taint, flavor));
  CHECK_FALSE(keeps_out({"k", "v", "PreferNoSchedule"}, flavor));
  flavor.node_taints = {{"k", "v", "NoExecute"}};
  CHECK(keeps_out(taint, flavor));  // another effect
  flavor.node_taints = {taint};
  CHECK_FALSE(keeps_out(taint, flavor));
  flavor.node_taints.clear();
  const auto tolerated = [&](const Toleration& toleration) {
    flavor.tolerations = {toleration};
    return !keeps_out(taint, flavor);
  };
  CHECK(tolerated({"k", "Equal", "v", ""}));
  CHECK(tolerated({"k", "Equal", "v", "NoSchedule"}));
  CHECK(tolerated({"k", "Exists", "", ""}));
  CHECK(tolerated({"", "Exists", "", ""}));
  CHECK_FALSE(tolerated({"k", "Equal", "w", ""}));
  CHECK_FALSE(tolerated({"k", "Equal", "v", "NoExecute"}));
  CHECK_FALSE(tolerated({"j", "Exists", "", ""}));
  CHECK_FALSE(tolerated({"", "Equal", "v", ""}));  // an empty key needs Exists
}

TEST_CASE("capacity: an alias and its canonical name add up, saturating") {
  const ResourceAliases aliases = {{"gpu", "nvidia.com/gpu"}};
  CHECK_FALSE(has_alias({{"cpu", 5}}, aliases));
  const ResourceAmounts amounts = {{"cpu", 5}, {"gpu", 2}, {"nvidia.com/gpu", INT64_MAX - 1}};
  CHECK(has_alias(amounts, aliases));
  CHECK(canonical_amounts(amounts, aliases) ==
        std::map<std::string, Amount>{{"cpu", 5}, {"nvidia.com/gpu", INT64_MAX}});
}

TEST_CASE("capacity: a claim's headroom map replaces the configuration's whole, each by itself") {
  Configuration configuration;
  configuration.headroom.percent = {{"cpu", 5}, {"gpu", 7}};
  configuration.headroom.reserved = {{"memory", "1Ki"}};
  const auto row = [&](const ClaimTerms* terms, const char* resource) {
    CanonicalHeadroom headroom = headroom_of(configuration, terms);
    const auto& found = headroom.row_of(resource);
    return std::pair(found.percent, found.reserved);
  };
  CHECK(row(nullptr, "cpu") == std::pair<std::int64_t, Amount>(5, 0));
  CHECK(row(nullptr, "nvidia.com/gpu") == std::pair<std::int64_t, Amount>(7, 0));
  CHECK(row(nullptr, "memory") == std::pair<std::int64_t, Amount>(0, 1024));
  ClaimTerms terms;
  terms.headroom_percent = std::map<std::string, std::int64_t>{{"memory", 50}};
  CHECK(row(&terms, "cpu") == std::pair<std::int64_t, Amount>(0, 0));
  CHECK(row(&terms, "memory") == std::pair<std::int64_t, Amount>(50, 1024));
  terms.headroom_reserved.emplace();
  CHECK(row(&terms, "memory") == std::pair<std::int64_t, Amount>(50, 0));
}

TEST_CASE("capacity: usable is floored, never negative, and saturates") {
  CanonicalHeadroom headroom;
  headroom.rows = {{"cpu", 33, 10}, {"all", 100, 0}, {"big", 1, 0}};
  CHECK(usable_amount(100, "cpu", headroom) == 57);
  CHECK(usable_amount(99, "cpu", headroom) == 56);  // 66.33
  CHECK(usable_amount(10, "cpu", headroom) == 0);
  CHECK(usable_amount(-5, "cpu", headroom) == 0);
  CHECK(usable_amount(-5, "memory", headroom) == 0);
  CHECK(usable_amount(INT64_MAX, "all", headroom) == 0);
  // Below and above where the product leaves 64 bits.
  CHECK(usable_amount(INT64_MAX / 100, "big", headroom) == INT64_MAX / 100 * 99 / 100);
  CHECK(usable_amount(Int128{INT64_MAX} * 2, "memory", headroom) == INT64_MAX);
  CHECK(usable_amount(Int128{INT64_MAX} * 2, "big", headroom) == INT64_MAX);
}

}  // namespace
}  // namespace fairlead::capacity_test
