#include "engine/fleet/users.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/fleet/device_fleet.h"
#include "engine/fleet/random.h"
#include "engine/fleet/script.h"

namespace fairlead {
namespace {

// Writes the submissions of one round.
class JobWriter {
 public:
  JobWriter(std::uint64_t seed, std::int64_t round, Duration round_length)
      : random_(seed * 1'000'003 + static_cast<std::uint64_t>(round)),
        begin_{round * round_length.ns},
        number_(std::to_string(round + 1)) {
    check(round >= 0, "rounds are counted from 0");
  }

  // Submits `job`, whose name gets the number of the round, up to 20 seconds later than `at`.
  void submit(Duration at, UserJob job, const std::string& what) {
    job.name += "-" + number_;
    const Duration when{begin_.ns + at.ns + seconds(random_.below(20)).ns};
    const std::string text = "submits a job of " + what + " for " + to_go_duration(job.length);
    out_.push_back({when, std::move(job), text});
  }
  std::vector<Submission> take() { return std::move(out_); }

 private:
  Random random_;
  const Duration begin_;
  const std::string number_;
  std::vector<Submission> out_;
};

Json machines_for(std::int64_t cpu, std::int64_t gpus) {
  return {{"cpu", std::to_string(cpu)},
          {"memory", std::to_string(cpu) + "Gi"},
          {kGpu, std::to_string(gpus)}};
}

}  // namespace

// With all machines a queue has about 1300 cpu and 13 GPUs (script.cpp). While the rack of one
// cluster has no power, the second job would not fit even alone, and the third one not beside the
// first.
std::vector<Submission> machine_jobs_of_round(std::uint64_t seed, std::int64_t round) {
  JobWriter writer(seed, round, kRoundLength);
  const auto both = [&](Duration at, const char* name, std::int64_t cpu, std::int64_t gpus,
                        std::int64_t priority, Duration length) {
    for (const char* team : {"team-blue", "team-green"})
      writer.submit(at, {team, name, "jobs", machines_for(cpu, gpus), priority, length},
                    std::to_string(cpu) + " cpu and " + std::to_string(gpus) + " GPUs");
  };
  both(minutes(4), "simulate", 860, 9, 100, minutes(30));
  both(minutes(11), "survey", 1150, 11, 0, minutes(3));
  both(Duration{minutes(13).ns + seconds(20).ns}, "render", 240, 3, 0, minutes(20));
  writer.submit(minutes(26),
                {"team-blue", "urgent", "jobs", machines_for(400, 3), 1000, minutes(4)},
                "400 cpu and 3 GPUs, priority 1000,");
  return writer.take();
}

// All GPUs are 32 (device_fleet.cpp).
std::vector<Submission> device_jobs_of_round(std::uint64_t seed, std::int64_t round) {
  JobWriter writer(seed, round, kDeviceRoundLength);
  const auto add = [&](Duration at, const char* name, const char* gpus, Duration length) {
    const std::string queue(kDeviceQueue);
    writer.submit(at, {kDeviceTeam, name, queue, {{kGpu, gpus}}, 0, length},
                  std::string(gpus) + " GPUs");
  };
  add(minutes(1), "finetune", "24", minutes(30));
  add(minutes(3), "sweep", "8", minutes(4));
  add(minutes(25), "eval", "8", minutes(4));
  return writer.take();
}

void Users::look(LogTime now) {
  if (script_.empty())
    for (Submission& one : next_round_(seed_, round_++)) script_.push_back(std::move(one));
  for (; !script_.empty() && start_ + script_.front().at <= now; script_.pop_front()) {
    const Submission& one = script_.front();
    const WorldObject workload = workload_of(one.job);
    ++writes_;
    const auto made = api_.create(workload.collection, workload.object);
    logger_("user", one.job.space + "/" + one.job.name + ": " + one.text +
                        (made ? "" : " -- not possible: " + made.error().message));
  }
}

}  // namespace fairlead
