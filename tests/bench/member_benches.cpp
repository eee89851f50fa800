// What the hub reports of member clusters, as their number grows.
#include "engine/fold/evolve.h"
#include "engine/plan/members/manifest_work.h"
#include "tests/bench/benches.h"

namespace fairlead::bench {
namespace {

/// A fleet in which each cluster is known by a ClusterProfile of the Kueue namespace.
class ProfiledFleet {
 public:
  explicit ProfiledFleet(std::uint64_t clusters) : clusters_(clusters) {
    take(std::string(kSelf), ConfigChanged{});
  }

  /// Every profile is observed in one moment, as of a list, with the given provider.
  void list(const std::string& provider) {
    state_.now = state_.now + seconds(1);
    for (std::uint64_t i = 0; i < clusters_; ++i) {
      const std::string name = "cluster-" + std::to_string(i);
      ObjectObserved seen;
      seen.key = {Kind::cluster_profile, state_.configuration.kueue_namespace, name};
      seen.version = "v1alpha1";
      seen.uid = "u-" + name;
      seen.resource_version = std::to_string(state_.seq.value + 1);
      seen.generation = 1;
      seen.facts = ClusterProfileFacts{name, true, {provider}};
      take(std::string(kHub), std::move(seen));
    }
    close_moment(state_, dirty_);
    if (dirty_.empty()) give_up("profiles changed nothing");
    dirty_ = {};
  }
  std::uint64_t clusters() const { return clusters_; }

 private:
  void take(SourceName source, Fact fact) {
    const Event event{next(state_.seq),  state_.now, Epoch{1},
                      std::move(source), {},         std::move(fact)};
    evolve(state_, event, dirty_);
  }

  std::uint64_t clusters_;
  State state_;
  DirtySet dirty_;
};

/// CPU microseconds a profile: of the first list, and of one in which each profile has changed.
double cost_of_a_profile(std::uint64_t clusters) {
  ProfiledFleet fleet(clusters);
  const double spent = cpu_seconds_of([&] {
    fleet.list("first");
    fleet.list("second");
  });
  return spent * 1e6 / static_cast<double>(2 * clusters);
}

Trial prepare_profiles(const Place& place) {
  const std::uint64_t clusters = place.size == Size::tiny ? 100 : 10'000;
  return {[clusters] { return cost_of_a_profile(clusters); },
          [clusters] { return cost_of_a_profile(clusters / 10); }};
}

/// A member whose claim assigns quota of 8 flavors and 3 resources in each of its queues, and whose
/// works are applied.
class QueuedMember {
 public:
  explicit QueuedMember(std::uint64_t queues) {
    cluster_.presence.managed = ManagedClusterFacts{};
    cluster_.known = true;
    claim_.terms = ClaimTerms{};
    claim_.terms->cluster = kName;
    claim_.winner = claim_.known = true;
    state_.claims.of_cluster[kName] = {"k"};
    for (std::uint64_t i = 0; i < queues; ++i) add_queue("queue-" + std::to_string(100'000 + i));
    for (const PatchIntended& written : works()) {
      Work& work = cluster_.member.quota_works[written.target.name];
      work.present = true;
      work.facts = std::get<ManifestWorkFacts>(*written.expected);
      work.facts.applied = work.facts.available = {ConditionStatus::yes, "", 0};
    }
    if (!works().empty()) give_up("works that are applied are written again");
  }
  /// Returns the bytes that are written when one grant changes.
  std::size_t change_a_grant() {
    claim_.grants[claim_.grants.size() / 2].granted += 1000;
    std::size_t bytes = 0;
    for (const PatchIntended& written : works()) bytes += written.body.size();
    if (bytes == 0) give_up("the grant of a member changed and nothing is written");
    return bytes;
  }

 private:
  static constexpr const char* kName = "c1";

  std::vector<PatchIntended> works() {
    HubQuotas quotas(state_);
    return emit_works(state_, kName, quotas);
  }
  void add_queue(const std::string& name) {
    Queue& queue = state_.queues.by_name[name];
    queue.present = true;
    ResourceGroup group{{"cpu", "memory", "nvidia.com/gpu"}, {}};
    for (int i = 0; i < 8; ++i) {
      const std::string flavor = "flavor-" + std::to_string(i);
      state_.flavors.by_name[flavor].node_labels = {{"example.com/flavor", flavor}};
      cluster_.member.named[name].insert(flavor);
      group.flavors.push_back({flavor, {}});
      for (const std::string& resource : group.covered_resources) {
        group.flavors.back().resources.push_back({resource, {}, {}, {}});
        claim_.terms->rows.push_back({name, flavor, resource, resource, 5000, 0, 0});
        claim_.grants.push_back({claim_.terms->rows.back(), 5000, {}});
      }
    }
    queue.facts.groups = {std::move(group)};
    state_.claims.of_queue[name] = {"k"};
  }

  State state_;
  Cluster& cluster_ = state_.clusters[kName];
  Claim& claim_ = state_.claims.by_name["k"];
};

double us_of_a_grant(std::uint64_t queues) {
  QueuedMember member(queues);
  return cpu_seconds_of([&] { keep(member.change_a_grant()); }) * 1e6;
}

double bytes_of_a_grant(std::uint64_t queues) {
  return static_cast<double>(QueuedMember(queues).change_a_grant());
}

template <class Figure>
auto of_member_queues(const Figure& figure) {
  return [figure](const Place& place) -> Trial {
    const std::uint64_t queues = place.size == Size::tiny ? 40 : 300;
    return {[figure, queues] { return figure(queues); },
            [figure, queues] { return figure(queues / 10); }};
  };
}

}  // namespace

void add_member_benches(Suite& suite) {
  suite.add({"members/profiles 10k", "of 1k", "us", Better::less, 2, prepare_profiles});
  suite.add({"members/grant of 300 queues", "of 30", "us", Better::less, 20,
             of_member_queues(us_of_a_grant)});
  suite.add({"members/grant of 300 queues, bytes", "of 30", "bytes", Better::less, 1.5,
             of_member_queues(bytes_of_a_grant)});
}

}  // namespace fairlead::bench
