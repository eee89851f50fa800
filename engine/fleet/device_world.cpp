#include "engine/fleet/device_world.h"

#include <utility>

namespace fairlead {
namespace {

Json device_object(std::int64_t number, const std::string& driver, bool broken) {
  Json device{
      {"name", "gpu-" + std::to_string(number)},
      {"attributes", {{"type", {{"string", "gpu"}}}, {"productName", {{"string", "NVIDIA A100"}}}}},
      {"capacity", {{"memory", {{"value", "40Gi"}}}}}};
  if (broken)
    device["taints"] =
        Json::array({{{"key", driver + "/unhealthy"}, {"value", "xid"}, {"effect", "NoExecute"}}});
  return device;
}

Json device_api_object(const char* kind, const std::string& name, Json spec) {
  return {{"apiVersion", "resource.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"spec", std::move(spec)}};
}

}  // namespace

Json devices_of(const SlicePart& slice) {
  Json devices = Json::array();
  for (std::int64_t i = slice.part * slice.devices / slice.parts;
       i < (slice.part + 1) * slice.devices / slice.parts; ++i)
    devices.push_back(device_object(i, slice.driver, slice.broken.contains(i)));
  return devices;
}

std::string slice_name(const SlicePart& slice) {
  return slice.node + "-" + std::to_string(slice.generation) + "-" + std::to_string(slice.part);
}

WorldObject resource_slice(const SlicePart& slice) {
  return {kSlices, device_api_object("ResourceSlice", slice_name(slice),
                                     {{"driver", slice.driver},
                                      {"nodeName", slice.node},
                                      {"pool",
                                       {{"name", slice.node},
                                        {"generation", slice.generation},
                                        {"resourceSliceCount", slice.parts}}},
                                      {"devices", devices_of(slice)}})};
}

WorldObject device_class(const std::string& driver, const std::string& resource) {
  const std::string selector = "device.driver == \"" + driver + "\"";
  return {kClasses,
          device_api_object("DeviceClass", driver,
                            {{"selectors", Json::array({{{"cel", {{"expression", selector}}}}})},
                             {"extendedResourceName", resource}})};
}

}  // namespace fairlead
