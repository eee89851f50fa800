// The section `dra` of the configuration file.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/runtime/configuration.h"
#include "schema/event_json.h"

using namespace fairlead;

namespace {

DraSettings dra_of(const std::string& section) {
  const Result<Configuration> read = read_configuration("dra: " + section, "f.yaml");
  INFO(section);
  if (read.has_error()) FAIL(read.error().message);
  return read->dra;
}

std::string dra_refusal(const std::string& section) {
  const Result<Configuration> read = read_configuration("dra: " + section, "f.yaml");
  INFO(section);
  REQUIRE(read.has_error());
  CHECK(read.error().code == ErrorCode::bad_input);
  const std::string place = "f.yaml:1: dra";
  CHECK(read.error().message.substr(0, place.size()) == place);
  return read.error().message.substr(place.size());
}
std::string mappings_refusal(const std::string& list) {
  return dra_refusal("{deviceClassMappings: " + list + "}");
}
// Of the one source of the one mapping.
std::string source_refusal(const std::string& source) {
  return mappings_refusal("[{name: a, deviceClassNames: [c], sources: [" + source + "]}]");
}

// `count` items, with the number behind `prefix`.
std::string list_of(std::size_t count, const std::string& prefix, const std::string& suffix) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i)
    out += (i > 0 ? ", " : "") + prefix + std::to_string(i) + suffix;
  return out + "]";
}

constexpr const char* kEveryDraSetting = R"(
  quota: false
  dispatch: true
  fleetClaims: true
  deviceClassMappings:
  - name: gpus
    deviceClassNames: [gpu.example.com, example.com/old-gpu]
  - name: example.com/gpu-memory
    deviceClassNames: [mig.example.com]
    sources:
    - counter:
        name: memory
        driver: gpu.example.com
        deviceSelector: {cel: {expression: 'device.driver == "gpu.example.com"'}}
  - name: example.com/gpu-compute
    deviceClassNames: [mig.example.com]
    sources: [{counter: {name: compute, driver: gpu.example.com, deviceSelector: {cel: {expression: "true"}}}}]
  - name: bandwidth
    deviceClassNames: [nic.example.com]
    sources:
    - capacity: {name: example.com/bandwidth, driver: a.com, deviceSelector: {cel: {expression: "true"}}}
    - capacity: {name: bandwidth, driver: b.com, deviceSelector: {cel: {expression: "1 < 2"}}}
  policy: spread
  poolHold: 0s
  admitTimeout: 1m
  placeTimeout: 2m
  stepsMax: 1000000000
)";

}  // namespace

