#include "engine/fleet/device_fleet.h"

#include <algorithm>
#include <utility>

#include "engine/fleet/device_world.h"

namespace fairlead {
namespace {

constexpr std::int64_t kGpuNodes = 4;
constexpr std::int64_t kDevices = 8;  // of a node
constexpr const char* kDriver = "gpu.nvidia.com";
constexpr const char* kGpuResource = "nvidia.com/gpu";

Json object_of(const char* api_version, const char* kind, const std::string& name, Json spec) {
  return {{"apiVersion", api_version},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"spec", std::move(spec)}};
}

// The device plugin is gone: the node itself offers no GPU.
Json gpu_node(const std::string& name) {
  Json node = object_of("v1", "Node", name, Json::object());
  node["metadata"]["labels"] = {{"gpu", "a100"}, {"kubernetes.io/hostname", name}};
  return node;
}
Json gpu_node_status(LogTime now) {
  const Json amounts{{"cpu", "96"}, {"memory", "512Gi"}, {"pods", "110"}};
  return {{"allocatable", amounts},
          {"capacity", amounts},
          {"conditions", Json::array({condition("Ready", "True", "KubeletReady", now)})}};
}

Json gpu_queue() {
  const Json quota{{"name", kGpuResource}, {"nominalQuota", "0"}};
  const Json flavor{{"name", "a100"}, {"resources", Json::array({quota})}};
  const Json group{{"coveredResources", Json::array({kGpuResource})},
                   {"flavors", Json::array({flavor})}};
  return object_of(
      std::string(kKueue).c_str(), "ClusterQueue", std::string(kDeviceQueue),
      {{"namespaceSelector", Json::object()}, {"resourceGroups", Json::array({group})}});
}
Json gpu_claim() {
  const std::string count = std::to_string(kGpuNodes * kDevices);
  const Json row{
      {"clusterQueueName", kDeviceQueue}, {"flavor", "a100"}, {"resources", {{"gpu", count}}}};
  return object_of("galaxy.kubestellar.io/v1alpha1", "ClusterResourceClaim", "gpus-resource-claim",
                   {{"clusterName", kDeviceCluster},
                    {"nominalResources", {{"gpu", count}}},
                    {"resourceAssignments", Json::array({row})}});
}

}  // namespace

DeviceFleet::DeviceFleet(model::SharedModel& hub,
                         const std::map<std::string, model::SharedModel*>& servers,
                         std::uint64_t seed, LogTime start, FleetLogger logger)
    : admin_(hub, "kubectl-edit"),
      driver_(*servers.at(std::string(kDeviceCluster)), "gpu-driver"),
      start_(start),
      logger_(std::move(logger)),
      users_(hub, device_jobs_of_round, seed, start, logger_),
      kueue_(hub, logger_),
      random_(seed * 1'000'003) {
  for (std::int64_t i = 1; i <= kGpuNodes; ++i)
    nodes_.push_back({"gpu-" + std::to_string(i), 1, {}, {}});
}

Result<void> DeviceFleet::create(const Api& api, const std::string& collection,
                                 const Json& object) {
  ++writes_;
  if (auto made = api.create(collection, object); !made)
    return in_context("create " + collection, made.error());
  return {};
}

// Publishes one of the slices that the node's devices are divided into.
Result<void> DeviceFleet::publish(Node& node, std::int64_t part, std::int64_t parts) {
  const SlicePart slice{kDriver, node.name, node.generation, part, parts, kDevices, node.broken};
  node.slices.push_back(slice_name(slice));
  return create(driver_, kSlices, resource_slice(slice).object);
}

Result<void> DeviceFleet::begin() {
  for (const char* space : {"kueue-system", kDeviceTeam})
    if (auto made = create(admin_, kNamespaces, namespace_object(space).object); !made) return made;
  if (auto made = create(admin_, kFlavors,
                         object_of(std::string(kKueue).c_str(), "ResourceFlavor", "a100",
                                   {{"nodeLabels", {{"gpu", "a100"}}}}));
      !made)
    return made;
  if (auto made = create(admin_, kQueues, gpu_queue()); !made) return made;
  const WorldObject local = local_queue(kDeviceTeam, std::string(kDeviceQueue));
  if (auto made = create(admin_, local.collection, local.object); !made) return made;
  if (auto made = create(driver_, kClasses, device_class(kDriver, kGpuResource).object); !made)
    return made;
  for (Node& node : nodes_) {
    if (auto made = create(driver_, kNodes, gpu_node(node.name)); !made) return made;
    ++writes_;
    if (auto done = driver_.merge(kNodes + "/" + node.name + "/status",
                                  {{"status", gpu_node_status(start_)}});
        !done)
      return done.error();
    if (auto made = publish(node, 0, 1); !made) return made;
  }
  logger_("driver", "publishes 8 GPUs on each of 4 nodes");
  logger_("admin", "assigns all GPUs of the cluster to ClusterQueue " + std::string(kDeviceQueue));
  return create(admin_, kClaims, gpu_claim());
}

