#include "schema/codec.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "schema/event_json.h"
#include "tests/unit/schema/samples/sample_events.h"

namespace fairlead {
namespace {

constexpr const char* kGoldenRecords = "tests/golden/v8/events.hex";
constexpr const char* kGoldenJson = "tests/golden/v8/events.jsonl";

bool rewriting() { return std::getenv("FAIRLEAD_REWRITE_GOLDEN") != nullptr; }

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 0xF];
  }
  return text;
}

std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return bytes;
}

/// name -> bytes; a line is a name, a space and hexadecimal digits.
std::map<std::string, std::string> golden_records(const std::string& path) {
  std::map<std::string, std::string> records;
  std::ifstream file(path);
  std::string name;
  std::string hex;
  while (file >> name >> hex) records[name] = from_hex(hex);
  return records;
}

TEST_CASE("Golden records of older versions read as the values they were made from") {
  for (unsigned version = 1; version < kSchemaVersion; ++version) {
    auto golden = golden_records("tests/golden/v" + std::to_string(version) + "/events.hex");
    CHECK(golden.size() >= 24);
    for (const auto& [name, event] : samples::all()) {
      const auto record = golden.extract(name);
      if (record.empty()) continue;  // a later addition
      CAPTURE(version, name);
      CHECK(schema_version_of(record.mapped()) == version);
      const auto decoded = decode(record.mapped());
      REQUIRE(decoded.has_value());
      CHECK(*decoded == event);
    }
    CHECK(golden.empty());  // each of them was looked at
  }
}

TEST_CASE("An event is read into whatever another left behind") {
  const auto golden =
      golden_records("tests/golden/v1/events.hex");  // with other lists than today's
  std::vector<std::pair<std::string, Event>> records;
  for (const auto& [name, event] : samples::all()) {
    records.emplace_back(encode(event), event);
    if (golden.contains(name)) records.emplace_back(golden.at(name), event);
  }
  Event read;
  for (const auto& [unused, before] : records)
    for (const auto& [bytes, event] : records) {
      read = before;
      REQUIRE(decode_into(bytes, read).has_value());
      REQUIRE(read == event);
    }
}

TEST_CASE("The copy of an event that was read in place is independent of its bytes") {
  for (const auto& [name, event] : samples::all()) {
    CAPTURE(name);
    std::string bytes = encode(event);
    Event read;
    REQUIRE(decode_into(bytes, read).has_value());
    const auto* seen = std::get_if<ObjectObserved>(&read.fact);
    if (const auto* node = seen ? std::get_if<NodeFacts>(&seen->facts) : nullptr)
      CHECK(bytes.find(node->labels.bytes()) ==
            static_cast<std::size_t>(node->labels.address() - bytes.data()));  // it is a view
    const Event copy = read;
    read = {};
    std::fill(bytes.begin(), bytes.end(), 'x');
    CHECK(copy == event);
    std::string shifted = "x" + encode(event);  // cannot be read in place
    REQUIRE(decode_into(std::string_view(shifted).substr(1), read).has_value());
    std::fill(shifted.begin(), shifted.end(), 'x');
    CHECK(read == event);
  }
}

TEST_CASE("What is no record is refused, also where another event is overwritten") {
  const Event sample = samples::all().front().event;
  for (const auto& [name, event] : samples::all()) {
    const std::string bytes = encode(event);
    for (std::size_t size = 0; size < bytes.size(); size += 8) {
      const std::string cut = bytes.substr(0, size);
      Event read = sample;
      const auto into = decode_into(cut, read);
      const auto whole = decode(cut);
      REQUIRE(into.has_value() == whole.has_value());
      if (!into) CHECK(into.error().code == whole.error().code);
    }
  }
}

