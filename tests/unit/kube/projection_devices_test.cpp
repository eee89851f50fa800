// The kinds of Dynamic Resource Allocation: what is kept of them, and what is refused.
#include <catch2/catch.hpp>

#include "connectors/kube/projection/projection.h"
#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

std::string device_object(const std::string& kind, const std::string& rest,
                          const std::string& version) {
  const std::string metadata = !rest.starts_with("\"metadata\"")
                                   ? R"("metadata":{"name":"x","namespace":"n","uid":"u"},)"
                                   : "";
  return R"({"apiVersion":"resource.k8s.io/)" + version + R"(","kind":")" + kind + R"(",)" +
         metadata + rest + "}";
}

template <class F>
F device_facts(const std::string& kind, const std::string& rest,
               const std::string& version = "v1") {
  const std::string text = device_object(kind, rest, version);
  INFO(text);
  return std::get<F>(seen(text).facts);
}

// Why an object is refused; "read" if it is not.
std::string refusal(const std::string& kind, const std::string& rest,
                    const std::string& version = "v1") {
  const auto document = parse_json(device_object(kind, rest, version));
  REQUIRE(document.has_value());
  const auto projected = project(document->root());
  return projected.has_error() ? projected.error().message : "read";
}

ResourceSliceFacts slice(const std::string& rest, const std::string& version = "v1") {
  return device_facts<ResourceSliceFacts>(
      "ResourceSlice",
      R"("spec":{"driver":"d","pool":{"name":"p","resourceSliceCount":1},)" + rest + "}", version);
}
std::string slice_refusal(const std::string& rest, const std::string& version = "v1") {
  return refusal("ResourceSlice",
                 R"("spec":{"driver":"d","pool":{"name":"p","resourceSliceCount":1},)" + rest + "}",
                 version);
}

DeviceClaimSpec device_claim(const std::string& devices, const std::string& version = "v1") {
  return device_facts<ResourceClaimFacts>("ResourceClaim",
                                          R"("spec":{"devices":{)" + devices + "}}", version)
      .spec;
}
std::string claim_refusal(const std::string& devices, const std::string& version = "v1") {
  return refusal("ResourceClaim", R"("spec":{"devices":{)" + devices + "}}", version);
}

// `item` so many times, with `#` replaced by the number.
std::string repeated(std::size_t count, const std::string& item) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    std::string each = item;
    for (std::size_t at = 0; (at = each.find('#', at)) != std::string::npos;)
      each.replace(at, 1, std::to_string(i));
    out += (i > 0 ? "," : "") + each;
  }
  return out;
}

Quantity amount(std::string_view text) { return *Quantity::parse(text); }

constexpr const char* kGpu = R"("attributes":{"model":{"string":"H100"},"slot":{"int":-3},
  "healthy":{"bool":false},"example.com/firmware":{"version":"1.2.3"},"links":{"ints":[1,2]},
  "later":{"complex":{}}},"capacity":{"memory":{"value":"80Gi"},"cores":{"value":4}})";

DeviceFacts gpu(const std::string& name) {
  DeviceFacts device;
  device.name = name;
  device.attributes = {{"model", "sH100"},
                       {"slot", "i-3"},
                       {"healthy", "bfalse"},
                       {"example.com/firmware", "v1.2.3"}};
  device.capacity = {{"cores", amount("4"), {}}, {"memory", amount("80Gi"), {}}};
  return device;
}

}  // namespace

