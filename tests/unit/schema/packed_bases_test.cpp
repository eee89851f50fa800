#include "schema/packed_bases.h"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "schema/codec.h"

namespace fairlead::packed_bases_test {
namespace {

using Texts = std::map<std::string, std::string>;

Labels node(const std::string& name, const std::string& zone) {
  return {{"arch", "amd64"}, {"hostname", name}, {"os", "linux"}, {"zone", zone}};
}

TEST_CASE("a map that rests on another is the same map") {
  rc::prop("texts", [](const std::vector<Texts>& maps) {
    auto bases = std::make_unique<PackedBases<std::string_view>>();
    std::vector<Labels> shared;
    for (int round = 0; round < 2; ++round)  // all bases are there in the second
      for (const Texts& map : maps) shared.push_back(bases->share(Labels(map)));
    bases.reset();
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const Labels flat(maps[i % maps.size()]);
      const Labels copy = shared[i];
      RC_ASSERT(copy == flat);
      RC_ASSERT(flat == copy);
      RC_ASSERT(copy.to_map() == flat.to_map());
      RC_ASSERT(copy.size() == flat.size());
      RC_ASSERT(copy.empty() == flat.empty());
      RC_ASSERT(copy.whole().bytes() == flat.bytes());
      for (const auto& [key, value] : flat) RC_ASSERT(copy.find(key) == value);
      for (std::size_t j = 0; j < shared.size(); ++j)
        RC_ASSERT((copy == shared[j]) == (maps[i % maps.size()] == maps[j % maps.size()]));
    }
  });
}

TEST_CASE("of the nodes of a pool each keeps its name") {
  PackedBases<std::string_view> bases;
  CHECK_FALSE(bases.share(node("a", "z1")).is_based());
  CHECK(bases.share(node("b", "z1")).is_based());
  CHECK_FALSE(bases.share(node("c", "z2")).is_based());  // another zone: another base
  CHECK(bases.share(node("d", "z2")).is_based());
  CHECK(bases.share(node("e", "z1")).is_based());
  CHECK(bases.share({}).empty());
}

TEST_CASE("a map has the keys of the one that it rests on") {
  PackedBases<std::int64_t> bases;
  bases.share({{"cpu", 1}, {"gpu", 8}, {"memory", 5}});
  CHECK_FALSE(bases.share({{"cpu", 1}, {"memory", 5}}).is_based());
  CHECK_FALSE(bases.share({{"cpu", 1}, {"gpu", 8}, {"memory", 5}, {"pods", 110}}).is_based());
  const auto same = bases.share({{"cpu", 1}, {"gpu", 8}, {"memory", 6}});
  CHECK(same.is_based());
  CHECK(same.find("memory") == 6);
  CHECK(bases.share({{"cpu", 1}, {"memory", 5}}).address() ==
        bases.share({{"cpu", 1}, {"memory", 5}}).address());
}

TEST_CASE("maps that have nothing in common rest on none, however many there are") {
  PackedBases<std::string_view> bases;
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    CHECK_FALSE(bases.share({{"a", "x" + number}, {"b", "y" + number}}).is_based());
  }
}

TEST_CASE("a record has the same bytes, whatever its maps rest on") {
  PackedBases<std::string_view> bases;
  PackedBases<std::int64_t> amounts;
  bases.share(node("a", "z1"));
  amounts.share({{"cpu", 1}, {"memory", 1}});
  Event event{Seq{7}, LogTime{1}, Epoch{1}, "c1", {}, {}};
  ObjectObserved seen;
  seen.key = {Kind::node, "", "b"};
  NodeFacts flat{node("b", "z1"), {}, false, true, {{"cpu", 1}, {"memory", 2}}};
  NodeFacts based{bases.share(flat.labels), {}, false, true, amounts.share(flat.allocatable)};
  REQUIRE(based.labels.is_based());
  REQUIRE(based.allocatable.is_based());
  const auto bytes_of = [&](const NodeFacts& facts) {
    seen.facts = facts;
    event.fact = seen;
    return encode(event);
  };
  CHECK(bytes_of(based) == bytes_of(flat));
}

}  // namespace
}  // namespace fairlead::packed_bases_test
