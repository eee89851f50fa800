#include "tests/simulation/checkers/all.h"

#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

std::string& left_out() {
  static std::string name;
  return name;
}

// Those that judge by the machines of the world are left out where an incident has other ones.
Checkers every_checker(const World& world) {
  Checkers all;
  const auto of_world = [&](std::unique_ptr<Checker> (*make)(const World&)) {
    if (!world.incident()) all.push_back(make(world));
  };
  all.push_back(audit_agrees(world));
  all.push_back(converges(world));
  all.push_back(derived_anew(world));
  all.push_back(foreign_untouched(world));
  all.push_back(no_writes_when_quiet(world));
  all.push_back(nothing_lost(world));
  of_world(quotas_at_rest);
  all.push_back(replay_equals_live(world));
  all.push_back(replicas_agree(world));
  all.push_back(secrets_nowhere(world));
  all.push_back(snapshot_and_tail(world));
  all.push_back(stale_epoch(world));
  of_world(sums_within_bound);
  all.push_back(valid_for_kueue(world));
  of_world(within_capacity);
  all.push_back(write_interval(world));
  return all;
}

}  // namespace

Checkers all_checkers(const World& world) {
  Checkers all = every_checker(world);
  std::erase_if(all, [](const auto& checker) { return checker->name() == left_out(); });
  return all;
}

void leave_out(std::string_view checker) { left_out() = checker; }

}  // namespace fairlead::simulation
