#include "engine/fleet/script.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/base/check.h"
#include "engine/fleet/layout.h"
#include "engine/fleet/random.h"

namespace fairlead {
namespace {

// Writes the script of one round, which begins at `begin_`.
class ScriptWriter {
 public:
  ScriptWriter(std::uint64_t seed, std::int64_t round)
      : random_(seed * 1'000'003 + static_cast<std::uint64_t>(round)),
        begin_{round * kRoundLength.ns},
        round_(round) {}

  std::vector<ScheduledFault> write();

 private:
  void assignments();
  void rolling_drain();
  void flapping_node();
  void dead_node();
  void lost_rack();
  void edited_claim();
  void overwritten_queue();
  void guest();
  void silent_cluster();

  // Up to 20 seconds later than `at`, so that seeds differ in their times.
  Duration about(Duration at) { return {at.ns + seconds(random_.below(20)).ns}; }
  void add(Duration at, ScheduledFault fault) {
    fault.at = {begin_.ns + at.ns};
    out_.push_back(std::move(fault));
  }
  std::string node(std::string_view flavor) {
    return std::string(flavor) + "-" + std::to_string(1 + random_.below(6));
  }

  Random random_;
  const Duration begin_;
  const std::int64_t round_;
  std::vector<ScheduledFault> out_;
};

constexpr Duration plus(Duration a, Duration b) { return {a.ns + b.ns}; }

void ScriptWriter::assignments() {
  if (round_ > 0) return;
  const std::string text = "kubectl edit clusterresourceclaim: assigns its capacity to the queues";
  add(about(seconds(90)), {{}, FaultKind::assign, "cluster1", {}, 0, text});
  add(about(seconds(120)), {{}, FaultKind::assign, "cluster3", {}, 0, text});
}

void ScriptWriter::rolling_drain() {
  Duration at = about(minutes(4));
  const std::int64_t first = random_.below(6);
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::string name = std::string(kOnDemand) + "-" + std::to_string(1 + (first + i) % 6);
    add(at, {{},
             FaultKind::cordon,
             "cluster1",
             {name},
             0,
             name + " is cordoned and drained for an upgrade, " + std::to_string(i + 1) + " of 4"});
    at = plus(at, seconds(30 + random_.below(15)));
    add(at, {{},
             FaultKind::uncordon,
             "cluster1",
             {name},
             0,
             name + " is upgraded and takes pods again"});
    at = plus(at, seconds(5));
  }
}

void ScriptWriter::flapping_node() {
  const std::string name = node(kSpot);
  Duration at = about(minutes(6));
  for (int i = 0; i < 5; ++i) {
    add(at, {{}, FaultKind::stop, "cluster2", {name}, 0, name + " flaps: not ready"});
    at = plus(at, seconds(20));
    add(at, {{}, FaultKind::start, "cluster2", {name}, 0, name + " flaps: ready"});
    at = plus(at, seconds(8 + random_.below(6)));
  }
}

void ScriptWriter::dead_node() {
  const std::string name = node(kOnDemand);
  const Duration at = about(minutes(10));
  add(at, {{}, FaultKind::stop, "cluster2", {name}, 0, name + " dies"});
  add(plus(at, seconds(180 + random_.below(60))),
      {{}, FaultKind::start, "cluster2", {name}, 0, name + " is repaired and ready again"});
}

void ScriptWriter::lost_rack() {
  const std::string rack = random_.below(2) == 0 ? "rack-a" : "rack-b";
  std::vector<std::string> names;
  for (const ClusterLayout& cluster : fleet_layout())
    for (const MachineLayout& machine : cluster.machines)
      if (cluster.name == "cluster3" && machine.rack == rack) names.push_back(machine.name);
  const std::string count = std::to_string(names.size()) + " nodes";
  const Duration at = about(minutes(12));
  add(at,
      {{}, FaultKind::stop, "cluster3", names, 0, rack + " loses power: " + count + " are gone"});
  add(plus(at, seconds(200 + random_.below(60))),
      {{},
       FaultKind::start,
       "cluster3",
       names,
       0,
       rack + " has power again: " + count + " are back"});
}

void ScriptWriter::edited_claim() {
  // Down in even rounds, back in odd ones.
  const std::int64_t cpu = round_ % 2 == 0 ? 300 + 50 * random_.below(3) : 500;
  add(about(minutes(14)), {{},
                           FaultKind::edit_claim,
                           "cluster2",
                           {},
                           cpu,
                           "kubectl edit clusterresourceclaim: assigns " + std::to_string(cpu) +
                               " on-demand cpu to " + std::string(kHighQueue)});
}

void ScriptWriter::overwritten_queue() {
  const std::int64_t cpu = 1 + random_.below(9);
  add(about(minutes(20)), {{},
                           FaultKind::overwrite_queue,
                           "",
                           {},
                           cpu,
                           "kubectl apply of an old file: sets on-demand cpu of " +
                               std::string(kHighQueue) + " to " + std::to_string(cpu)});
}

void ScriptWriter::guest() {
  const Duration at = about(minutes(17));
  add(at, {{}, FaultKind::join, "cluster4", {}, 0, "joins the hub with 6 nodes"});
  add(plus(at, seconds(90)), {{},
                              FaultKind::assign,
                              "cluster4",
                              {},
                              0,
                              "kubectl edit clusterresourceclaim: assigns its capacity"});
  add(about(minutes(35)), {{}, FaultKind::leave, "cluster4", {}, 0, "is detached from the hub"});
}

void ScriptWriter::silent_cluster() {
  const std::string cluster = random_.below(2) == 0 ? "cluster1" : "cluster3";
  const Duration at = about(minutes(22));
  add(at,
      {{}, FaultKind::go_silent, cluster, {}, 0, "is not heard of any more: Available is Unknown"});
  add(plus(at, seconds(960)), {{}, FaultKind::come_back, cluster, {}, 0, "answers again"});
}

std::vector<ScheduledFault> ScriptWriter::write() {
  assignments();
  rolling_drain();
  flapping_node();
  dead_node();
  lost_rack();
  edited_claim();
  overwritten_queue();
  guest();
  silent_cluster();
  std::multimap<Duration, ScheduledFault>
      in_order;  // of equal times the first that was added comes first
  for (ScheduledFault& fault : out_) in_order.emplace(fault.at, std::move(fault));
  std::vector<ScheduledFault> script;
  for (auto& [at, fault] : in_order) script.push_back(std::move(fault));
  return script;
}

}  // namespace

std::string_view actor_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::assign:
    case FaultKind::edit_claim:
    case FaultKind::overwrite_queue: return "admin";
    case FaultKind::cordon:
    case FaultKind::uncordon:
    case FaultKind::stop:
    case FaultKind::start:
    case FaultKind::go_silent:
    case FaultKind::come_back:
    case FaultKind::join:
    case FaultKind::leave: break;
  }
  return "fleet";
}

std::vector<ScheduledFault> script_of_round(std::uint64_t seed, std::int64_t round) {
  check(round >= 0, "rounds are counted from 0");
  return ScriptWriter(seed, round).write();
}

}  // namespace fairlead
