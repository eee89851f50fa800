// The verification of a log for the audit page, on a thread of its own: its hash chain, then its
// replay, as `log stat` and `replay --verify` do.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "engine/base/json.h"
#include "engine/main/service/served_log.h"

namespace fairlead {

/// Any thread may call it; one verification runs at a time.
class ProofRun {
 public:
  ProofRun() = default;
  /// Ends a verification that runs, soon.
  ~ProofRun();
  ProofRun(const ProofRun&) = delete;
  ProofRun& operator=(const ProofRun&) = delete;

  /// Begins to verify the log up to its present end; does nothing while one runs.
  void begin(const ServedLog& served);
  /// Returns {"kind": "Proof", "state" "none"|"running"|"done", "seq" (up to which), "chain"
  /// "ok"|"broken@SEQ" (null: not known yet), "what" (of a broken chain), "replay" (null: not known
  /// yet) {"events", "compared", "differing", "notCompared", "checkpoints", "differsAt" (null:
  /// nowhere), "differsIn"}, "error" (null, or why it ended early), "progress" {"done", "total"}
  /// (null: not running), "at" (when it was done, by the machine's clock)}.
  Json report() const;

 private:
  void run(const ServedLog& served);
  void run_replay(const ServedLog& served);
  void set(const char* name, Json value);

  mutable std::mutex mutex_;  // guards the next one
  Json report_{{"kind", "Proof"}, {"state", "none"}};
  std::atomic<bool> cancelled_ = false;
  std::thread thread_;
};

}  // namespace fairlead
