#include "engine/fold/pool/annotations.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace fairlead;

namespace {

// Texts that are no JSON object of any kind.
std::vector<std::string> no_objects() {
  return {"",
          " ",
          "{",
          "{}}",
          "{} x",
          "null",
          "true",
          "[]",
          "\"{}\"",
          "{r1:1}",
          "{'r1':1}",
          "{\"r1\":1,}",
          "{\"r1\" 1}",
          "// x\n{}",
          "{\"\xff\":1}",
          std::string(kAnnotationMax + 1, ' '),
          std::string(kAnnotationMax, '[')};
}

}  // namespace

TEST_CASE("what is no JSON object is no value of any annotation") {
  for (const std::string& bad : no_objects()) {
    INFO(bad.substr(0, 20));
    CHECK(read_slice(bad) == std::nullopt);
    CHECK(read_placements(bad, 10) == std::nullopt);
    CHECK(read_limit(bad) == std::nullopt);
  }
}

TEST_CASE("an object that is deeper than any value is no value") {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "{\"a\":";
  CHECK(read_placements(deep, 10) == std::nullopt);
  CHECK(read_slice(deep + "1" + std::string(5'000, '}')) == std::nullopt);
}

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

TEST_CASE("a key that comes twice is no value, however it is spelt and wherever it is") {
  for (const char* bad :
       {R"({"r1":1,"\u0072\u0031":1})", R"({"r1":1,"r1":2})", R"({"r1":1,"r1":1})"}) {
    INFO(bad);
    CHECK(read_placements(std::string(bad), 10) == std::nullopt);
  }
  CHECK(read_limit(R"({"cpu":"1","cpu":"1"})") == std::nullopt);
  CHECK(read_slice(R"({"cpu":"1","memory":"1","memory":"2"})") == std::nullopt);
}

TEST_CASE("a number of slices is a whole one that fits") {
  for (const char* bad : {"-1", "1.0", "1.5", "1e1", "1E0", "null", "true", "\"1\"", "[1]", "{}",
                          "01", "+1", "0x1", "9223372036854775808", "99999999999999999999"}) {
    INFO(bad);
    CHECK(read_placements("{\"r1\":" + std::string(bad) + "}",
                          std::numeric_limits<std::int64_t>::max()) == std::nullopt);
  }
  // The sum is bounded, without an overflow on the way.
  const std::string most = "{\"a\":9223372036854775807,\"b\":9223372036854775807}";
  CHECK(read_placements(most, std::numeric_limits<std::int64_t>::max()) == std::nullopt);
  CHECK(read_placements(R"({"a":4,"b":6})", 10) == SliceMap{{"a", 4}, {"b", 6}});
  CHECK(read_placements(R"({"a":0})", 1) == SliceMap{{"a", 0}});
}

TEST_CASE("the quantities of a slice are strings as Kubernetes spells them") {
  CHECK(read_slice(R"({"cpu":"1500m","memory":"1Ki"})") == CpuMemory{1500, 1024});
  CHECK(read_slice(R"({"cpu":"1e1","memory":"1.1"})") == CpuMemory{10'000, 2});
  for (const char* bad :
       {"", " ", "1 ", "one", "1GiB", "--1", "-1", "0", "0Gi", "-0", "NaN", "1,5"}) {
    INFO(bad);
    CHECK(read_slice("{\"cpu\":\"" + std::string(bad) + "\",\"memory\":\"1\"}") == std::nullopt);
    CHECK(read_slice("{\"memory\":\"" + std::string(bad) + "\",\"cpu\":\"1\"}") == std::nullopt);
  }
  for (const char* bad : {R"({"cpu":null,"memory":"1"})", R"({"cpu":["1"],"memory":"1"})",
                          R"({"CPU":"1","memory":"1"})", R"({"cpu":"1","memory":{}})", "{}"}) {
    INFO(bad);
    CHECK(read_slice(std::string(bad)) == std::nullopt);
  }
}

TEST_CASE("placements are written with sorted keys and without blanks, and read back") {
  const SliceMap slices{{"r1", 3}, {"R1", 0}, {"a.b_c-d", 9}};
  CHECK(placements_text(slices) == R"({"R1":0,"a.b_c-d":9,"r1":3})");
  CHECK(read_placements(placements_text(slices), 12) == slices);
  CHECK(placements_text({}) == "{}");
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

TEST_CASE("a byte that only our own JSON parser passes over makes a value unreadable") {
  CHECK(read_placements(std::string("{\"r1\":1}\0", 9), 10) == std::nullopt);
  CHECK(read_placements("\xef\xbb\xbf{\"r1\":1}", 10) == std::nullopt);
}
