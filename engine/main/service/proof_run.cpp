#include "engine/main/service/proof_run.h"

#include <utility>

#include "engine/main/client/log_page.h"
#include "engine/runtime/system_clock.h"
#include "replay/verify.h"

namespace fairlead {

namespace {

Json replay_json(const ReplayReport& report) {
  Json json{{"events", report.events},
            {"compared", report.compared},
            {"differing", report.differing},
            {"notCompared", report.not_compared},
            {"checkpoints", report.checkpoints},
            {"differsAt", nullptr},
            {"differsIn", nullptr}};
  if (report.bad_checkpoint) {
    json["differsAt"] = report.bad_checkpoint->value;
    json["differsIn"] = "checkpoint";
  }
  if (report.first) {
    json["differsAt"] = report.first->seq.value;
    json["differsIn"] = report.first->what;
  }
  return json;
}

}  // namespace

ProofRun::~ProofRun() {
  cancelled_ = true;
  if (thread_.joinable()) thread_.join();
}

void ProofRun::begin(const ServedLog& served) {
  {
    const std::lock_guard lock(mutex_);
    if (report_["state"] == "running") return;
    report_ = {{"kind", "Proof"},
               {"state", "running"},
               {"seq", served.log->last_seq().value},
               {"chain", nullptr},
               {"what", nullptr},
               {"replay", nullptr},
               {"error", nullptr},
               {"at", nullptr},
               {"progress", {{"done", 0}, {"total", served.log->last_seq().value}}}};
  }
  if (thread_.joinable()) thread_.join();
  thread_ = std::thread([this, served] { run(served); });
}

Json ProofRun::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

void ProofRun::set(const char* name, Json value) {
  const std::lock_guard lock(mutex_);
  report_[name] = std::move(value);
}

void ProofRun::run(const ServedLog& served) {
  const auto verdict = served.log->verify_chain();
  if (verdict) {
    set("chain", chain_text(*verdict));
    if (verdict->broken_at) set("what", verdict->what);
    run_replay(served);
  } else {
    set("error", verdict.error().message);
  }
  set("progress", nullptr);
  set("at", to_rfc3339(SystemClock().now()));
  set("state", "done");
}

void ProofRun::run_replay(const ServedLog& served) {
  ReplayOptions how;
  how.comparison = Comparison::all;
  how.cancelled = [this] { return cancelled_.load(); };
  how.progress = [this](std::uint64_t done, std::uint64_t total) {
    set("progress", {{"done", done}, {"total", total}});
  };
  const auto report = replay(*served.log, served.vouched_snapshots.get(), how);
  if (report)
    set("replay", replay_json(*report));
  else
    set("error", report.error().message);
}

}  // namespace fairlead
