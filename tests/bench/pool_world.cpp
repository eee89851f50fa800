#include "tests/bench/pool_world.h"

#include "tests/bench/bench.h"

namespace fairlead::bench {

namespace {

constexpr Amount kGi = Amount{1} << 30;
constexpr int kNodesOfCluster = 4;
// Longer than the write interval, so that no write waits for it.
constexpr Duration kStep = seconds(10);
// Writes and their answers until nothing more is written: placements, pods, reasons.
constexpr int kRoundsMax = 16;

Configuration pool_configuration() {
  Configuration configuration;
  configuration.member_mode = MemberMode::none;
  configuration.create_claims = false;
  configuration.headroom.percent.clear();
  DebounceSettings& debounce = configuration.debounce;
  debounce.shrink_window = debounce.grow_window = debounce.first_quiet = {};
  debounce.min_grow_interval = debounce.mass_shrink_hold = {};
  debounce.grow_deadband_percent = debounce.flap_penalty = debounce.mass_shrink_percent = 0;
  configuration.pool.clusters.resize(1);
  configuration.pool.clusters.front().name = "*";
  return configuration;
}

std::string numbered(const char* name, std::uint64_t number) {
  std::string digits = std::to_string(number);
  return name + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

NodeFacts node_of(Amount cpus) {
  NodeFacts facts;
  facts.ready = true;
  facts.allocatable = {{"cpu", cpus * 1000}, {"memory", 1024 * kGi}};
  return facts;
}

ResourceQuotaFacts quota_of_slices(std::int64_t slices) {
  ResourceQuotaFacts facts;
  facts.hard = {{"requests.cpu", slices * 2000}, {"requests.memory", slices * 4 * kGi}};
  return facts;
}

PodFacts new_pod() {
  PodFacts facts;
  facts.requests = {{"cpu", 500}, {"memory", kGi}};
  return facts;
}

}  // namespace

PoolWorld::PoolWorld(const PoolSize& size, Sink sink) : size_(size), sink_(std::move(sink)) {
  take(std::string(kSelf), EpochStarted{"bench", "bench", kFoldVersion, 1});
  take(std::string(kSelf), ConfigChanged{pool_configuration()});
  make_clusters();
  for (std::uint64_t tenant = 0; tenant < size_.tenants; ++tenant) make_tenant(tenant);
  take_seconds();
}

std::uint64_t PoolWorld::live(std::uint64_t namespace_, std::uint64_t pods) {
  const Seq before = state_.seq;
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < pods; ++i) names.push_back(numbered("job-", pods_made_++));
  const auto each = [&](const auto& change) {
    later(kStep);
    for (const std::string& name : names) change(name);
    settle();
  };
  const auto changed = [&](const std::string& name, const auto& change) {
    const auto [source, home] = home_of(namespace_);
    const PoolPodKey key{std::string(tenant_of(source)), home, name};
    PodFacts facts =
        state_.pool.tenants.at(key.tenant).namespaces.at(home).pods.at(name).seen.facts;
    change(facts);
    observe_pod(namespace_, name, std::move(facts));
  };
  each([&](const std::string& name) { observe_pod(namespace_, name, new_pod()); });
  each([&](const std::string& name) { changed(name, [](PodFacts& pod) { pod.bound = true; }); });
  each([&](const std::string& name) { changed(name, [](PodFacts& pod) { pod.over = true; }); });
  each([&](const std::string& name) {
    const auto [source, home] = home_of(namespace_);
    take(source, ObjectGone{{Kind::pod, home, name}, "", ""});
  });
  return state_.seq.value - before.value;
}

void PoolWorld::add_pod(std::uint64_t namespace_, const std::string& name) {
  later(kStep);
  observe_pod(namespace_, name, new_pod());
  settle();
}

void PoolWorld::delete_pod(std::uint64_t namespace_, const std::string& name) {
  const auto [source, home] = home_of(namespace_);
  later(kStep);
  take(source, ObjectGone{{Kind::pod, home, name}, "", ""});
  settle();
}

void PoolWorld::add_pods(std::uint64_t namespace_, std::uint64_t pods) {
  later(kStep);
  for (std::uint64_t i = 0; i < pods; ++i)
    observe_pod(namespace_, numbered("more-", pods_made_++), new_pod());
  settle();
  later(state_.configuration.pool.settle);  // reasons are written after it
  settle();
}

void PoolWorld::set_quota(std::uint64_t namespace_, std::int64_t slices) {
  const auto [source, home] = home_of(namespace_);
  later(kStep);
  observe(source, {Kind::resource_quota, home, "quota"}, quota_of_slices(slices));
  settle();
}

void PoolWorld::shift_quotas(std::int64_t slices) {
  later(kStep);
  for (std::uint64_t at = 0; at < size_.all_namespaces(); ++at) {
    const auto [source, home] = home_of(at);
    const std::int64_t shift = at % 2 == 0 ? slices : -slices;
    observe(source, {Kind::resource_quota, home, "quota"}, quota_of_slices(kSlices + shift));
  }
  settle();
}

std::int64_t PoolWorld::slices_of(std::uint64_t namespace_) const {
  const auto [source, home] = home_of(namespace_);
  return state_.pool.tenants.at(std::string(tenant_of(source))).namespaces.at(home).slices;
}

void PoolWorld::set_node(std::uint64_t cluster, Amount cpus) {
  later(kStep);
  observe(numbered("super-", cluster), {Kind::node, "", "node-0"}, node_of(cpus));
  settle();
}

PoolWorld::Home PoolWorld::home_of(std::uint64_t namespace_) const {
  return {tenant_source(numbered("tenant-", namespace_ / size_.namespaces)),
          numbered("namespace-", namespace_ % size_.namespaces)};
}

void PoolWorld::make_clusters() {
  for (std::uint64_t cluster = 0; cluster < size_.clusters; ++cluster)
    for (int node = 0; node < kNodesOfCluster; ++node)
      observe(numbered("super-", cluster), {Kind::node, "", "node-" + std::to_string(node)},
              node_of(kNodeCpus));
  later(kStep);
}

// Its namespaces are placed, then its pods, then these are bound.
void PoolWorld::make_tenant(std::uint64_t tenant) {
  const std::string name = numbered("tenant-", tenant);
  VirtualClusterFacts facts;
  facts.phase = "Running";
  facts.cluster_namespace = name;
  if (size_.limited)
    facts.pool_limit =
        "{\"cpu\":\"" + std::to_string(2 * kSlices * std::int64_t(size_.namespaces)) + "\"}";
  observe(std::string(kHub), {Kind::virtual_cluster, "tenants", name}, std::move(facts));
  const auto first = tenant * size_.namespaces;
  const auto for_each_pod = [&](const auto& change) {
    later(kStep);
    for (auto at = first; at < first + size_.namespaces; ++at)
      for (std::uint64_t pod = 0; pod < size_.pods; ++pod) change(at, numbered("pod-", pod));
    settle();
  };
  for (auto at = first; at < first + size_.namespaces; ++at) {
    const auto [source, home] = home_of(at);
    observe(source, {Kind::namespace_, "", home}, NamespaceFacts{});
    observe(source, {Kind::resource_quota, home, "quota"}, quota_of_slices(kSlices));
  }
  settle();
  for_each_pod([&](auto at, const std::string& pod) { observe_pod(at, pod, new_pod()); });
  for_each_pod([&](auto at, const std::string& pod) {
    const auto [source, home] = home_of(at);
    const auto& of = state_.pool.tenants.at(name).namespaces.at(home).pods.at(pod);
    if (of.cluster.empty()) give_up("a pod of the pool found no place");
    PodFacts bound = of.seen.facts;
    bound.bound = true;
    observe_pod(at, pod, std::move(bound));
  });
}

void PoolWorld::take(SourceName source, Fact fact) {
  const Event event{next(state_.seq), std::max(next_, state_.now), Epoch{1}, std::move(source), {},
                    std::move(fact)};
  seconds_ += cpu_seconds_of([&] { evolve(state_, event, dirty_); });
  if (sink_) sink_(event);
}

void PoolWorld::observe(const SourceName& source, const ObjectKey& key, Facts facts) {
  ObjectObserved seen;
  seen.key = key;
  seen.version = "v1";
  seen.uid = "0d3f1c52-7a8e-" + key.namespace_ + "-" + key.name;
  seen.resource_version = std::to_string(40'000'000 + ++version_);
  seen.facts = std::move(facts);
  take(source, std::move(seen));
}

void PoolWorld::observe_pod(std::uint64_t namespace_, const std::string& name, PodFacts facts) {
  const auto [source, home] = home_of(namespace_);
  observe(source, {Kind::pod, home, name}, std::move(facts));
}

std::vector<PatchIntended> PoolWorld::decide() {
  std::vector<PatchIntended> intents;
  seconds_ += cpu_seconds_of([&] {
    run_until(state_, std::max(next_, state_.now), dirty_);
    intents = planner_.plan(dirty_);
  });
  return intents;
}

void PoolWorld::settle() {
  std::vector<PatchIntended> intents = decide();
  decision_seconds_ = seconds_ - settled_seconds_;
  for (int round = 0; !intents.empty(); ++round) {
    if (round == kRoundsMax) give_up("the pool does not come to rest");
    for (PatchIntended& intent : intents) {
      take(std::string(kSelf), intent);
      take(std::string(kSelf), PatchAccepted{state_.seq, 200, intent.uid, ""});
    }
    later(milliseconds(20));
    for (PatchIntended& intent : intents) answer(std::move(intent));
    intents = decide();
  }
  settled_seconds_ = seconds_;
}

// What the write left is observed, and the syncers of the super clusters that a namespace lists
// make it there.
void PoolWorld::answer(PatchIntended intent) {
  if (!intent.expected) give_up("a write of the pool expects nothing");
  const auto* of = std::get_if<NamespaceFacts>(&*intent.expected);
  if (of && of->placements) {
    const std::string tenant(tenant_of(intent.cluster));
    const auto& shares = state_.pool.tenants.at(tenant).namespaces.at(intent.target.name).shares;
    NamespaceFacts made = *of;
    made.reason.reset();
    made.tenant = tenant;
    made.tenant_namespace = intent.target.name;
    std::vector<std::string> clusters;
    for (const auto& [id, share] : shares)
      if (share.listed) clusters.push_back(id);
    for (const std::string& cluster : clusters)
      observe(cluster, {Kind::namespace_, "", tenant + "-" + intent.target.name}, made);
  }
  observe(intent.cluster, intent.target, std::move(*intent.expected));
}

}  // namespace fairlead::bench
