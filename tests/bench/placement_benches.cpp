// Unstable Placements: how often Fairlead writes the list of workers, and how many jobs that
// evicts, beside a mirror that writes every decision as it comes. These figures are of virtual
// time: every machine has the same.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/base/check.h"
#include "replay/virtual_hub.h"
#include "tests/bench/benches.h"

namespace fairlead::bench {

namespace {

using Names = std::vector<std::string>;

// A moment of the trace: the decisions (a shard each), and the clusters that have no credential.
struct Moment {
  LogTime at;
  std::vector<Names> shards;
  Names without_credential{};
  std::map<std::string, std::int64_t> scores{};
};

// One job runs from the beginning; it holds its cluster until it ends.
struct Trace {
  std::vector<Moment> moments;
  LogTime end;
};

constexpr const char* kNamespace = "kueue-system";
constexpr const char* kPlacement = "gpu";
const Names kClusters{"a", "b", "c", "d", "e", "f"};

Trace every(Duration step, int flaps, const std::function<void(int, Trace&, LogTime)>& flap) {
  Trace trace;
  trace.moments.push_back({LogTime{}, {{"a", "b", "c"}, {"d", "e", "f"}}});
  for (int i = 0; i < flaps; ++i) flap(i, trace, LogTime{} + Duration{hours(1).ns + step.ns * i});
  trace.end = LogTime{} + Duration{hours(2).ns + step.ns * flaps};
  return trace;
}

// The best score moves to the other cluster with every refresh of the scores.
Trace top_one_flip(int flaps) {
  Trace trace = every(seconds(60), flaps, [](int i, Trace& out, LogTime at) {
    out.moments.push_back({at, {{i % 2 == 0 ? "b" : "a"}, {}}});
  });
  trace.moments.front().shards = {{"a"}, {}};
  return trace;
}

// A cluster moves to another decision object: for 30 ms it is in none.
Trace shard_shift(int flaps) {
  return every(seconds(60), flaps, [](int i, Trace& out, LogTime at) {
    const bool first = i % 2 == 0;
    const Names left = first ? Names{"a", "b"} : Names{"a", "b", "c"};
    const Names right = first ? Names{"c", "d", "e", "f"} : Names{"d", "e", "f"};
    out.moments.push_back({at, {{"a", "b"}, {"d", "e", "f"}}});
    out.moments.push_back({at + milliseconds(30), {left, right}});
  });
}

// The same clusters in another order, with every refresh of the scores.
Trace reorder(int flaps) {
  return every(seconds(60), flaps, [](int i, Trace& out, LogTime at) {
    Moment moment{at, {{"a", "b", "c"}, {"d", "e", "f"}}};
    if (i % 2 == 0) moment.shards = {{"c", "a", "b"}, {"f", "d", "e"}};
    for (std::size_t k = 0; k < kClusters.size(); ++k)
      moment.scores[kClusters[k]] =
          static_cast<std::int64_t>((k + static_cast<std::size_t>(i)) % 6);
    out.moments.push_back(std::move(moment));
  });
}

// A Secret is gone for five seconds: a rotation that deletes and makes again.
Trace credential_blink(int flaps) {
  return every(seconds(120), flaps, [](int i, Trace& out, LogTime at) {
    const std::vector<Names> all{{"a", "b", "c"}, {"d", "e", "f"}};
    out.moments.push_back({at, all, {kClusters[static_cast<std::size_t>(i) % 6]}});
    out.moments.push_back({at + seconds(5), all});
  });
}

struct Cost {
  double writes = 0;
  double evictions = 0;
};

// The job follows the list: it runs on its first cluster, and is evicted when that leaves.
class Job {
 public:
  void list(const Names& names) {
    if (!on_.empty() && std::find(names.begin(), names.end(), on_) == names.end()) {
      ++evictions_;
      on_.clear();
    }
    if (on_.empty() && !names.empty()) on_ = names.front();
  }
  const std::string& on() const { return on_; }
  double evictions() const { return evictions_; }

 private:
  std::string on_;
  double evictions_ = 0;
};

Cost mirrored(const Trace& trace) {
  Cost cost;
  Job job;
  Names before;
  for (const Moment& moment : trace.moments) {
    Names list;
    for (const Names& shard : moment.shards)
      for (const std::string& cluster : shard)
        if (std::count(moment.without_credential.begin(), moment.without_credential.end(),
                       cluster) == 0)
          list.push_back(cluster);
    if (list == before) continue;
    if (moment.at != LogTime{}) ++cost.writes;
    job.list(list);
    before = std::move(list);
  }
  cost.evictions = job.evictions();
  return cost;
}

// The engine over the trace, with a job that Kueue would run.
class World {
 public:
  World() : hub_(ports(), Feedback::assumed) {
    check(hub_.append(LogTime{}, {{std::string(kSelf), {}, ConfigChanged{}}}).has_value(), "begun");
    AdmissionCheckFacts admission;
    admission.controller_name = "open-cluster-management.io/placement";
    admission.parameters_api_group = "cluster.open-cluster-management.io";
    admission.parameters_kind = "Placement";
    admission.parameters_name = kPlacement;
    see({Kind::admission_check, "", "multikueue"}, std::move(admission));
    see({Kind::placement, kNamespace, kPlacement},
        PlacementFacts{{{"usage", "gpuClusterAvailable", 1}}, false});
    for (const std::string& cluster : kClusters) secret(cluster);
  }

