// What the hub reports of member clusters, as their number grows.
#include "engine/fold/evolve.h"
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

}  // namespace

void add_member_benches(Suite& suite) {
  suite.add({"members/profiles 10k", "of 1k", "us", Better::less, 2, prepare_profiles});
}

}  // namespace fairlead::bench
