// A hub that folds a steady stream of changes on a thread of its own, for benches of what answers
// beside it.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/runtime/admission_feed.h"
#include "engine/runtime/leader.h"
#include "engine/runtime/system_clock.h"
#include "tests/unit/core/small_world.h"

namespace fairlead::bench {

/// The changes of Nodes that the hub observes in a second.
inline constexpr int kBusyEventsPerSecond = 1000;

class BusyHub {
 public:
  /// Makes a hub with its log below `directory`, whose claim is granted in full, and starts the
  /// stream. Gives up if the hub fails.
  explicit BusyHub(const std::filesystem::path& directory);
  ~BusyHub();
  BusyHub(const BusyHub&) = delete;
  BusyHub& operator=(const BusyHub&) = delete;

  const AdmissionFeed& feed() const { return feed_; }
  /// The number of events that were folded so far.
  std::uint64_t folded() const { return folded_; }
  /// The CPU seconds of its thread so far.
  double cpu_seconds() const { return cpu_seconds_; }
  const RocksdbLog& log() const { return *log_; }

 private:
  void run();
  void change_nodes(int round);
  void step();

  SmallWorld world_;
  std::unique_ptr<RocksdbLog> log_;
  SystemClock clock_;
  AdmissionFeed feed_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<Leader> leader_;
  std::atomic<std::uint64_t> folded_{0};
  std::atomic<double> cpu_seconds_{0};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace fairlead::bench