  Cost run(const Trace& trace) {
    Names without;
    for (const Moment& moment : trace.moments) {
      go_to(moment.at);
      for (std::size_t shard = 0; shard < moment.shards.size(); ++shard) {
        Names sorted = moment.shards[shard];
        std::sort(sorted.begin(), sorted.end());
        see({Kind::placement_decision, kNamespace, "gpu-decision-" + std::to_string(shard)},
            PlacementDecisionFacts{kPlacement, std::move(sorted)});
      }
      for (const std::string& cluster : without) secret(cluster);
      for (const std::string& cluster : moment.without_credential)
        offer({std::string(kHub), ObjectMissing{secret_key(cluster), "", ""}});
      without = moment.without_credential;
      for (const auto& [cluster, score] : moment.scores)
        see({Kind::addon_placement_score, cluster, "usage"},
            AddOnPlacementScoreFacts{{{"gpuClusterAvailable", score}}, std::nullopt});
    }
    go_to(trace.end);
    cost_.evictions = job_.evictions();
    return cost_;
  }

 private:
  VirtualPorts ports() {
    VirtualPorts ports;
    ports.append = [this](std::vector<EventDraft> drafts, LogTime at) {
      return Result<std::vector<Event>>(numbered(std::move(drafts), at, last_));
    };
    ports.accepted = [this](const PatchIntended& intent, const std::string&, const std::string&) {
      if (intent.target.kind != Kind::multikueue_config) return;
      if (hub_.now() > LogTime{} + hours(1)) ++cost_.writes;
      listed_ = std::get<MultiKueueConfigFacts>(*intent.expected).clusters;
    };
    return ports;
  }

  void go_to(LogTime time) {
    if (time > hub_.now()) check(hub_.run_to(time).has_value(), "time goes on");
    const std::string before = job_.on();
    job_.list(listed_);
    if (job_.on() == before) return;
    WorkloadFacts workload;
    workload.checks = {{"multikueue", "Ready"}};
    workload.quota_reserved = true;
    workload.cluster_name = job_.on();
    see({Kind::workload, "team", "job"}, std::move(workload));
  }
  static ObjectKey secret_key(const std::string& cluster) {
    return {Kind::secret, kNamespace, "kueue-admin-" + cluster + "-kubeconfig"};
  }
  void secret(const std::string& cluster) {
    see(secret_key(cluster), SecretFacts{{"kubeconfig"}, {}});
  }
  void see(ObjectKey key, Facts facts) {
    ObjectSeen seen;
    seen.key = std::move(key);
    seen.version = "v1";
    seen.facts = std::move(facts);
    offer({std::string(kHub), std::move(seen)});
  }
  void offer(const WatchFact& fact) { check(hub_.offer(fact).has_value(), "facts are taken in"); }

  Seq last_;
  Names listed_;
  Cost cost_;
  Job job_;
  VirtualHub hub_;
};

struct Row {
  const char* name;
  Trace (*trace)(int flaps);
};

constexpr double kNothing = 1e-9;  // zero against zero is as good as equal

}  // namespace

void add_placement_benches(Suite& suite) {
  constexpr Row rows[] = {{"top-1 flip", top_one_flip},
                          {"shard shift", shard_shift},
                          {"reorder", reorder},
                          {"credential blink", credential_blink}};
  for (const Row& row : rows)
    for (const bool writes : {true, false}) {
      const std::string what = writes ? "writes" : "evictions";
      suite.add({std::string("placement/") + row.name + " " + what, "a mirror of the decisions",
                 what + "/1000", Better::less, 1, [row, writes](const Place& place) {
                   const Trace trace = row.trace(place.size == Size::full ? 1000 : 20);
                   const auto of = [writes](const Cost& cost) {
                     return (writes ? cost.writes : cost.evictions) + kNothing;
                   };
                   return Trial{[trace, of] { return of(World().run(trace)); },
                                [trace, of] { return of(mirrored(trace)); }};
                 }});
    }
}

}  // namespace fairlead::bench
