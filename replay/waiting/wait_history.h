// The waits of a Workload as they are recorded, before they are cut into the intervals of an
// answer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/time.h"
#include "replay/waiting/fit_index.h"
#include "schema/wait_reason.h"

namespace fairlead {

/// A part [from, to) of a wait in which nothing that is told of it changes but how it fits.
struct WaitStretch {
  LogTime from;
  LogTime to = kForever;  ///< kForever: it goes on
  WaitReason reason;
  std::vector<Seq> causes;
  /// Checks that were not Ready at its end, while quota was reserved.
  std::vector<WorkloadCheck> checks;
  /// For class worker: status.clusterName, or where that is empty the nominated MultiKueueClusters.
  std::vector<std::string> workers;
  std::string cluster_queue;  ///< empty: not known
  std::optional<Requests> requests;
  /// For class quota, where queue and requests are known: how the requests fit.
  std::shared_ptr<const FitHistory> fit;
  LogTime seen;                    ///< from when on `fit` says it; before that it was as then
  std::vector<Shortage> shortage;  ///< by `fit`, at its end

  /// Whether both are one stretch, apart from when they were.
  bool continues(const WaitStretch& before) const {
    return reason.of == before.reason.of && reason.reason == before.reason.reason &&
           workers == before.workers && cluster_queue == before.cluster_queue &&
           requests == before.requests;
  }
};

struct Wait {
  LogTime from;
  LogTime to = kForever;
  WaitState end = WaitState::waiting;
  std::vector<WaitStretch> stretches;  ///< without gaps; the last one is open while the wait is
};

/// One Workload, by its uid.
struct WaitHistory {
  std::string uid;
  std::string queue;          ///< the LocalQueue that it names
  std::string cluster_queue;  ///< behind that, or that which gave it quota; empty: not known
  LogTime created;
  LogTime appeared;         ///< the earlier of its creation and its first observation
  LogTime gone = kForever;  ///< when it was deleted
  Seq gone_seq;
  bool is_copy = false;  ///< it has the label kueue.x-k8s.io/multikueue-origin
  WaitState state = WaitState::waiting;
  Requests requests;
  std::vector<Wait> waits;

  Wait* open_wait() {
    return waits.empty() || waits.back().to != kForever ? nullptr : &waits.back();
  }
};

/// When the streams of an API server were silent.
struct Silence {
  LogTime from;
  LogTime to = kForever;
  Seq begun, ended;
};

}  // namespace fairlead
