// Workloads that wait for devices or for a fleet claim: what it costs when one of them ends and the
// next takes its place, while a queue of others waits on.
#include <memory>

#include "engine/base/check.h"
#include "replay/virtual_hub.h"
#include "tests/bench/benches.h"

namespace fairlead::bench {

namespace {

constexpr const char* kPlacement = "gpu";
constexpr const char* kQueueNamespace = "team";
constexpr std::uint64_t kNodes = 8;
constexpr std::uint64_t kDevices = 8;  // of a node

/// What those that wait ask for.
enum class Asks : std::uint8_t {
  alike,        ///< all devices of a node, by the same pod template
  differently,  ///< the same, by a template of each
  claim,        ///< one exclusive FleetResourceClaim
};

/// One hub, one worker cluster, and Workloads of which so many run as there are nodes or claims.
class DispatchWorld {
 public:
  DispatchWorld(Asks asks, std::uint64_t waiting) : asks_(asks), hub_(ports(), Feedback::assumed) {
    begin();
    make_worker();
    if (asks == Asks::claim) make_claim();
    check(hub_.run_to(hub_.now() + minutes(10)).has_value(), "the list of workers settles");
    const std::uint64_t places = asks == Asks::claim ? 1 : kNodes;
    for (std::uint64_t i = 0; i < waiting + places; ++i) arrive();
    settle();
    check(nominated_ == places, "as many are nominated as there are places");
  }
  DispatchWorld(const DispatchWorld&) = delete;
  DispatchWorld& operator=(const DispatchWorld&) = delete;

  /// The oldest that runs ends, the oldest that waits is nominated, and a new one arrives.
  void turn() {
    const std::uint64_t before = nominated_;
    end_oldest();
    arrive();
    settle();
    check(nominated_ == before + 1, "the next one is nominated");
  }

 private:
  VirtualPorts ports() {
    VirtualPorts ports;
    ports.append = [this](std::vector<EventDraft> drafts, LogTime at) {
      return Result<std::vector<Event>>(numbered(std::move(drafts), at, last_));
    };
    ports.accepted = [this](const PatchIntended& intent, const std::string&, const std::string&) {
      const auto* workload = std::get_if<WorkloadFacts>(&*intent.expected);
      if (workload && !workload->nominated_clusters.empty()) ++nominated_;
    };
    return ports;
  }

  void begin() {
    Configuration configuration;
    configuration.create_claims = false;
    configuration.multikueue.dispatcher = true;
    configuration.dra.quota = false;
    configuration.dra.dispatch = asks_ != Asks::claim;
    configuration.dra.fleet_claims = asks_ == Asks::claim;
    configuration.dra.admit_timeout = configuration.dra.place_timeout = {};
    check(hub_.append(LogTime{}, {{std::string(kSelf), {}, ConfigChanged{configuration}}})
              .has_value(),
          "begun");
    see(kHub, {Kind::mutating_admission_policy, "", "fairlead-clear-nominations"},
        MutatingAdmissionPolicyFacts{.clears_nominations = true});
    AdmissionCheckFacts admission;
    admission.controller_name = "open-cluster-management.io/placement";
    admission.parameters_api_group = "cluster.open-cluster-management.io";
    admission.parameters_kind = "Placement";
    admission.parameters_name = kPlacement;
    see(kHub, {Kind::admission_check, "", "mk"}, std::move(admission));
    see(kHub, {Kind::placement, "kueue-system", kPlacement}, PlacementFacts{});
    see(kHub, {Kind::secret, "kueue-system", "kueue-admin-w1-kubeconfig"},
        SecretFacts{{"kubeconfig"}, {}});
    see(kHub, {Kind::placement_decision, "kueue-system", "gpu-decision-1"},
        PlacementDecisionFacts{kPlacement, {"w1"}});
  }

  void make_worker() {
    DeviceClassFacts gpus;
    gpus.extended_resource = "nvidia.com/gpu";
    gpus.selectors.push_back({"device.driver == \"gpu.nvidia.com\""});
    see("w1", {Kind::device_class, "", "gpu"}, std::move(gpus));
    for (std::uint64_t node = 0; node < kNodes; ++node) {
      const std::string name = "node-" + std::to_string(node);
      NodeFacts facts;
      facts.ready = true;
      see("w1", {Kind::node, "", name}, std::move(facts));
      ResourceSliceFacts slice;
      slice.driver = "gpu.nvidia.com";
      slice.pool = name;
      slice.generation = slice.slice_count = 1;
      slice.reach.kind = NodeReachKind::node;
      slice.reach.node = name;
      for (std::uint64_t i = 0; i < kDevices; ++i)
        slice.devices.emplace_back().name = "gpu-" + std::to_string(i);
      see("w1", {Kind::resource_slice, "", name}, std::move(slice));
    }
  }

