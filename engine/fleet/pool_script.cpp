#include "engine/fleet/pool_script.h"

#include <algorithm>
#include <tuple>

#include "engine/base/check.h"
#include "engine/fleet/pool_world.h"
#include "engine/fleet/random.h"

namespace fairlead {
namespace {

constexpr std::int64_t kSpread = 20;  // seconds by which seeds differ in their times

// Writes the script of one round. Large: a function for each chapter, and one for each kind of
// fault.
class PoolScriptWriter {
 public:
  PoolScriptWriter(std::uint64_t seed, std::int64_t round)
      : random_(seed * 1'000'003 + static_cast<std::uint64_t>(round)),
        begin_{round * kPoolRoundLength.ns},
        round_(static_cast<std::size_t>(round)) {}

  std::vector<PoolFault> write();

 private:
  void ordinary_day();
  void growing_quota();
  void flapping_machine();
  void busy_hours();
  void dead_machine();
  void hands();
  void lost_cluster();
  void drained_cluster();
  void quota_too_large();

  Duration around(Duration at) { return {at.ns + seconds(random_.below(kSpread)).ns}; }
  void add(Duration at, PoolFault fault) {
    fault.at = {begin_.ns + at.ns};
    out_.push_back(std::move(fault));
  }
  void scale(Duration at, const char* app, std::int64_t pods) {
    add(at, {{},
             PoolFaultKind::scale,
             app,
             "",
             pods,
             "kubectl scale: " + std::to_string(pods) + " pods"});
  }
  void restart(Duration at, const char* app, const char* why) {
    add(at,
        {{}, PoolFaultKind::restart, app, "", 0, "kubectl rollout restart: " + std::string(why)});
  }
  void set_quota(Duration at, const char* app, std::int64_t cpu, const char* why) {
    add(at, {{},
             PoolFaultKind::set_quota,
             app,
             "",
             cpu,
             "sets its quota to " + std::to_string(cpu) + " cpu and " + std::to_string(2 * cpu) +
                 "Gi" + why});
  }
  // The clusters take turns: the one that is lost in the first round, the one drained, the third.
  std::string cluster(std::size_t which) const {
    const std::vector<std::string> all = super_clusters();
    return all[(round_ + which) % all.size()];
  }
  std::string machine(const std::string& of) {
    const auto all = super_cluster_machines(of);
    const auto count = static_cast<std::int64_t>(all.size());
    return all[static_cast<std::size_t>(random_.below(count))].name;
  }

