// What is alike lies once in memory, also in a State that was read from a snapshot.
#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/devices/observe_devices.h"
#include "snapshots/state_codec.h"

namespace fairlead::state_sharing_test {
namespace {

DeviceFacts device_of(const std::string& name, Int128 memory) {
  DeviceFacts device;
  device.name = name;
  device.capacity = {{"memory", Quantity(memory, QuantityFormat::decimal_si), {}}};
  return device;
}

const std::vector<DeviceFacts>& devices_in(const State& state) {
  return state.clusters.at("c").devices.slices.at("s").facts->devices;
}

TEST_CASE("devices of a slice share equal capacities, in State and in a State that was read") {
  ResourceSliceFacts slice;
  slice.driver = slice.pool = "p";
  slice.generation = slice.slice_count = 1;
  slice.devices = {device_of("a", 8), device_of("b", 8), device_of("c", 9), device_of("d", 9)};
  State state;
  state.seq = Seq{1};
  observe_slice(state, "c", "s", &slice, state.seq);
  const auto read = decode_state(encode_state(state));
  REQUIRE(read.has_value());
  for (const State* each : {&std::as_const(state), &*read}) {
    const std::vector<DeviceFacts>& devices = devices_in(*each);
    CHECK(devices == slice.devices);
    CHECK(devices[1].capacity.is_shared_with(devices[0].capacity));
    CHECK(devices[3].capacity.is_shared_with(devices[2].capacity));
    CHECK_FALSE(devices[2].capacity.is_shared_with(devices[1].capacity));
  }
}

TEST_CASE("nodes of a cluster share equal labels and amounts, also in a State that was read") {
  State state;
  for (const char* name : {"a", "b", "c"}) {
    state.seq = next(state.seq);
    NodeFacts facts;
    facts.labels = {{"hostname", name}, {"os", "linux"}, {"zone", "z1"}};
    facts.allocatable = {{"cpu", 1}, {"memory", 5}};
    observe_node(state, "c", name, &facts, state.seq);
  }
  const auto read = decode_state(encode_state(state));
  REQUIRE(read.has_value());
  CHECK(*read == state);
  CHECK(encode_state(*read) == encode_state(state));
  for (const State* each : {&std::as_const(state), &*read}) {
    const auto& nodes = each->clusters.at("c").reports.nodes;
    CHECK(nodes.at("c").facts.labels.is_based());
    CHECK(nodes.at("c").facts.allocatable.address() == nodes.at("a").facts.allocatable.address());
    CHECK(nodes.at("c").facts.labels.find("hostname") == "c");
    CHECK(nodes.at("c").facts.labels.find("zone") == "z1");
  }
}

TEST_CASE("the pieces of a state are its bytes, and so is its digest") {
  State state;
  for (int i = 0; i < 20'000; ++i) {
    state.seq = next(state.seq);
    NodeFacts facts;
    facts.labels = {{"hostname", std::to_string(i)}};
    observe_node(state, "c", "node-" + std::to_string(i), &facts, state.seq);
  }
  std::string all;
  std::size_t largest = 0, pieces = 0;
  write_state(state, [&](std::string_view piece) {
    all += piece;
    largest = std::max(largest, piece.size());
    ++pieces;
  });
  CHECK(all == encode_state(state));
  CHECK(state_digest(state) == sha256(all));
  CHECK(pieces > 4);
  CHECK(largest < 128 * 1024);
}

}  // namespace
}  // namespace fairlead::state_sharing_test
