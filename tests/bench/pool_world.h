// A super cluster pool in full: tenants with namespaces and pods, spread over super clusters. Each
// of its methods is what a tenant or a super cluster does; what Fairlead writes then is answered.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/evolve.h"
#include "engine/plan/plan.h"

namespace fairlead::bench {

struct PoolSize {
  std::uint64_t tenants = 1000;
  std::uint64_t namespaces = 10;  ///< of a tenant
  std::uint64_t clusters = 100;
  std::uint64_t pods = 10;  ///< of a namespace
  bool limited = false;     ///< no tenant may have more slices than at first

  std::uint64_t all_namespaces() const { return tenants * namespaces; }
  std::uint64_t all_pods() const { return all_namespaces() * pods; }
};

class PoolWorld {
 public:
  /// Receives each event after it was folded.
  using Sink = std::function<void(const Event&)>;

  /// Makes the pool: every namespace holds four slices, and its pods run. Every window is off but
  /// the write interval, so that a change is decided at once.
  explicit PoolWorld(const PoolSize& size, Sink sink = {});
  PoolWorld(const PoolWorld&) = delete;
  PoolWorld& operator=(const PoolWorld&) = delete;

  const PoolSize& size() const { return size_; }
  const State& state() const { return state_; }

  /// Pods of a namespace appear, are placed, bound, finish and are deleted, each at a time of its
  /// own. Returns the number of events.
  std::uint64_t live(std::uint64_t namespace_, std::uint64_t pods);
  /// A pod appears; what is decided about it is answered.
  void add_pod(std::uint64_t namespace_, const std::string& name);
  /// A pod is deleted.
  void delete_pod(std::uint64_t namespace_, const std::string& name);
  /// Many pods appear at once; reasons of those that do not fit are written.
  void add_pods(std::uint64_t namespace_, std::uint64_t pods);
  /// The quota of a namespace changes to `slices` slices of the default size.
  void set_quota(std::uint64_t namespace_, std::int64_t slices);
  /// Every second namespace wants `slices` more than at first, the others as many fewer.
  void shift_quotas(std::int64_t slices);
  /// The slices that it has.
  std::int64_t slices_of(std::uint64_t namespace_) const;
  /// A node of a super cluster changes to `cpus`; at first it has kNodeCpus.
  void set_node(std::uint64_t cluster, Amount cpus);

  /// CPU seconds of fold and plan since they were last asked for.
  double take_seconds() {
    settled_seconds_ = 0;
    return std::exchange(seconds_, 0);
  }
  /// CPU seconds of fold and plan of the last change, until its first writes were decided.
  double decision_seconds() const { return decision_seconds_; }

  static constexpr Amount kNodeCpus = 256;
  static constexpr std::int64_t kSlices = 4;  ///< of each namespace at first

 private:
  struct Home {
    std::string source;
    std::string name;
  };
  Home home_of(std::uint64_t namespace_) const;

  void make_clusters();
  void make_tenant(std::uint64_t tenant);
  void take(SourceName source, Fact fact);
  void observe(const SourceName& source, const ObjectKey& key, Facts facts);
  void observe_pod(std::uint64_t namespace_, const std::string& name, PodFacts facts);
  void later(Duration step) { next_ = state_.now + step; }
  std::vector<PatchIntended> decide();
  /// Decides, answers every write and shows its outcome, until nothing is written.
  void settle();
  void answer(PatchIntended intent);

  PoolSize size_;
  Sink sink_;
  State state_;
  DirtySet dirty_;
  Planner planner_{state_};
  LogTime next_{1};
  std::uint64_t version_ = 0;
  std::uint64_t pods_made_ = 0;
  double seconds_ = 0;
  double settled_seconds_ = 0;  ///< of `seconds_`, before the change
  double decision_seconds_ = 0;
};

}  // namespace fairlead::bench