TEST_CASE("a slice keeps its pool and its devices in order, in each version") {
  const std::string spec = R"("spec":{"driver":"gpu.example.com","nodeName":"n1",
    "pool":{"name":"p","generation":7,"resourceSliceCount":2},"devices":[)";
  const ResourceSliceFacts expected{
      "gpu.example.com", "p", 7, 2, {NodeReachKind::node, "n1", {}}, {gpu("b"), gpu("a")}, {}};
  const std::string flat =
      R"({"name":"b",)" + std::string(kGpu) + R"(},{"name":"a",)" + kGpu + "}]}";
  const std::string basic = R"({"name":"b","basic":{)" + std::string(kGpu) +
                            R"(}},{"name":"a","basic":{)" + kGpu + "}}]}";
  CHECK(device_facts<ResourceSliceFacts>("ResourceSlice", spec + flat) == expected);
  CHECK(device_facts<ResourceSliceFacts>("ResourceSlice", spec + flat, "v1beta2") == expected);
  CHECK(device_facts<ResourceSliceFacts>("ResourceSlice", spec + basic, "v1beta1") == expected);
  // Where the fields stand belongs to the version.
  const ResourceSliceFacts bare =
      slice(R"("devices":[{"name":"a",)" + std::string(kGpu) + "}]", "v1beta1");
  REQUIRE(bare.devices.size() == 1);
  CHECK(bare.devices[0].attributes.empty());
}

TEST_CASE("a slice reaches nodes by one of four fields, and leaves it to its devices by the last") {
  CHECK(slice(R"("nodeName":"n")").reach == NodeReach{NodeReachKind::node, "n", {}});
  CHECK(slice(R"("allNodes":true)").reach.kind == NodeReachKind::all);
  CHECK(slice(R"("allNodes":false)", "v1beta1").reach.kind == NodeReachKind::none);
  CHECK(slice(R"("nodeName":"")", "v1beta1").reach.kind == NodeReachKind::none);
  const std::string selector = R"("nodeSelector":{"nodeSelectorTerms":[
    {"matchExpressions":[{"key":"pool","operator":"In","values":["a","b"]}]},
    {"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]})";
  const NodeSelector terms{
      {{{{"pool", "In", {"a", "b"}}}, {}}, {{}, {{"metadata.name", "In", {"n"}}}}}};
  CHECK(slice(selector).reach == NodeReach{NodeReachKind::selector, "", terms});
  const ResourceSliceFacts each =
      slice(R"("perDeviceNodeSelection":true,"devices":[{"name":"a","nodeName":"n"},{"name":"b",)" +
            selector + R"(},{"name":"c","allNodes":true},{"name":"d"}])");
  CHECK(each.reach.kind == NodeReachKind::devices);
  REQUIRE(each.devices.size() == 4);
  CHECK(each.devices[0].extras->reach == NodeReach{NodeReachKind::node, "n", {}});
  CHECK(each.devices[1].extras->reach == NodeReach{NodeReachKind::selector, "", terms});
  CHECK(each.devices[2].extras->reach.kind == NodeReachKind::all);
  CHECK_FALSE(each.devices[3].extras);
  // Without perDeviceNodeSelection a device's own fields mean nothing.
  CHECK_FALSE(
      slice(R"("allNodes":true,"devices":[{"name":"a","nodeName":"n"}])").devices[0].extras);
  CHECK(slice_refusal(R"("nodeName":"n","allNodes":true)") ==
        "ResourceSlice: spec: reaches nodes in more than one way");
}

TEST_CASE("what few devices have is apart, and only the taints that keep a claim away are kept") {
  const ResourceSliceFacts of = slice(R"("nodeName":"n","devices":[{"name":"a",
    "taints":[{"key":"b","effect":"NoSchedule"},{"key":"info","effect":"None"},
      {"key":"a","value":"v","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"}],
    "consumesCounters":[{"counterSet":"z","counters":{"m":{"value":"1Gi"}}},{"counterSet":"y"}],
    "allowMultipleAllocations":true,"bindingConditions":["ready"],"bindsToNode":true},
    {"name":"b","taints":[{"key":"info","effect":"None"}],"allowMultipleAllocations":false,
     "bindsToNode":true,"bindingFailureConditions":["bad"]}],
    "sharedCounters":[{"name":"z","counters":{"m":{"value":"4096Mi"}}},{"name":"y"}])");
  REQUIRE(of.devices.size() == 2);
  CHECK(*of.devices[0].extras == DeviceExtras{{},
                                              {{"a", "v", "NoExecute"}, {"b", "", "NoSchedule"}},
                                              {{"z", {{"m", amount("1Gi")}}}, {"y", {}}},
                                              true,
                                              true});
  CHECK_FALSE(of.devices[1].extras);
  CHECK(of.counters == std::vector<CounterSet>{{"z", {{"m", amount("4Gi")}}}, {"y", {}}});
}

