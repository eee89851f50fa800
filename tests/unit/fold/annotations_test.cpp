#include "engine/fold/pool/annotations.h"

#include <catch2/catch.hpp>

using namespace fairlead;

TEST_CASE("a slice is an object of two positive quantities") {
  CHECK(read_slice(std::nullopt) == CpuMemory{2000, Amount{4} << 30});
  CHECK(read_slice(R"({"memory":"1.5","cpu":"0.0001"})") == CpuMemory{1, 2});
  for (const char* bad :
       {"", "{", "[]", "3", R"({"cpu":"1"})", R"({"cpu":"1","memory":"1","x":"1"})",
        R"({"cpu":1,"memory":"1"})", R"({"cpu":"0","memory":"1"})", R"({"cpu":"-1","memory":"1"})",
        R"({"cpu":"one","memory":"1"})", R"({"cpu":"1","cpu":"1","memory":"1"})"}) {
    INFO(bad);
    CHECK(read_slice(std::string(bad)) == std::nullopt);
  }
}

TEST_CASE("placements are whole numbers by id, up to a sum") {
  CHECK(read_placements(std::nullopt, 10) == SliceMap{});
  CHECK(read_placements("{}", 10) == SliceMap{});
  CHECK(read_placements(R"( {"r2": 0, "r1":10} )", 10) == SliceMap{{"r1", 10}, {"r2", 0}});
  for (const char* bad :
       {"", "null", "[]", R"({"r1":11})", R"({"r1":6,"r2":5})", R"({"r1":-1})", R"({"r1":1.0})",
        R"({"r1":1e0})", R"({"r1":"1"})", R"({"r1":1,"r1":1})", R"({"":1})", R"({"a/b":1})",
        R"({"r1":18446744073709551615})", R"({"r1":1} x)"}) {
    INFO(bad);
    CHECK(read_placements(std::string(bad), 10) == std::nullopt);
  }
  CHECK(read_placements(std::string(kAnnotationMax - 1, ' ') + "{}", 10) == std::nullopt);
  CHECK(placements_text({{"r1", 3}, {"a", 0}}) == R"({"a":0,"r1":3})");
}

TEST_CASE("an id has up to 253 letters, digits, dots, dashes and underscores") {
  CHECK(is_super_cluster_id("R_1.a-b"));
  CHECK(is_super_cluster_id(std::string(253, 'a')));
  CHECK_FALSE(is_super_cluster_id(std::string(254, 'a')));
  for (const char* bad : {"", " ", "a b", "\xc3\xa9", "a/b"}) CHECK_FALSE(is_super_cluster_id(bad));
}

TEST_CASE("a limit names cpu, memory, both or none") {
  CHECK(read_limit("{}") == std::map<std::string, Amount>{});
  CHECK(read_limit(R"({"cpu":"1"})") == std::map<std::string, Amount>{{"cpu", 1000}});
  for (const char* bad : {"", "[]", R"({"gpu":"1"})", R"({"cpu":1})", R"({"cpu":"-1"})"}) {
    INFO(bad);
    CHECK(read_limit(bad) == std::nullopt);
  }
}
