// Records the waits of Workloads from the events of a log, of the hub and of every member.
//
// It has tables of its own and no State. All events of one time are one moment: what they changed
// counts from that time on. What an event costs does not depend on how many Workloads wait
// (fit_index.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/observed.h"
#include "replay/waiting/lowered_quotas.h"
#include "replay/waiting/wait_history.h"
#include "replay/waiting/worker_clusters.h"
#include "replay/waiting/write_causes.h"

namespace fairlead {

struct State;

/// What of the log is recorded.
struct WaitScope {
  /// Only Workloads of this name, on the hub and on members; nullopt: all.
  std::optional<NamespacedName> only;
  bool keeps_ended = true;           ///< waits that are over are wanted, too
  LoweredQuotas* lowered = nullptr;  ///< receives the ClusterQueues of the hub; outlives the record
};

/// What is recorded of one API server.
struct ServerWaits {
  FitIndex fits;
  std::map<NamespacedName, std::string> local_queues;            ///< their ClusterQueues
  std::map<NamespacedName, std::vector<WaitHistory>> workloads;  ///< by uid, the newest last
  std::vector<Silence> silences;                                 ///< ascending, disjoint
  std::optional<LogTime> heard;                                  ///< its first event
  std::set<std::string> queues;                                  ///< ClusterQueues, also of before
  std::set<std::optional<Kind>> silent;                          ///< streams
  /// Workloads with an open wait, by the LocalQueue that they name.
  std::map<NamespacedName, std::set<NamespacedName>> waiting_in;
};

class WaitRecorder {
 public:
  explicit WaitRecorder(WaitScope scope) : scope_(std::move(scope)) {}

  /// Begins with what a snapshot holds in place of the events before it.
  void begin_with(const State& state);
  /// Takes in an event that counts from `time` on; times ascend.
  void observe(const Event& event, LogTime time);
  /// Ends the last moment. What is open then goes on; `time` is where the record ends.
  void end(LogTime time);

  const std::map<SourceName, ServerWaits>& servers() const { return servers_; }
  const WorkerClusters& workers() const { return workers_; }

 private:
  struct Change {
    NamespacedName id;
    std::string uid;
    std::optional<WorkloadFacts> facts;  ///< nullopt: it is gone, or only its queue changed
    bool is_gone = false;
    std::vector<Seq> causes;
  };
  /// What the open moment changes of one API server's Workloads. Of several observations of one the
  /// last counts.
  struct Changes {
    std::vector<Change> all;
    std::map<NamespacedName, std::size_t> last;  ///< the place of the last one of each

    void add(Change change);
  };
  using Shortages = std::map<NamespacedName, std::vector<Shortage>>;

  ServerWaits& server_of(const SourceName& source);
  void close_moment();
  void note(ServerWaits& server, const Event& event, const ObjectObserved& seen);
  void note_queue(ServerWaits& server, const Event& event, const ObjectObserved& seen,
                  const ClusterQueueFacts& queue);
  void note_gone(ServerWaits& server, const Event& event, const ObjectGone& gone);
  void note_sign(const SourceName& source, const Event& event, std::optional<Kind> kind, Seq ended);
  void note_local_queue(const SourceName& source, const NamespacedName& id,
                        const std::string& cluster_queue, const std::vector<Seq>& causes);
  void apply(ServerWaits& server, const Change& change, const Shortages& shortages);
  void first_sight(ServerWaits& server, const Change& change, WaitHistory& history);
  void follow(ServerWaits& server, const Change& change, WaitHistory& history,
              const Shortages& shortages);
  void open_stretch(ServerWaits& server, Wait& wait, WaitStretch stretch);
  void close_wait(ServerWaits& server, const NamespacedName& id, WaitHistory& history,
                  WaitState end, const Shortages& shortages);

  const WaitScope scope_;
  std::map<SourceName, ServerWaits> servers_;
  WorkerClusters workers_;
  WriteCauses writes_;
  LogTime now_;  // of the open moment
  std::map<SourceName, Changes> changes_;
  std::set<SourceName> touched_;
};

}  // namespace fairlead