TEST_CASE("Golden records of this version read as the values they were made from") {
  // FAIRLEAD_REWRITE_GOLDEN=1 adds records of new samples; a record that is there is never changed.
  auto golden = golden_records(kGoldenRecords);
  if (rewriting()) {
    std::ofstream file(kGoldenRecords, std::ios::app);
    for (const auto& [name, event] : samples::all())
      if (golden.emplace(name, encode(event)).second)
        file << name << ' ' << to_hex(encode(event)) << '\n';
  }
  std::set<std::string> names;
  for (const auto& [name, event] : samples::all()) {
    CAPTURE(name);
    names.insert(name);
    REQUIRE(golden.contains(name));
    const auto decoded = decode(golden[name]);
    REQUIRE(decoded.has_value());
    CHECK(*decoded == event);
    CHECK(to_hex(encode(event)) == to_hex(golden[name]));
  }
  CHECK(names.size() == golden.size());
}

// Two Quantities of one value are equal, so the other tests cannot show that a text is kept.
TEST_CASE("A Quantity keeps the text that it was read with") {
  ClusterQueueFacts queue;
  const SpelledQuantity odd(*Quantity::parse("12000m"), "12000m");
  queue.groups = {{{"cpu"}, {{"od", {{"cpu", odd, Quantity::parse("3"), odd}}}}}};
  Event event;
  event.fact =
      ObjectObserved{{Kind::cluster_queue, "", "q"}, "v1beta2", "u", "7", 1, queue, {}, {}};
  const auto decoded = decode(encode(event));
  REQUIRE(decoded.has_value());
  const auto& facts = std::get<ObjectObserved>(decoded->fact).facts;
  const auto& quota = std::get<ClusterQueueFacts>(facts).groups[0].flavors[0].resources[0];
  CHECK(quota.nominal.as_written() == "12000m");
  CHECK(quota.borrowing_limit->as_written() == "3");
  CHECK(quota.lending_limit->as_written() == "12000m");
}

TEST_CASE("The samples show every fact and every kind") {
  std::set<std::size_t> facts;
  std::set<std::size_t> kinds;
  for (const auto& [name, event] : samples::all()) {
    facts.insert(event.fact.index());
    if (const auto* observed = std::get_if<ObjectObserved>(&event.fact)) {
      kinds.insert(observed->facts.index());
      CHECK(observed->facts.index() == static_cast<std::size_t>(observed->key.kind));
    }
  }
  CHECK(facts.size() == std::variant_size_v<AnyFact>);
  CHECK(kinds.size() == kKindCount);
}

TEST_CASE("Events print as the golden JSON lines") {
  if (rewriting()) {
    std::ofstream file(kGoldenJson);
    for (const auto& [name, event] : samples::all()) file << to_text(to_json(event)) << '\n';
  }
  std::ifstream file(kGoldenJson);
  for (const auto& [name, event] : samples::all()) {
    CAPTURE(name);
    std::string line;
    REQUIRE(std::getline(file, line));
    CHECK(to_text(to_json(event)) == line);
  }
}

TEST_CASE("A record is read from any address") {
  const Event event = samples::all().front().event;
  for (std::size_t offset = 0; offset < 8; ++offset) {
    const std::string shifted = std::string(offset, 'x') + encode(event);
    const auto decoded = decode(std::string_view(shifted).substr(offset));
    REQUIRE(decoded.has_value());
    CHECK(*decoded == event);
  }
}

TEST_CASE("What is no record is corrupt") {
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string(8, '\0'), std::string(64, '\0'),
        std::string(64, '\xff'), std::string(4096, 'a')}) {
    const auto decoded = decode(bytes);
    REQUIRE(decoded.has_error());
    CHECK((decoded.error().code == ErrorCode::corrupt ||
           decoded.error().code == ErrorCode::incompatible));
  }
}

TEST_CASE("A record cut short anywhere is no longer the same event") {
  for (const auto& [name, event] : samples::all()) {
    CAPTURE(name);
    const std::string bytes = encode(event);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto decoded = decode(std::string_view(bytes).substr(0, size));
      if (decoded.has_value() && *decoded == event) FAIL_CHECK("cut at " << size);
    }
  }
}