TEST_CASE("a capacity has the policy by which its device is shared") {
  const auto policy = [](const std::string& text) {
    return slice(R"("devices":[{"name":"a","capacity":{"m":{"value":"8","requestPolicy":)" + text +
                 "}}}]")
        .devices[0]
        .capacity[0]
        .policy;
  };
  CHECK_FALSE(policy("{}"));
  CHECK_FALSE(policy("null"));
  CHECK(*policy(R"({"default":"2","validValues":["2",4]})") ==
        CapacityPolicy{amount("2"), {amount("2"), amount("4")}, {}, {}, {}});
  CHECK(*policy(R"({"default":"2","validRange":{"min":"1","max":"8","step":"1"}})") ==
        CapacityPolicy{amount("2"), {}, amount("1"), amount("8"), amount("1")});
  CHECK(*policy(R"({"validRange":{}})") == CapacityPolicy{{}, {}, Quantity{}, {}, {}});
}

TEST_CASE("a slice that no API server lets pass is refused whole, with the field's name") {
  const auto devices = [](std::size_t count, const std::string& more = "") {
    return R"("devices":[)" + repeated(count, R"({"name":"d#")" + more + "}") + "]";
  };
  CHECK(slice_refusal(devices(128)) == "read");
  CHECK(slice_refusal(devices(129)) == "ResourceSlice: spec.devices: more than 128 entries");
  CHECK(slice_refusal(R"("devices":[{"name":"a"},{"name":"a"}])") == "read");  // a rule of pools
  CHECK(slice_refusal(R"("devices":[{}])") == "ResourceSlice: devices.name: missing or no text");
  CHECK(slice_refusal(R"("devices":{})") == "ResourceSlice: spec.devices: no list");
  for (const char* capacity :
       {R"({"value":"8Gx"})", R"({"value":true})", R"("80Gi")",
        R"({"value":"1","requestPolicy":{"default":"x"}})",
        R"({"value":"1","requestPolicy":{"validRange":{"min":"1","max":""}}})"})
    CHECK(slice_refusal(R"("devices":[{"name":"a","capacity":{"m":)" + std::string(capacity) +
                        "}}]") != "read");
  CHECK(slice_refusal(R"("sharedCounters":[{"name":"c","counters":{"m":{"value":"one"}}}])") ==
        "ResourceSlice: counters: no quantity");
  CHECK(slice_refusal(R"("devices":[{"name":"a","attributes":{"n":{"int":1.5}}}])") ==
        "ResourceSlice: attributes: no integer of 64 bits");
  CHECK(slice_refusal(R"("devices":[{"name":"a","attributes":{"n":{"string":7}}}])") ==
        "ResourceSlice: attributes: a value is not of its type");
  const auto attributes = [&](std::size_t count) {
    return R"("devices":[{"name":"a","capacity":{"m":{"value":"1"}},"attributes":{)" +
           repeated(count, R"("a#":{"int":1})") + "}}]";
  };
  CHECK(slice_refusal(attributes(31)) == "read");
  CHECK(slice_refusal(attributes(32)) ==
        "ResourceSlice: devices: more than 32 attributes and capacities of one device");
  for (const char* pool :
       {R"({"name":"p","resourceSliceCount":0})", R"({"name":"p"})", R"({"resourceSliceCount":1})",
        R"({"name":"p","resourceSliceCount":1,"generation":-1})",
        R"({"name":"p","resourceSliceCount":1,"generation":"1"})"})
    CHECK(refusal("ResourceSlice", R"("spec":{"driver":"d","pool":)" + std::string(pool) + "}") !=
          "read");
  CHECK(refusal("ResourceSlice", R"("spec":{"pool":{"name":"p","resourceSliceCount":1}})") ==
        "ResourceSlice: spec.driver: missing or no text");
}

TEST_CASE(
    "a class keeps selectors, its extended resource and when it was made, and no parameters") {
  const auto full = device_facts<DeviceClassFacts>(
      "DeviceClass", R"("metadata":{"name":"c","creationTimestamp":"1970-01-01T00:01:00Z"},
        "spec":{"selectors":[{"cel":{"expression":"true"}},{"later":{}},{"cel":{}}],
          "extendedResourceName":"example.com/gpu",
          "config":[{"opaque":{"driver":"d","parameters":{"token":"SECRET"}}}]})");
  CHECK(full == DeviceClassFacts{{{"true"}, {std::nullopt}, {""}}, "example.com/gpu", 60});
  CHECK(device_facts<DeviceClassFacts>("DeviceClass", R"("spec":{})") == DeviceClassFacts{});
  CHECK(refusal("DeviceClass", R"("spec":{"selectors":[)" + repeated(33, "{}") + "]}") ==
        "DeviceClass: selectors: more than 32 entries");
}

TEST_CASE("a request has the API's defaults, in each version") {
  DeviceAsk one;
  one.device_class = "c";
  DeviceAsk full{"",
                 "c",
                 {{"true"}},
                 AllocationMode::exact,
                 3,
                 true,
                 {{"k", "Equal", "v", ""}, {"", "Exists", "", "NoExecute"}},
                 {{"memory", amount("1Gi")}}};
  DeviceAsk all = one;
  all.mode = AllocationMode::all;
  DeviceAsk later = one;
  later.mode = AllocationMode::unknown;
  const std::string wide =
      R"("deviceClassName":"c","selectors":[{"cel":{"expression":"true"}}],"count":3,
      "adminAccess":true,"tolerations":[{"key":"k","value":"v"},
        {"operator":"Exists","effect":"NoExecute","tolerationSeconds":3}],
      "capacity":{"requests":{"memory":"1024Mi"}})";
  const std::string narrow = R"("deviceClassName":"c")";
  const std::string of_all = narrow + R"(,"allocationMode":"All")";
  const std::string of_later = narrow + R"(,"allocationMode":"Most","count":9)";
  const std::string zero = narrow + R"(,"allocationMode":"ExactCount","count":0)";
  const std::vector<std::pair<std::string, DeviceAsk>> cases{
      {narrow, one}, {zero, one}, {wide, full}, {of_all, all}, {of_later, later}};
  for (const auto& [text, ask] : cases) {
    const DeviceClaimSpec expected{{{"r", false, {ask}}}, {}};
    CHECK(device_claim(R"("requests":[{"name":"r","exactly":{)" + text + "}}]") == expected);
    CHECK(device_claim(R"("requests":[{"name":"r","exactly":{)" + text + "}}]", "v1beta2") ==
          expected);
    CHECK(device_claim(R"("requests":[{"name":"r",)" + text + "}]", "v1beta1") == expected);
  }
}

TEST_CASE("alternatives keep their order, and a request of another shape asks for nothing") {
  const std::string first = R"("requests":[{"name":"r","firstAvailable":[
    {"name":"big","deviceClassName":"c","count":2,"adminAccess":true},
    {"name":"any","deviceClassName":"d","allocationMode":"All"}]}])";
  DeviceAsk big, any;
  big.name = "big";
  big.device_class = "c";
  big.count = 2;
  any.name = "any";
  any.device_class = "d";
  any.mode = AllocationMode::all;
  const DeviceClaimSpec expected{{{"r", true, {big, any}}}, {}};
  CHECK(device_claim(first) == expected);
  CHECK(device_claim(first, "v1beta1") == expected);
  const DeviceClaimSpec nothing{{{"r", false, {}}}, {}};
  CHECK(device_claim(R"("requests":[{"name":"r","oneOf":{}}])") == nothing);
  CHECK(device_claim(R"("requests":[{"name":"r","oneOf":{}}])", "v1beta1") == nothing);
  // v1 does not know a request that asks by itself.
  CHECK(device_claim(R"("requests":[{"name":"r","deviceClassName":"c"}])") == nothing);
  CHECK(claim_refusal(R"("requests":[{"name":"r","exactly":{"deviceClassName":"c"},
    "firstAvailable":[{"name":"a","deviceClassName":"c"}]}])") ==
        "ResourceClaim: requests: one request and alternatives of it");
}

