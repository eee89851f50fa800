// Devices as capacity at their full size: 100 clusters of 1,000 nodes with 8 devices each. What a
// change of a slice or of a node costs beside the same at a hundredth, and what a device takes of
// memory.
#include <algorithm>
#include <memory>

#include "engine/fold/evolve.h"
#include "tests/bench/benches.h"
#include "tests/bench/resident.h"
#include "tests/bench/workload.h"

namespace fairlead::bench {
namespace {

struct DeviceFleetSize {
  std::uint64_t clusters = 100;
  std::uint64_t nodes = 1000;    ///< of a cluster
  std::uint64_t devices = 8;     ///< of a node, in one slice
  std::uint64_t everywhere = 0;  ///< devices of a cluster that reach every node
};

DeviceFleetSize whole_fleet(const Place& place) {
  return place.size == Size::tiny ? DeviceFleetSize{4, 25, 8, 0} : DeviceFleetSize{};
}

/// What a GPU's driver publishes of each.
DeviceFacts device_of(std::uint64_t number, std::uint64_t device) {
  DeviceFacts facts;
  facts.name = "gpu-" + std::to_string(device);
  facts.attributes = {
      {"architecture", "sAmpere"},
      {"driverVersion", "v550.54.15"},
      {"productName", "sNVIDIA A100-SXM4-40GB"},
      {"type", "sgpu"},
      {"uuid", "sGPU-5c8a1b0e-7f3d-4c21-9e55-" + std::to_string(number * 8 + device)}};
  facts.capacity = {{"memory", *Quantity::parse("40Gi"), {}}};
  return facts;
}

class DeviceFleet {
 public:
  explicit DeviceFleet(const DeviceFleetSize& size) : size_(size) {
    take(std::string(kSelf), EpochStarted{"bench", "bench", kFoldVersion, 1});
    Configuration configuration;
    configuration.create_claims = false;
    take(std::string(kSelf), ConfigChanged{configuration});
    observe(std::string(kHub), {Kind::resource_flavor, "", "a100"},
            ResourceFlavorFacts{{{"gpu", "a100"}}, {}, {}, ""});
    for (std::uint64_t cluster = 0; cluster < size.clusters; ++cluster) make_cluster(cluster);
    later();
  }
  DeviceFleet(const DeviceFleet&) = delete;
  DeviceFleet& operator=(const DeviceFleet&) = delete;

  const DeviceFleetSize& size() const { return size_; }

  /// A driver taints a device of a node, or takes the taint off.
  void taint(std::uint64_t cluster, std::uint64_t node, bool tainted) {
    ResourceSliceFacts slice = slice_of(node);
    if (tainted) slice.devices.front().extras.emplace().taints = {{"unhealthy", "", "NoExecute"}};
    observe(source_of(cluster), {Kind::resource_slice, "", name_of(node)}, std::move(slice));
    later();
  }
  /// A node breaks, or is ready again.
  void set_ready(std::uint64_t cluster, std::uint64_t node, bool ready) {
    observe(source_of(cluster), {Kind::node, "", name_of(node)}, node_facts(ready));
    later();
  }

