// The JSON of a commit: what is written, and that nothing else is read.
#include "connectors/ring/ring_json.h"

#include <catch2/catch.hpp>

#include "tests/support/commit_store_contract.h"

using namespace fairlead;

namespace {

Result<RingCommit> read_back(const std::string& text, std::uint32_t slot) {
  const auto document = parse_json(text);
  REQUIRE(document.has_value());
  return read_ring_json(document->root(), slot, "x: spec");
}

// What reading a commit says in which `from` is written as `to`.
std::string fault_of(const RingCommit& commit, const std::string& from, const std::string& to) {
  std::string text = ring_json(commit);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  const auto read = read_back(text.replace(at, from.size(), to), commit.slot());
  REQUIRE(read.has_error());
  CHECK(read.error().code == ErrorCode::corrupt);
  return read.error().message;
}

}  // namespace

TEST_CASE("a commit is written as JSON with its pack in base64, and read again") {
  RingCommit commit = contract_commit(6, 1);
  commit.pack = "abc";
  CHECK(ring_json(commit) == R"({"log":"00112233445566778899aabbccddeeff","slots":4,"commit":6,)"
                             R"("first":61,"count":10,"pack":"YWJj"})");
  CHECK(read_back(ring_json(commit), 2).value() == commit);
  CHECK(ring_json(contract_unused(3)) ==
        R"({"log":"00112233445566778899aabbccddeeff","slots":4,"commit":3,"first":0,"count":0})");
  CHECK(read_back(ring_json(contract_unused(3)), 3).value() == contract_unused(3));
  const RingCommit large = contract_commit(9, kRingRecordBytesMax);
  CHECK(read_back(ring_json(large), 1).value() == large);
}

TEST_CASE("what is no commit of its slot is refused, naming the member") {
  const RingCommit used = contract_commit(6, 3);
  CHECK(fault_of(used, R"("log":"00)", R"("log":"0G)") ==
        "x: spec.log: expected 32 hexadecimal digits");
  CHECK(fault_of(used, R"("log")", R"("lag")") == "x: spec.lag: unknown");
  CHECK(fault_of(used, R"("slots":4)", R"("slots":0)") ==
        "x: spec.slots: expected a whole number from 1 to 4294967295");
  CHECK(fault_of(used, R"("commit":6)", R"("commit":-6)").starts_with("x: spec.commit: expected"));
  CHECK(fault_of(used, R"("commit":6)", R"("commit":6.0)").starts_with("x: spec.commit: expected"));
  CHECK(fault_of(used, R"("commit":6)", R"("commit":7)") ==
        "x: spec.commit: 7 is of slot 3, not of slot 2");
  CHECK(fault_of(used, R"("first":61)", R"("first":"61")").starts_with("x: spec.first: expected"));
  CHECK(fault_of(used, R"("count":10)", R"("count":0)").starts_with("x: spec.count: expected"));
  CHECK(fault_of(used, R"("pack":")", R"("pack":"*)") == "x: spec.pack: expected base64");
  // Without its pack it would be a slot that was not used yet, of another number.
  const std::string text = ring_json(used);
  const auto cut = read_back(text.substr(0, text.find(R"(,"pack")")) + "}", used.slot());
  REQUIRE(cut.has_error());
  CHECK(cut.error().message == "x: spec.commit: expected a whole number from 0 to 2");
  const RingCommit unused = contract_unused(3);
  CHECK(fault_of(unused, R"("count":0)", R"("count":0,"pack":"")") ==
        "x: spec.pack: expected base64");
  CHECK(fault_of(unused, R"("first":0)", R"("first":1)").starts_with("x: spec.first: expected"));
  const auto list = parse_json("[]");
  CHECK(read_ring_json(list->root(), 0, "x").error().message ==
        "x: expected an object, found an array");
}

TEST_CASE("a slot has one name") {
  CHECK(read_slot_number("0") == 0);
  CHECK(read_slot_number("1023") == 1023);
  for (const char* other : {"", "01", "+1", "-1", " 1", "1 ", "x", "4294967296"})
    CHECK_FALSE(read_slot_number(other));
}