  void make_claim() {
    see(kHub, {Kind::fleet_resource_class, "", "licences"},
        FleetResourceClassFacts{"licences.example.com", {}, {}});
    FleetResourceClaimFacts claim;
    claim.spec.resource_class = "licences";
    claim.driver = "licences.example.com";
    claim.allocation.emplace();
    see(kHub, {Kind::fleet_resource_claim, kQueueNamespace, "site"}, std::move(claim));
  }

  WorkloadFacts workload(std::uint64_t number) const {
    WorkloadFacts facts;
    facts.checks = {{"mk", "Ready"}};
    facts.quota_reserved = true;
    facts.created = LogTime{} + seconds(static_cast<std::int64_t>(number));
    WorkloadPodSet& pods = facts.pod_sets.emplace_back();
    pods.name = "main";
    if (asks_ == Asks::claim)
      pods.fleet.entries = {{"licence", "site", ""}};
    else
      pods.pod.extended = {{"nvidia.com/gpu", kDevices}};
    if (asks_ == Asks::differently)
      pods.pod.tolerations.emplace_back().key = "of-" + std::to_string(number);
    return facts;
  }
  static ObjectKey key_of(std::uint64_t number) {
    return {Kind::workload, kQueueNamespace, "w-" + std::to_string(number)};
  }
  void arrive() {
    see(kHub, key_of(arrived_), workload(arrived_));
    ++arrived_;
  }
  void end_oldest() {
    WorkloadFacts facts = workload(ended_);
    facts.finished = true;
    see(kHub, key_of(ended_++), std::move(facts));
  }
  void settle() { check(hub_.run_to(hub_.now() + seconds(1)).has_value(), "time goes on"); }
  void see(std::string_view source, ObjectKey key, Facts facts) {
    ObjectSeen seen;
    seen.key = std::move(key);
    seen.version =
        seen.key.kind == Kind::fleet_resource_class || seen.key.kind == Kind::fleet_resource_claim
            ? "v1alpha1"
            : "v1";
    seen.uid = seen.key.name;
    seen.facts = std::move(facts);
    check(hub_.offer({std::string(source), std::move(seen)}).has_value(), "facts are taken in");
  }

  const Asks asks_;
  Seq last_;
  std::uint64_t arrived_ = 0, ended_ = 0, nominated_ = 0;
  VirtualHub hub_;
};

constexpr int kTurns = 10;

/// CPU microseconds of a turn.
double cost_of_a_turn(DispatchWorld& world) {
  return cpu_seconds_of([&world] {
           for (int i = 0; i < kTurns; ++i) world.turn();
         }) /
         kTurns * 1e6;
}

auto beside_a_tenth(Asks asks) {
  return [asks](const Place& place) {
    const std::uint64_t waiting = place.size == Size::tiny ? 200 : 10'000;
    const auto large = std::make_shared<DispatchWorld>(asks, waiting);
    const auto small = std::make_shared<DispatchWorld>(asks, waiting / 10);
    return Trial{[large] { return cost_of_a_turn(*large); },
                 [small] { return cost_of_a_turn(*small); }};
  };
}

}  // namespace

// Ten times as many that wait may cost ten times as much, since each of them may be the one that
// fits; and twice that, because caches hold less of them.
void add_dispatch_benches(Suite& suite) {
  const Better less = Better::less;
  suite.add({"dispatch/the next of 10k that ask alike", "of 1k", "us", less, 20,
             beside_a_tenth(Asks::alike)});
  suite.add({"dispatch/the next of 10k that ask differently", "of 1k", "us", less, 20,
             beside_a_tenth(Asks::differently)});
  suite.add({"dispatch/the next of 10k for a fleet claim", "of 1k", "us", less, 20,
             beside_a_tenth(Asks::claim)});
}

}  // namespace fairlead::bench
