// What is alike lies once in memory, also in a State that was read from a snapshot.
#include <catch2/catch.hpp>

#include "engine/fold/devices/observe.h"
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

}  // namespace
}  // namespace fairlead::state_sharing_test
