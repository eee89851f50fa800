// Decisions about devices over a whole fleet, of 100 clusters with 1,000 nodes of 8 devices each:
// how long the slowest of many takes, and one whose steps run out. Against the scheduler's
// allocator: device_decisions.py.
#include <algorithm>
#include <list>
#include <memory>

#include "engine/devices/fit.h"
#include "tests/bench/benches.h"
#include "tests/bench/workload.h"

namespace fairlead::bench {
namespace {

constexpr std::uint64_t kDevices = 8;  // of a node
constexpr const char* kDriver = "gpu.example.com";

/// A cluster's index, with the facts that it points to.
class IndexedCluster {
 public:
  IndexedCluster(std::uint64_t nodes, std::uint64_t devices) {
    class_.selectors.push_back({"device.driver == \"gpu.example.com\""});
    index_.set_class("gpu", class_);
    for (std::uint64_t node = 0; node < nodes; ++node) add_node(name_of(node), devices);
  }
  IndexedCluster(const IndexedCluster&) = delete;
  IndexedCluster& operator=(const IndexedCluster&) = delete;

  ClusterDeviceIndex& index() { return index_; }
  /// One device of a node comes into use, or is free again.
  void use(std::uint64_t node, bool used) {
    std::vector<DeviceUse> uses;
    if (used) uses.emplace_back().device = {kDriver, name_of(node), "gpu-0"};
    index_.set_uses("claim-" + std::to_string(node), std::move(uses));
  }

 private:
  static std::string name_of(std::uint64_t node) { return "node-" + std::to_string(node); }
  void add_node(const std::string& name, std::uint64_t devices) {
    NodeFacts& node = nodes_.emplace_back();
    node.ready = true;
    index_.set_node(name, node);
    ResourceSliceFacts& slice = slices_.emplace_back();
    slice.driver = kDriver;
    slice.pool = name;
    slice.generation = slice.slice_count = 1;
    slice.reach.kind = NodeReachKind::node;
    slice.reach.node = name;
    for (std::uint64_t i = 0; i < devices; ++i) {
      DeviceFacts& device = slice.devices.emplace_back();
      device.name = "gpu-" + std::to_string(i);
      device.attributes = {{"group", "s" + std::to_string(i % 31)}, {"model", "sh100"}};
    }
    index_.set_slice(name, slice);
  }

  DeviceClassFacts class_;
  std::list<NodeFacts> nodes_;
  std::list<ResourceSliceFacts> slices_;
  ClusterDeviceIndex index_;
};

/// A pod whose claim asks for some devices of a class.
class Question {
 public:
  Question(
      std::int64_t count, std::string distinct,
      const std::string& selector = R"(device.attributes["gpu.example.com"].model == "h100")") {
    DeviceRequest& request = template_.spec.requests.emplace_back();
    request.name = "gpus";
    DeviceAsk& asks = request.asks.emplace_back();
    asks.device_class = "gpu";
    asks.selectors.push_back({selector});
    asks.count = count;
    if (!distinct.empty()) template_.spec.constraints.emplace_back().distinct = std::move(distinct);
    pod_.claims = {{"gpus", "", "gpus"}};
    question_.pod_sets = {{"main", 1, &pod_}};
    question_.template_of = [this](const std::string&) { return &template_; };
    question_.claim_of = [](const std::string&) { return std::optional<NamedClaim>(); };
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  const FitQuestion& asked() const { return question_; }

 private:
  ResourceClaimTemplateFacts template_;
  PodDeviceFacts pod_;
  FitQuestion question_;
};

/// A fleet whose nodes all have a device in use, but for one node of the last cluster.
class FullFleet {
 public:
  explicit FullFleet(const Place& place)
      : nodes_(place.size == Size::tiny ? 20 : 1000), turns_(place.size == Size::tiny ? 5 : 200) {
    for (int i = 0; i < (place.size == Size::tiny ? 3 : 100); ++i) {
      clusters_.push_back(std::make_unique<IndexedCluster>(nodes_, kDevices));
      for (std::uint64_t node = 0; node < nodes_; ++node) clusters_.back()->use(node, true);
    }
  }

