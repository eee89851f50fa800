// What a hub has where OCM chooses MultiKueue's workers: Placements whose decisions shift, queues
// with checks, credentials, jobs, and the controllers of OCM and Kueue that act on them.
//
// The first three members are the clusters of engine/fleet/worker_world.h. Each credential holds a
// text that occurs nowhere else, so that a checker can tell whether one leaks.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/fleet/kueue_controller.h"
#include "engine/fleet/placement_controller.h"
#include "engine/fleet/random.h"
#include "engine/fleet/worker_world.h"
#include "tests/simulation/next_look.h"
#include "tests/simulation/server.h"

namespace fairlead::simulation {

class Workers {
 public:
  /// Both outlive it. Writes what is there from the start; `members` of its clusters are.
  Workers(model::VirtualTime& time, Server& hub, std::int64_t members);

  /// Has the controllers look soon if the write of the hub concerns them.
  void saw(const SeenWrite& write);

  /// A pod of another team takes GPUs or ends: the score of a cluster changes.
  void shift_score(Random& random);
  /// A cluster gets the label of a Placement, or loses it.
  void shift_label(Random& random);
  /// A credential is taken away, given, or rotated.
  void change_credential(Random& random);
  void submit(Random& random);
  /// After a restore: scores, labels and credentials become what they were before it.
  void say_again();

 private:
  struct Cluster {
    WorkerCluster layout;
    std::int64_t taken = 0;  ///< GPUs that pods of other teams occupy
    std::int64_t given = 0;  ///< credentials so far
    bool labelled = false, credible = false;
  };

  void look();
  void give_credential(Cluster& cluster);
  void take_credential(Cluster& cluster);
  void label(const Cluster& cluster);
  void report(const Cluster& cluster);
  Cluster& any(Random& random);

  model::VirtualTime& time_;
  Server& hub_;
  std::vector<Cluster> clusters_;
  std::optional<PlacementController> placement_;
  KueueController kueue_;
  std::int64_t submitted_ = 0;
  NextLook next_look_{time_, [this] { look(); }};
};

}  // namespace fairlead::simulation