 private:
  static std::string source_of(std::uint64_t cluster) { return "c" + std::to_string(cluster); }
  static std::string name_of(std::uint64_t node) { return "node-" + std::to_string(node); }
  static NodeFacts node_facts(bool ready) {
    NodeFacts facts;
    facts.labels = {{"gpu", "a100"}};
    facts.ready = ready;
    facts.allocatable = {{"cpu", 64'000}};
    return facts;
  }
  ResourceSliceFacts slice_of(std::uint64_t node) const {
    ResourceSliceFacts slice;
    slice.driver = "gpu.nvidia.com";
    slice.pool = name_of(node);
    slice.generation = slice.slice_count = 1;
    slice.reach.kind = NodeReachKind::node;
    slice.reach.node = name_of(node);
    for (std::uint64_t i = 0; i < size_.devices; ++i) slice.devices.push_back(device_of(node, i));
    return slice;
  }
  void make_cluster(std::uint64_t cluster) {
    const std::string source = source_of(cluster);
    DeviceClassFacts gpus;
    gpus.extended_resource = "nvidia.com/gpu";
    gpus.selectors.push_back(
        {"device.driver == \"gpu.nvidia.com\" && "
         "device.attributes[\"gpu.nvidia.com\"].type == \"gpu\""});
    observe(source, {Kind::device_class, "", "gpu.nvidia.com"}, std::move(gpus));
    for (std::uint64_t node = 0; node < size_.nodes; ++node) {
      observe(source, {Kind::node, "", name_of(node)}, node_facts(true));
      if (size_.devices > 0)
        observe(source, {Kind::resource_slice, "", name_of(node)}, slice_of(node));
    }
    if (size_.everywhere == 0) return;
    ResourceSliceFacts shared = slice_of(0);
    shared.pool = "everywhere";
    shared.reach = {NodeReachKind::all, "", {}};
    shared.devices.clear();
    for (std::uint64_t i = 0; i < size_.everywhere; ++i) shared.devices.push_back(device_of(0, i));
    observe(source, {Kind::resource_slice, "", "everywhere"}, std::move(shared));
  }
  void observe(const SourceName& source, const ObjectKey& key, Facts facts) {
    ObjectObserved seen;
    seen.key = key;
    seen.version = "v1";
    seen.uid = key.name;
    seen.facts = std::move(facts);
    take(source, std::move(seen));
  }
  void take(SourceName source, Fact fact) {
    Event event;
    event.seq = Seq{state_.seq.value + 1};
    event.log_time = now_;
    event.source = std::move(source);
    event.fact = std::move(fact);
    evolve(state_, event, dirty_);
  }
  void later() {
    now_ = now_ + seconds(1);
    take(std::string(kSelf), TimerFired{});
    dirty_ = {};
  }

  DeviceFleetSize size_;
  State state_;
  DirtySet dirty_;
  LogTime now_{1};
};

struct DeviceTurns {
  explicit DeviceTurns(const DeviceFleetSize& size) : fleet(size) {}
  std::uint64_t any_cluster() { return random.roll() % fleet.size().clusters; }
  std::uint64_t any_node() { return random.roll() % fleet.size().nodes; }

  DeviceFleet fleet;
  Random random{7};
};

constexpr int kDeviceTurns = 500;

/// CPU microseconds for a slice that changes, its moment closed.
double slice_update(DeviceTurns& turns) {
  return cpu_seconds_of([&] {
           for (int i = 0; i < kDeviceTurns; ++i) {
             const std::uint64_t cluster = turns.any_cluster(), node = turns.any_node();
             turns.fleet.taint(cluster, node, true);
             turns.fleet.taint(cluster, node, false);
           }
         }) /
         (2 * kDeviceTurns) * 1e6;
}

/// CPU microseconds for a node that breaks and comes back.
double device_node_flip(DeviceTurns& turns) {
  return cpu_seconds_of([&] {
           for (int i = 0; i < kDeviceTurns; ++i) {
             const std::uint64_t cluster = turns.any_cluster(), node = turns.any_node();
             turns.fleet.set_ready(cluster, node, false);
             turns.fleet.set_ready(cluster, node, true);
           }
         }) /
         (2 * kDeviceTurns) * 1e6;
}

auto beside_fleets(double (*cost)(DeviceTurns&), DeviceFleetSize (*whole)(const Place&),
                   DeviceFleetSize (*part)(const Place&)) {
  return [cost, whole, part](const Place& place) {
    const auto large = std::make_shared<DeviceTurns>(whole(place));
    const auto small = std::make_shared<DeviceTurns>(part(place));
    return Trial{[large, cost] { return cost(*large); }, [small, cost] { return cost(*small); }};
  };
}

DeviceFleetSize a_hundredth(const Place& place) {
  DeviceFleetSize size = whole_fleet(place);
  size.clusters = std::max<std::uint64_t>(1, size.clusters / 100);
  return size;
}
DeviceFleetSize one_large_cluster(const Place& place) {
  return place.size == Size::tiny ? DeviceFleetSize{1, 100, 0, 128}
                                  : DeviceFleetSize{1, 10'000, 0, 128};
}
DeviceFleetSize one_small_cluster(const Place& place) {
  DeviceFleetSize size = one_large_cluster(place);
  size.nodes /= 100;
  return size;
}

double bytes_of_fleet(const DeviceFleetSize& size) {
  return figure_of_a_process([&size] {
    const double before = resident_bytes();
    const DeviceFleet fleet(size);
    return grown_since(before);
  });
}

Trial prepare_device_memory(const Place& place) {
  const DeviceFleetSize size = whole_fleet(place);
  return {[size] {
            DeviceFleetSize bare = size;
            bare.devices = 0;
            const double devices = bytes_of_fleet(size) - bytes_of_fleet(bare);
            return std::max(0.0, devices) /
                   static_cast<double>(size.clusters * size.nodes * size.devices);
          },
          [] { return 400.0; }};
}

}  // namespace

void add_device_benches(Suite& suite) {
  const Better less = Better::less;
  suite.add({"devices/slice update", "a hundredth of the fleet", "us", less, 2,
             beside_fleets(slice_update, whole_fleet, a_hundredth)});
  suite.add({"devices/node flip", "a hundredth of the fleet", "us", less, 2,
             beside_fleets(device_node_flip, whole_fleet, a_hundredth)});
  suite.add({"devices/node flip, 128 devices reach 10k nodes", "100 nodes", "us", less, 2,
             beside_fleets(device_node_flip, one_large_cluster, one_small_cluster)});
  suite.add({"memory/800k devices", "the goal", "B/device", less, 1, prepare_device_memory});
}

}  // namespace fairlead::bench