TEST_CASE("constraints are kept as written; one of a kind that is not known is empty") {
  CHECK(device_claim(R"("constraints":[{"requests":["a","b/c"],"matchAttribute":"d/x"},
      {"distinctAttribute":"d/y"},{"matchAttribute":"d/x","distinctAttribute":"d/y"},{"later":1}])")
            .constraints ==
        std::vector<DeviceConstraint>{
            {{"a", "b/c"}, "d/x", ""}, {{}, "", "d/y"}, {{}, "d/x", ""}, {{}, "", ""}});
}

TEST_CASE("a claim that no API server lets pass is refused") {
  const auto requests = [](std::size_t count) {
    return R"("requests":[)" +
           repeated(count, R"({"name":"r#","exactly":{"deviceClassName":"c"}})") + "]";
  };
  const auto exactly = [](const std::string& text) {
    return R"("requests":[{"name":"r","exactly":{"deviceClassName":"c",)" + text + "}}]";
  };
  CHECK(claim_refusal(requests(32)) == "read");
  CHECK(claim_refusal(requests(33)) == "ResourceClaim: requests: more than 32 entries");
  CHECK(claim_refusal(R"("constraints":[)" + repeated(33, "{}") + "]") ==
        "ResourceClaim: constraints: more than 32 entries");
  CHECK(claim_refusal(exactly(R"("capacity":{"requests":{"m":"1Gq"}})")) ==
        "ResourceClaim: capacity.requests: no quantity");
  CHECK(claim_refusal(exactly(R"("count":-1)")) ==
        "ResourceClaim: count: no integer of 64 bits, or negative");
  CHECK(claim_refusal(exactly(R"("tolerations":[)" + repeated(17, "{}") + "]")) ==
        "ResourceClaim: tolerations: more than 16 entries");
  CHECK(claim_refusal(R"("requests":[{"name":"r","exactly":{}}])") ==
        "ResourceClaim: deviceClassName: missing or no text");
  CHECK(claim_refusal(R"("requests":[{"name":"r"},{"name":"r"}])") ==
        "ResourceClaim: requests: two of one name");
  CHECK(claim_refusal(R"("requests":[{"name":"r","firstAvailable":[)" +
                      repeated(9, R"({"name":"a#","deviceClassName":"c"})") + "]}]") ==
        "ResourceClaim: firstAvailable: more than 8 entries");
  CHECK(refusal("ResourceClaimTemplate", R"("spec":{"spec":{"devices":{)" + requests(33) + "}}}") ==
        "ResourceClaimTemplate: requests: more than 32 entries");
  const auto status = [](const std::string& text) {
    return refusal("ResourceClaim", R"("status":{)" + text + "}");
  };
  CHECK(status(R"("allocation":{"devices":{"results":[)" + repeated(33, "{}") + "]}}") ==
        "ResourceClaim: status.allocation.devices.results: more than 32 entries");
  CHECK(status(R"("reservedFor":[)" + repeated(256, "{}") + "]") == "read");
  CHECK(status(R"("reservedFor":[)" + repeated(257, "{}") + "]") ==
        "ResourceClaim: status.reservedFor: more than 256 entries");
  CHECK(status(R"("allocation":{"devices":{"results":[{"consumedCapacity":{"m":"?"}}]}})") ==
        "ResourceClaim: consumedCapacity: no quantity");
}

TEST_CASE("a claim keeps its allocation, its consumers and the pods that own it") {
  const auto full = device_facts<ResourceClaimFacts>(
      "ResourceClaim",
      R"("metadata":{"name":"c","namespace":"n","deletionTimestamp":"2026-01-01T00:00:00Z",
      "annotations":{"resource.kubernetes.io/pod-claim-name":"gpus",
        "resource.kubernetes.io/extended-resource-claim":"true"},
      "ownerReferences":[{"apiVersion":"v1","kind":"Pod","uid":"b"},{"apiVersion":"v1","kind":"Pod","uid":"a"},
        {"apiVersion":"apps/v1","kind":"Pod","uid":"c"},{"apiVersion":"v1","kind":"Node","uid":"d"}]},
    "spec":{"devices":{"config":[{"opaque":{"parameters":"SECRET"}}]}},
    "status":{"allocation":{"devices":{"results":[
          {"request":"r","driver":"d","pool":"p","device":"g","adminAccess":true},
          {"request":"f/a","driver":"d","pool":"p","device":"h","shareID":"s","consumedCapacity":{"m":"1Ki"}}],
        "config":[{"opaque":{"parameters":"SECRET"}}]},
      "nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}},
      "reservedFor":[{"resource":"pods","name":"p","uid":"b"},{"apiGroup":"g","resource":"r","name":"q","uid":"z"}],
      "devices":[{"driver":"d","data":"SECRET"}]})");
  ResourceClaimFacts expected;
  expected.allocation = {{{"r", "d", "p", "g", true, "", {}},
                          {"f/a", "d", "p", "h", false, "s", {{"m", amount("1024")}}}},
                         NodeSelector{{{{}, {{"metadata.name", "In", {"n"}}}}}}};
  expected.reserved_for = {{"", "pods", "p", "b"}, {"g", "r", "q", "z"}};
  expected.pod_owners = {"a", "b"};
  expected.pod_claim = "gpus";
  expected.extended = true;
  expected.deleting = true;
  CHECK(full == expected);
  const auto status = [](const std::string& text) {
    return device_facts<ResourceClaimFacts>("ResourceClaim", R"("status":)" + text).allocation;
  };
  CHECK(status("{}") == std::nullopt);
  CHECK(status(R"({"allocation":{}})") == ClaimAllocation{});
  CHECK(status(R"({"allocation":{"nodeSelector":{}}})") == ClaimAllocation{{}, NodeSelector{}});
}

TEST_CASE("a template is the spec of the claims made from it") {
  const auto of = device_facts<ResourceClaimTemplateFacts>(
      "ResourceClaimTemplate", R"("spec":{"metadata":{"labels":{"a":"b"}},"spec":{"devices":
        {"requests":[{"name":"r","deviceClassName":"c"}]}}})",
      "v1beta1");
  REQUIRE(of.spec.requests.size() == 1);
  CHECK(of.spec.requests[0].asks.at(0).device_class == "c");
}