TEST_CASE("every setting of devices is read, and printed as it can be read again") {
  const DraSettings dra = dra_of(kEveryDraSetting);
  CHECK_FALSE(dra.quota);
  CHECK(dra.dispatch);
  CHECK(dra.fleet_claims);
  using Kind = DeviceSourceKind;
  CHECK(
      dra.device_class_mappings ==
      std::vector<DeviceClassMapping>{
          {"gpus", {"gpu.example.com", "example.com/old-gpu"}, {}},
          {"example.com/gpu-memory",
           {"mig.example.com"},
           {{Kind::counter, "memory", "gpu.example.com", "device.driver == \"gpu.example.com\""}}},
          {"example.com/gpu-compute",
           {"mig.example.com"},
           {{Kind::counter, "compute", "gpu.example.com", "true"}}},
          {"bandwidth",
           {"nic.example.com"},
           {{Kind::capacity, "example.com/bandwidth", "a.com", "true"},
            {Kind::capacity, "bandwidth", "b.com", "1 < 2"}}}});
  CHECK(dra.policy == DraPolicy::spread);
  CHECK(dra.pool_hold == Duration{});
  CHECK(dra.admit_timeout == minutes(1));
  CHECK(dra.place_timeout == minutes(2));
  CHECK(dra.steps_max == 1'000'000'000);

  Configuration whole;
  whole.dra = dra;
  const Result<Configuration> again = read_configuration(to_yaml(whole), "again.yaml");
  REQUIRE(again.has_value());
  CHECK(*again == whole);
}

TEST_CASE("devices count as capacity by default, and nothing else of them is on") {
  const DraSettings dra = dra_of("{}");
  CHECK(dra == DraSettings{});
  CHECK(dra == dra_of("{deviceClassMappings: }"));
  CHECK(dra.quota);
  CHECK_FALSE(dra.dispatch);
  CHECK_FALSE(dra.fleet_claims);
  CHECK(dra.pool_hold == minutes(5));
  CHECK(dra.admit_timeout == minutes(5));
  CHECK(dra.place_timeout == minutes(5));
  CHECK(dra.steps_max == 100'000);
  CHECK_FALSE(to_json(Configuration{}).contains("dra"));
}

TEST_CASE("a bad setting of devices is refused with its path") {
  CHECK(dra_refusal("{quotas: true}") ==
        ".quotas: unknown key; expected one of quota, dispatch, fleetClaims, "
        "deviceClassMappings, policy, poolHold, admitTimeout, placeTimeout, stepsMax");
  CHECK(dra_refusal("{quota: maybe}") == ".quota: expected one of true, false");
  CHECK(dra_refusal("{policy: best}") == ".policy: expected one of order, pack, spread");
  CHECK(dra_refusal("{stepsMax: 0}").starts_with(".stepsMax: expected"));
  CHECK(dra_refusal("{stepsMax: 1000000001}").starts_with(".stepsMax: expected"));
  CHECK(dra_refusal("{poolHold: soon}").starts_with(".poolHold: expected"));
}

TEST_CASE("a mapping that Kueue refuses is refused with its path") {
  const std::string at = ".deviceClassMappings";
  CHECK(mappings_refusal("{}") == at + ": expected a list");
  CHECK(mappings_refusal("[gpus]") == at + "[0]: expected {name, deviceClassNames, sources}");
  CHECK(
      mappings_refusal("[{name: a}]") ==
      at + "[0]: expected a name and deviceClassNames; expected {name, deviceClassNames, sources}");
  CHECK(mappings_refusal("[{name: a, classes: [c]}]") ==
        at + "[0].classes: unknown key; expected {name, deviceClassNames, sources}");
  CHECK(mappings_refusal("[{name: -a, deviceClassNames: [c]}]") ==
        at + "[0].name: expected a name such as gpus or example.com/gpu");
  CHECK(mappings_refusal("[{name: a, deviceClassNames: []}]") ==
        at + "[0].deviceClassNames: expected at least one DeviceClass");
  CHECK(mappings_refusal("[{name: a, deviceClassNames: [c, c]}]") ==
        at + "[0].deviceClassNames[1]: expected each name only once");
  CHECK(mappings_refusal("[{name: a, deviceClassNames: " + list_of(9, "c", "") + "}]") ==
        at + "[0].deviceClassNames: expected at most 8 DeviceClasses");
  CHECK(mappings_refusal("[{name: a, deviceClassNames: [c]}, {name: a, deviceClassNames: [d]}]") ==
        at + "[1].name: expected each name only once");
  CHECK(mappings_refusal("[{name: a, deviceClassNames: [c]}, {name: b, deviceClassNames: [c]}]") ==
        at + "[1].deviceClassNames: expected c in one mapping only, or for different counters");
  const std::string counter =
      ", sources: [{counter: {name: m, driver: d, deviceSelector: {cel: {expression: 1 < 2}}}}]}";
  CHECK(mappings_refusal("[{name: a, deviceClassNames: [c]" + counter +
                         ", {name: b, deviceClassNames: [c]" + counter + "]")
            .starts_with(at + "[1].deviceClassNames: expected c in one mapping only"));
  CHECK(mappings_refusal(list_of(17, "{name: a", ", deviceClassNames: [c]}")) ==
        at + ": expected at most 16 mappings");
}

TEST_CASE("a source of a mapping is a counter or a capacity of the devices of one driver") {
  const std::string at = ".deviceClassMappings[0].sources[0]";
  const std::string selector = "deviceSelector: {cel: {expression: 1 < 2}}";
  CHECK(source_refusal("{}") == at + ": expected one of {counter}, {capacity}");
  CHECK(source_refusal("{count: {}}") ==
        at + ".count: unknown key; expected one of {counter}, {capacity}");
  CHECK(source_refusal("{counter: {}, capacity: {}}") ==
        at + ": expected one of {counter}, {capacity}");
  CHECK(source_refusal("{counter: {name: m, driver: d}}") ==
        at + ".counter: expected {name, driver, deviceSelector}");
  CHECK(source_refusal("{counter: {name: a.b, driver: d, " + selector + "}}") ==
        at + ".counter.name: expected the name of a counter");
  CHECK(source_refusal("{capacity: {name: /m, driver: d, " + selector + "}}") ==
        at + ".capacity.name: expected the name of a capacity, such as memory");
  CHECK(source_refusal("{counter: {name: m, driver: D, " + selector + "}}") ==
        at + ".counter.driver: expected the name of a driver");
  CHECK(source_refusal("{counter: {name: m, driver: d, deviceSelector: {}}}") ==
        at + ".counter.deviceSelector: expected {cel: {expression}}");
  CHECK(source_refusal("{counter: {name: m, driver: d, deviceSelector: {cel: {expr: a}}}}") ==
        at + ".counter.deviceSelector.cel.expr: unknown key; expected {expression}");
  CHECK(source_refusal("{counter: {name: m, driver: d, deviceSelector: {cel: {expression: " +
                       std::string(10241, 'a') + "}}}}") ==
        at + ".counter.deviceSelector.cel.expression: expected at most 10240 bytes");
  CHECK(source_refusal(
            "{counter: {name: m, driver: d, deviceSelector: {cel: {expression: f(1)}}}}") ==
        at + ".counter.deviceSelector.cel.expression: expected a CEL expression that is understood "
             "(docs/devices.md), not function `f`");
  CHECK(source_refusal("{counter: {name: m, driver: d, " + selector +
                       "}}, {capacity: {name: m, driver: d, " + selector + "}}") ==
        ".deviceClassMappings[0].sources[1]: expected no counters beside capacities in one "
        "mapping");
}
