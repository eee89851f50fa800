#include "engine/fleet/script.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/base/check.h"
#include "engine/fleet/dice.h"
#include "engine/fleet/layout.h"

namespace fairlead {
namespace {

// Writes the script of one round, which begins at `begin_`.
class Playwright {
 public:
  Playwright(std::uint64_t seed, std::int64_t round)
      : dice_(seed * 1'000'003 + static_cast<std::uint64_t>(round)),
        begin_{round * kRoundLength.ns},
        round_(round) {}

  std::vector<Happening> write();

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
  Duration about(Duration at) { return {at.ns + seconds(dice_.below(20)).ns}; }
  void add(Duration at, Happening happening) {
    happening.at = {begin_.ns + at.ns};
    out_.push_back(std::move(happening));
  }
  std::string node(std::string_view flavor) {
    return std::string(flavor) + "-" + std::to_string(1 + dice_.below(6));
  }

  Dice dice_;
  const Duration begin_;
  const std::int64_t round_;
  std::vector<Happening> out_;
};

constexpr Duration plus(Duration a, Duration b) { return {a.ns + b.ns}; }

void Playwright::assignments() {
  if (round_ > 0) return;
  const std::string text = "kubectl edit clusterresourceclaim: assigns its capacity to the queues";
  add(about(seconds(90)), {{}, Deed::assign, "cluster1", {}, 0, text});
  add(about(seconds(120)), {{}, Deed::assign, "cluster3", {}, 0, text});
}

void Playwright::rolling_drain() {
  Duration at = about(minutes(4));
  const std::int64_t first = dice_.below(6);
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::string name = std::string(kOnDemand) + "-" + std::to_string(1 + (first + i) % 6);
    add(at, {{},
             Deed::cordon,
             "cluster1",
             {name},
             0,
             name + " is cordoned and drained for an upgrade, " + std::to_string(i + 1) + " of 4"});
    at = plus(at, seconds(30 + dice_.below(15)));
    add(at,
        {{}, Deed::uncordon, "cluster1", {name}, 0, name + " is upgraded and takes pods again"});
    at = plus(at, seconds(5));
  }
}

void Playwright::flapping_node() {
  const std::string name = node(kSpot);
  Duration at = about(minutes(6));
  for (int i = 0; i < 5; ++i) {
    add(at, {{}, Deed::stop, "cluster2", {name}, 0, name + " flaps: not ready"});
    at = plus(at, seconds(20));
    add(at, {{}, Deed::start, "cluster2", {name}, 0, name + " flaps: ready"});
    at = plus(at, seconds(8 + dice_.below(6)));
  }
}

void Playwright::dead_node() {
  const std::string name = node(kOnDemand);
  const Duration at = about(minutes(10));
  add(at, {{}, Deed::stop, "cluster2", {name}, 0, name + " dies"});
  add(plus(at, seconds(180 + dice_.below(60))),
      {{}, Deed::start, "cluster2", {name}, 0, name + " is repaired and ready again"});
}

void Playwright::lost_rack() {
  const std::string rack = dice_.below(2) == 0 ? "rack-a" : "rack-b";
  std::vector<std::string> names;
  for (const ClusterLayout& cluster : fleet_layout())
    for (const MachineLayout& machine : cluster.machines)
      if (cluster.name == "cluster3" && machine.rack == rack) names.push_back(machine.name);
  const std::string count = std::to_string(names.size()) + " nodes";
  const Duration at = about(minutes(12));
  add(at, {{}, Deed::stop, "cluster3", names, 0, rack + " loses power: " + count + " are gone"});
  add(plus(at, seconds(200 + dice_.below(60))),
      {{}, Deed::start, "cluster3", names, 0, rack + " has power again: " + count + " are back"});
}

void Playwright::edited_claim() {
  // Down in even rounds, back in odd ones.
  const std::int64_t cpu = round_ % 2 == 0 ? 300 + 50 * dice_.below(3) : 500;
  add(about(minutes(14)), {{},
                           Deed::edit_claim,
                           "cluster2",
                           {},
                           cpu,
                           "kubectl edit clusterresourceclaim: assigns " + std::to_string(cpu) +
                               " on-demand cpu to " + std::string(kHighQueue)});
}

void Playwright::overwritten_queue() {
  const std::int64_t cpu = 1 + dice_.below(9);
  add(about(minutes(20)), {{},
                           Deed::overwrite_queue,
                           "",
                           {},
                           cpu,
                           "kubectl apply of an old file: sets on-demand cpu of " +
                               std::string(kHighQueue) + " to " + std::to_string(cpu)});
}

void Playwright::guest() {
  const Duration at = about(minutes(17));
  add(at, {{}, Deed::join, "cluster4", {}, 0, "joins the hub with 6 nodes"});
  add(plus(at, seconds(90)), {{},
                              Deed::assign,
                              "cluster4",
                              {},
                              0,
                              "kubectl edit clusterresourceclaim: assigns its capacity"});
  add(about(minutes(35)), {{}, Deed::leave, "cluster4", {}, 0, "is detached from the hub"});
}

void Playwright::silent_cluster() {
  const std::string cluster = dice_.below(2) == 0 ? "cluster1" : "cluster3";
  const Duration at = about(minutes(22));
  add(at, {{}, Deed::go_silent, cluster, {}, 0, "is not heard of any more: Available is Unknown"});
  add(plus(at, seconds(960)), {{}, Deed::come_back, cluster, {}, 0, "answers again"});
}

std::vector<Happening> Playwright::write() {
  assignments();
  rolling_drain();
  flapping_node();
  dead_node();
  lost_rack();
  edited_claim();
  overwritten_queue();
  guest();
  silent_cluster();
  std::multimap<Duration, Happening>
      in_order;  // of equal times the first that was added comes first
  for (Happening& happening : out_) in_order.emplace(happening.at, std::move(happening));
  std::vector<Happening> script;
  for (auto& [at, happening] : in_order) script.push_back(std::move(happening));
  return script;
}

}  // namespace

std::string_view actor_of(Deed deed) {
  switch (deed) {
    case Deed::assign:
    case Deed::edit_claim:
    case Deed::overwrite_queue: return "admin";
    case Deed::cordon:
    case Deed::uncordon:
    case Deed::stop:
    case Deed::start:
    case Deed::go_silent:
    case Deed::come_back:
    case Deed::join:
    case Deed::leave: break;
  }
  return "fleet";
}

std::vector<Happening> script_of_round(std::uint64_t seed, std::int64_t round) {
  check(round >= 0, "rounds are counted from 0");
  return Playwright(seed, round).write();
}

}  // namespace fairlead