  Random random_;
  const Duration begin_;
  const std::size_t round_;
  std::vector<PoolFault> out_;
};

constexpr Duration and_then(Duration a, Duration b) { return {a.ns + b.ns}; }

// Not before the clusters have their first capacity (firstQuiet): so all of them are known when the
// first slices are placed, whichever was read first.
void PoolScriptWriter::ordinary_day() {
  Duration at = around(minutes(2));
  for (const PoolApp& app : pool_apps()) {
    set_quota(at, app.id().c_str(), app.quota_cpu, "");
    scale(and_then(at, seconds(30)), app.id().c_str(), app.replicas);
    at = and_then(at, seconds(4));
  }
}

void PoolScriptWriter::growing_quota() {
  set_quota(around(minutes(4)), "acme/web", 16 + 2 * random_.below(2), ": it grows");
  set_quota(around(minutes(46)), "acme/web", 12, ": it shrinks again");
}

// Each time for less than shrinkWindow: nothing may move.
void PoolScriptWriter::flapping_machine() {
  const std::string of = cluster(0), name = machine(of);
  Duration at = around(minutes(5));
  for (int i = 0; i < 2; ++i) {
    add(at, {{}, PoolFaultKind::stop, of, name, 0, name + " flaps: not ready"});
    at = and_then(at, seconds(8));
    add(at, {{}, PoolFaultKind::start, of, name, 0, name + " flaps: ready"});
    at = and_then(at, seconds(12));
  }
}

void PoolScriptWriter::busy_hours() {
  scale(around(minutes(7)), "acme/web", 5 + random_.below(2));
  scale(around(minutes(11)), "bolt/api", 5);
  scale(around(minutes(33)), "bolt/api", 3);
  scale(around(minutes(45)), "acme/web", 3);
}

void PoolScriptWriter::dead_machine() {
  const std::string of = cluster(0), name = machine(of);
  const Duration at = around(minutes(9));
  add(at, {{}, PoolFaultKind::stop, of, name, 0, name + " dies"});
  add(and_then(at, seconds(240 + random_.below(60))),
      {{}, PoolFaultKind::start, of, name, 0, name + " is repaired and ready again"});
}

void PoolScriptWriter::hands() {
  const std::string placements =
      "{\"" + cluster(2) + "\":" + std::to_string(1 + random_.below(2)) + "}";
  add(around(minutes(12)), {{},
                            PoolFaultKind::edit,
                            "bolt/db",
                            placements,
                            0,
                            "kubectl annotate: edits its placements to " + placements});
  add(around(minutes(15)),
      {{}, PoolFaultKind::clear, "acme/batch", "", 0, "kubectl annotate: clears its placements"});
}

// The slices move when the loss has lasted. Pods that are made anew wait until then.
void PoolScriptWriter::lost_cluster() {
  const std::string of = cluster(0);
  add(around(minutes(18)),
      {{}, PoolFaultKind::go_silent, of, "", 0, "is not heard of any more: Available is Unknown"});
  restart(around(minutes(20)), "acme/batch", "its pods are replaced");
  add(around(minutes(30)), {{}, PoolFaultKind::come_back, of, "", 0, "answers again"});
  restart(around(minutes(32)), "acme/web", "its pods are replaced");
}

// The pods stay until their tenants replace them.
void PoolScriptWriter::drained_cluster() {
  const std::string of = cluster(1);
  add(around(minutes(37)),
      {{}, PoolFaultKind::drain, of, "", 0, "is drained: pool.clusters has drain: true for it"});
  Duration at = around(minutes(39));
  for (const char* app : {"bolt/db", "bolt/api", "acme/batch", "acme/web"}) {
    restart(at, app, "its pods leave the cluster that is drained");
    at = and_then(at, seconds(5));
  }
  add(around(minutes(42)), {{}, PoolFaultKind::undrain, of, "", 0, "is drained no more"});
}

void PoolScriptWriter::quota_too_large() {
  set_quota(around(minutes(43)), "bolt/api", 100, ": more than the pool has");
  set_quota(around(minutes(44)), "bolt/api", 6, ": as before");
}

std::vector<PoolFault> PoolScriptWriter::write() {
  ordinary_day();
  growing_quota();
  flapping_machine();
  busy_hours();
  dead_machine();
  hands();
  lost_cluster();
  drained_cluster();
  quota_too_large();
  // Two faults may have the same time: every standard library orders them alike.
  std::sort(out_.begin(), out_.end(), [](const PoolFault& a, const PoolFault& b) {
    return std::tie(a.at, a.subject, a.kind) < std::tie(b.at, b.subject, b.kind);
  });
  return std::move(out_);
}

}  // namespace

std::string_view actor_of(PoolFaultKind kind) {
  switch (kind) {
    case PoolFaultKind::stop:
    case PoolFaultKind::start:
    case PoolFaultKind::go_silent:
    case PoolFaultKind::come_back: return "fleet";
    case PoolFaultKind::drain:
    case PoolFaultKind::undrain: return "admin";
    case PoolFaultKind::set_quota:
    case PoolFaultKind::edit:
    case PoolFaultKind::clear:
    case PoolFaultKind::scale:
    case PoolFaultKind::restart: break;
  }
  return "tenant";
}

std::vector<PoolFault> pool_script_of_round(std::uint64_t seed, std::int64_t round) {
  check(round >= 0, "rounds are counted from 0");
  return PoolScriptWriter(seed, round).write();
}

}  // namespace fairlead