  /// Milliseconds at the 99th percentile from a device that changes hands in a cluster to the
  /// answers of all of them.
  double p99() {
    std::vector<double> took;
    for (std::uint64_t turn = 0; turn < turns_; ++turn) {
      const std::uint64_t free = random_.roll() % nodes_;
      took.push_back(1e3 * seconds_of([&] { decide(free); }));
      clusters_.back()->use(free, true);
    }
    std::sort(took.begin(), took.end());
    return took[took.size() * 99 / 100];
  }

 private:
  void decide(std::uint64_t free) {
    IndexedCluster& changed = *clusters_.at(random_.roll() % clusters_.size());
    const std::uint64_t node = random_.roll() % nodes_;
    changed.use(node, false);
    changed.use(node, true);
    clusters_.back()->use(free, false);
    std::size_t fitting = 0;
    for (const auto& cluster : clusters_)
      if (!fit(cluster->index(), question_.asked()).refusal) ++fitting;
    if (fitting != 1) give_up("the pod fits in other clusters than the one with a free node");
  }

  std::uint64_t nodes_, turns_;
  Question question_{kDevices, ""};
  std::vector<std::unique_ptr<IndexedCluster>> clusters_;
  Random random_{3};
};

Trial prepare_whole_fleet(const Place& place) {
  const auto fleet = std::make_shared<FullFleet>(place);
  fleet->p99();  // what the indexes remember of selectors
  return {[fleet] { return fleet->p99(); }, [] { return 10.0; }};
}

/// One node of 120 devices in 31 groups, and a request for 32 of distinct groups: every choice
/// fails at the last device.
Trial prepare_budget(const Place&) {
  const auto cluster = std::make_shared<IndexedCluster>(1, 120);
  const auto question = std::make_shared<Question>(32, "gpu.example.com/group");
  return {[cluster, question] {
            return 1e3 * seconds_of([&] {
                     const FitAnswer answer = fit(cluster->index(), question->asked());
                     if (!answer.refusal || answer.refusal->reason != FitReason::budget)
                       give_up("the steps did not run out");
                   });
          },
          [] { return 1000.0; }};
}

/// A loop in a loop over numbers that is true for no device: some 800 steps on each. `salt` makes
/// it another text.
std::string dear_selector(std::uint64_t salt) {
  std::string numbers = "[" + std::to_string(1000 + salt);
  for (int i = 0; i < 11; ++i) numbers += ", " + std::to_string(i);
  numbers += "]";
  return R"(device.attributes["gpu.example.com"].model == "h100" && )" + numbers + ".exists(a, " +
         numbers + ".exists(b, b < 0))";
}

/// 1,000 devices, and 20 pods of a tenant that each bring a selector of their own, as dear as may
/// be.
Trial prepare_dear_selectors(const Place& place) {
  const auto cluster =
      std::make_shared<IndexedCluster>(place.size == Size::tiny ? 5 : 50, std::uint64_t{20});
  const auto salt = std::make_shared<std::uint64_t>(0);
  return {[cluster, salt] {
            return 1e3 * seconds_of([&] {
                     for (int pod = 0; pod < 20; ++pod) {
                       const Question question(1, "", dear_selector(++*salt));
                       const FitAnswer answer = fit(cluster->index(), question.asked());
                       if (!answer.refusal || answer.refusal->reason != FitReason::no_devices)
                         give_up("the selector was not asked");
                     }
                   });
          },
          [] { return 200.0; }};
}

}  // namespace

void add_device_decision_benches(Suite& suite) {
  suite.add({"devices/decision over 100 clusters, p99", "the goal", "ms", Better::less, 1,
             prepare_whole_fleet});
  suite.add({"devices/decision out of steps", "the goal", "ms", Better::less, 1, prepare_budget});
  suite.add(
      {"devices/20 dear selectors", "the goal", "ms", Better::less, 1, prepare_dear_selectors});
}

}  // namespace fairlead::bench
