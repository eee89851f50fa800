// The numbers of a running hub, as a value that other threads may hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "engine/base/time.h"
#include "engine/base/types.h"
#include "engine/fold/dispatch/counts.h"
#include "engine/ingest/ingest.h"
#include "engine/log/replicated/ring.h"
#include "engine/runtime/claim_census.h"
#include "engine/runtime/histogram.h"
#include "engine/runtime/pool_counts.h"
#include "engine/runtime/queue_counts.h"
#include "engine/runtime/queue_use_text.h"
#include "schema/kind.h"

namespace fairlead {

/// What this process is among those that share a log.
enum class HubRole : std::uint8_t {
  alone,     ///< there is no election
  follower,  ///< it follows the log, or waits for the Lease
  leader,
};

/// Its part in a replicated log, or in the election of one leader.
struct RoleStats {
  HubRole role = HubRole::alone;
  std::string leader;      ///< the Lease's holder; empty: none is known
  bool caught_up = false;  ///< as a follower: it has read what the log held when it began
  std::string trouble;     ///< why the log does not come on; empty while all is well
  std::string store;       ///< "kubernetes" or "etcd"; empty: the log is local, and what follows
                           ///< means nothing
  RingPlace place;
  RingCounters counters;
  std::uint64_t copies = 0;       ///< replicas inside the window, this one too; 0: not known
  std::uint64_t lag_commits = 0;  ///< of the ring, that are not here yet, as far as is known
  Duration lag;                   ///< since when there is `trouble`, by the monotonic clock
  Duration paced;                 ///< spent waiting for the pace
  std::size_t pending_facts = 0;
};

/// Counters grow from the start of the process; gauges are current values. Large: plain data, with
/// a metric of docs/signals.md for each field.
struct HubStats {
  IngestCounts ingest;
  std::uint64_t oversized = 0;     ///< facts too large for a record of the log, which are ignored
  std::uint64_t notices_lost = 0;  ///< that had no place to wait

  Histogram append;       ///< one commit, or one wait for those that are on their way to the disk
  Histogram write_delay;  ///< from the log time of an intent to the log time of its acceptance
  std::uint64_t timers = 0;
  std::uint64_t snapshots = 0;

  std::uint64_t intents = 0;          ///< logged
  std::uint64_t recommendations = 0;  ///< printed instead of intended
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t unknown = 0;

  Seq seq;
  Epoch epoch;
  LogTime log_time;
  std::set<Kind> awaited;  ///< kinds of the hub that are neither synced nor known to be absent
  bool planning = false;   ///< `awaited` is empty
  RoleStats role;
  std::size_t inbox = 0;
  std::size_t inbox_max = 0;
  std::size_t writes_waiting = 0;
  std::size_t writes_under_way = 0;
  std::size_t deadlines = 0;
  std::size_t clusters = 0;
  std::size_t claims = 0;
  std::size_t queues = 0;
  std::size_t tenants = 0;
  std::size_t workloads = 0;  ///< of the hub and of members
  ClaimCounts claim_counts;
  PoolCounts pool_counts;
  DispatchCounts dispatch_counts;
  SharedCounters queue_use;
  QueueCounts queue_counts;
};

}  // namespace fairlead