TEST_CASE("a rule selects by driver, pool and device, in each version that serves it") {
  std::string version;
  const auto rule = [&](const std::string& selector) {
    return device_facts<DeviceTaintRuleFacts>(
        "DeviceTaintRule",
        R"("spec":{)" + selector + R"("taint":{"key":"k","value":"v","effect":"NoExecute"}})",
        version);
  };
  const Taint taint{"k", "v", "NoExecute"};
  for (const char* each : {"v1", "v1beta2", "v1alpha3"}) {
    version = each;
    CHECK(rule("") == DeviceTaintRuleFacts{false, {}, {}, {}, taint});
    CHECK(rule(R"("deviceSelector":{},)") == DeviceTaintRuleFacts{true, {}, {}, {}, taint});
    CHECK(rule(R"("deviceSelector":{"driver":"d","pool":"p","device":"g"},)") ==
          DeviceTaintRuleFacts{true, "d", "p", "g", taint});
    CHECK(refusal("DeviceTaintRule", R"("spec":{})", version) ==
          "DeviceTaintRule: spec.taint.key: missing or no text");
  }
  // What v1alpha3 could select by until Kubernetes 1.35 is not understood.
  for (const char* selector : {R"({"deviceClassName":"c"})", R"({"selectors":[]})"})
    CHECK(refusal("DeviceTaintRule",
                  R"("spec":{"taint":{"key":"k","effect":"NoExecute"},"deviceSelector":)" +
                      std::string(selector) + "}",
                  "v1alpha3") ==
          "DeviceTaintRule: spec.deviceSelector: selects by a class or by CEL");
  const auto other = parse_json(device_object("DeviceTaintRule", R"("spec":{})", "v1alpha2"));
  CHECK_FALSE(project(other->root()).value());
}