TEST_CASE("No flipped bit makes the reader misbehave") {
  std::size_t refused = 0;
  std::size_t other = 0;
  for (const auto& [name, event] : samples::all()) {
    std::string bytes = encode(event);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const char mask = static_cast<char>(1 << bit % 8);
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
      const auto decoded = decode(bytes);
      if (decoded.has_error())
        ++refused;
      else if (encode(*decoded) == bytes)
        ++other;  // another well-formed event: telling them apart is the hash chain's work
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    }
  }
  CHECK(refused > 1000);
  CHECK(other > 1000);
}

TEST_CASE("A record of a newer schema version is refused as incompatible") {
  std::string bytes = encode(samples::all().front().event);
  // The version is the first field of the root struct, which follows the root pointer.
  REQUIRE(bytes[8] == static_cast<char>(kSchemaVersion));
  bytes[8] = static_cast<char>(kSchemaVersion + 1);
  const auto decoded = decode(bytes);
  REQUIRE(decoded.has_error());
  CHECK(decoded.error().code == ErrorCode::incompatible);
  bytes[8] = 0;
  CHECK(decode(bytes).error().code == ErrorCode::corrupt);
}

TEST_CASE("Facts of another kind than the key says are refused") {
  Event event = samples::all().front().event;
  ObjectObserved observed;
  observed.key = {Kind::claim, "", "x"};
  observed.facts = NodeFacts{};
  event.fact = observed;
  const auto decoded = decode(encode(event));
  REQUIRE(decoded.has_error());
  CHECK(decoded.error().code == ErrorCode::corrupt);
}

TEST_CASE("Absent and empty are distinguished where that means something") {
  Event event = samples::all().front().event;
  const auto round_trip = [&event](ClaimHeadroom headroom) {
    ClaimFacts claim;
    claim.spec.headroom = std::move(headroom);
    ObjectObserved observed;
    observed.key.kind = Kind::claim;
    observed.facts = claim;
    event.fact = observed;
    const auto decoded = decode(encode(event));
    return std::get<ClaimFacts>(std::get<ObjectObserved>(decoded->fact).facts).spec.headroom;
  };
  CHECK_FALSE(round_trip({}).percent.has_value());
  ClaimHeadroom empty;
  empty.percent.emplace();
  CHECK(round_trip(empty).percent.has_value());
}

TEST_CASE("Texts keep bytes that are no UTF-8 and embedded NULs") {
  Event event = samples::all().front().event;
  event.source = std::string("a\0b\xff\n", 5);
  CHECK(*decode(encode(event)) == event);
}

TEST_CASE("A large event survives") {
  ClusterMetricsFacts metrics;
  for (int i = 0; i < 5000; ++i) {
    NodeFacts node;
    std::map<std::string, std::string> labels;
    for (int label = 0; label < 20; ++label)
      labels["example.com/label-" + std::to_string(label)] = "value-" + std::to_string(i);
    node.labels = labels;
    node.allocatable = {{"cpu", i}};
    metrics.nodes["node-" + std::to_string(i)] = node;
  }
  Event event = samples::all().front().event;
  ObjectObserved observed;
  observed.key = {Kind::cluster_metrics, "", "cluster1"};
  observed.facts = metrics;
  event.fact = observed;
  const std::string bytes = encode(event);
  CHECK(bytes.size() > 4'000'000);
  CHECK(bytes.size() < kRecordBytesMax);
  CHECK(*decode(bytes) == event);
}

TEST_CASE("A snapshot envelope is read back") {
  SnapshotEnvelope snapshot;
  snapshot.fold_version = 3;
  snapshot.seq = Seq{12};
  snapshot.log_time = LogTime{99};
  snapshot.state = "the state, whatever it is";
  snapshot.state_digest = sha256("the plain state");
  snapshot.log_digest = sha256("log");
  const std::string bytes = encode(snapshot);
  CHECK(*decode_snapshot(bytes) == snapshot);
  CHECK(decode_snapshot(bytes.substr(0, bytes.size() - 8)).has_error());
}

}  // namespace
}  // namespace fairlead