void DeviceFleet::write_round() {
  const Duration begin{round_++ * kDeviceRoundLength.ns};
  const auto add = [&](Duration at, Fault fault, std::size_t node, const char* text) {
    script_.push_back({{begin.ns + at.ns}, fault, node, nodes_[node].name + ": " + text});
  };
  const auto any = [&] { return static_cast<std::size_t>(random_.below(kGpuNodes)); };
  const auto later = [&](Duration at) { return Duration{at.ns + seconds(random_.below(20)).ns}; };
  const std::size_t broken = any(), upgraded = any(), drained = any(), stuck = any();
  // Each begins when growWindow has brought back what the one before took.
  add(later(minutes(2)), Fault::break_device, broken, "a GPU is broken: the driver taints it");
  add(later(minutes(4)), Fault::repair_device, broken, "the GPU is repaired");
  Duration at = later(minutes(10));
  add(at, Fault::begin_upgrade, upgraded, "the driver is upgraded: the first of two slices");
  add({at.ns + seconds(40).ns}, Fault::end_upgrade, upgraded, "the driver has published the rest");
  add(later(minutes(12)), Fault::cordon, drained, "is cordoned, with its GPUs");
  add(later(minutes(13)), Fault::uncordon, drained, "takes pods again");
  at = later(minutes(19));
  add(at, Fault::begin_upgrade, stuck, "the driver is upgraded and hangs after one of two slices");
  add({at.ns + minutes(7).ns}, Fault::end_upgrade, stuck, "the driver goes on and is complete");
}

void DeviceFleet::advance(LogTime now) {
  play(now);
  users_.look(now);
  kueue_.look(now);
}

void DeviceFleet::play(LogTime now) {
  if (script_.empty()) write_round();
  if (now < start_ + script_.front().at) return;
  const Scheduled entry = std::move(script_.front());
  script_.pop_front();
  const auto done = carry_out(entry);
  const bool by_admin = entry.fault == Fault::cordon || entry.fault == Fault::uncordon;
  logger_(by_admin ? "admin" : "driver",
          entry.text + (done ? "" : " -- not possible: " + done.error().message));
}

Result<void> DeviceFleet::carry_out(const Scheduled& entry) {
  Node& node = nodes_[entry.node];
  switch (entry.fault) {
    case Fault::break_device: node.broken.insert(random_.below(kDevices)); return republish(node);
    case Fault::repair_device: node.broken.clear(); return republish(node);
    case Fault::begin_upgrade: return begin_upgrade(node);
    case Fault::end_upgrade: return end_upgrade(node);
    case Fault::cordon:
    case Fault::uncordon: break;
  }
  ++writes_;
  const bool cordoned = entry.fault == Fault::cordon;
  if (auto done =
          driver_.merge(kNodes + "/" + node.name,
                        {{"spec", {{"unschedulable", cordoned ? Json(true) : Json(nullptr)}}}});
      !done)
    return done.error();
  return {};
}

// Writes the devices of the node's slices again.
Result<void> DeviceFleet::republish(const Node& node) {
  const auto parts = static_cast<std::int64_t>(node.slices.size());
  for (std::int64_t part = 0; part < parts; ++part) {
    const Json devices =
        devices_of({kDriver, node.name, node.generation, part, parts, kDevices, node.broken});
    ++writes_;
    const std::string& name = node.slices[static_cast<std::size_t>(part)];
    if (auto done = driver_.merge(kSlices + "/" + name, {{"spec", {{"devices", devices}}}}); !done)
      return done.error();
  }
  return {};
}

Result<void> DeviceFleet::begin_upgrade(Node& node) {
  ++node.generation;
  return publish(node, 0, 2);
}

Result<void> DeviceFleet::end_upgrade(Node& node) {
  const std::vector<std::string> old(node.slices.begin(), node.slices.end() - 1);
  if (auto made = publish(node, 1, 2); !made) return made;
  node.slices.erase(node.slices.begin(), node.slices.end() - 2);
  for (const std::string& name : old) {
    ++writes_;
    if (auto gone = driver_.remove(kSlices + "/" + name); !gone) return gone.error();
  }
  return {};
}

}  // namespace fairlead
