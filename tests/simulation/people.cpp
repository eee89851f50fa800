#include "tests/simulation/people.h"

#include <utility>

#include "tests/simulation/world.h"

namespace fairlead::simulation {

Json claim_of(const std::string& cluster) {
  Json claim = first_claim().object;
  claim["metadata"]["name"] = cluster + "-resource-claim";
  claim["spec"]["clusterName"] = cluster;
  claim["spec"]["nominalResources"] = {{"cpu", "18000"}, {"memory", "18000Gi"}, {"gpu", "180"}};
  claim["spec"]["resourceAssignments"] = assignments(9000);
  return claim;
}

People::People(World& world) : world_(world), occasions_(world.time()) {
  const Storm& storm = world.storm();
  using Act = void (People::*)(Random&);
  std::uint64_t actor = static_cast<std::uint64_t>(storm.seed) * 31;
  for (const auto& [times, act] : std::initializer_list<std::pair<std::int64_t, Act>>{
           {storm.node_changes, &People::change_node},
           {storm.drains, &People::drain},
           {storm.flaps, &People::flap},
           {storm.claim_edits, &People::edit_claim},
           {storm.queue_edits, &People::edit_queue},
           {storm.foreign_quotas, &People::write_quota}})
    occasions_.repeat(times, hours(1), ++actor,
                      [this, does = act](Random& random) { (this->*does)(random); });
}

void People::later(Duration span, std::function<void()> work) {
  world_.time().post(span, [this, work = std::move(work)] {
    if (!occasions_.over()) work();
  });
}

void People::change_node(Random& random) {
  Member& member = world_.member(random.below(world_.members()));
  const std::int64_t kind = random.below(8);
  if (kind == 0 || member.nodes() == 0) return member.join();
  const std::int64_t at = random.below(member.nodes());
  if (kind == 1) return member.vanish(at);
  bool& what = kind < 5 ? member.machine(at).cordoned : member.machine(at).down;
  what = !what;
  member.write(at);
}

void People::drain(Random& random) {
  Member& member = world_.member(random.below(world_.members()));
  for (std::int64_t at = 0; at < member.nodes() / 2; ++at)
    later(minutes(at), [&member, at] {
      if (at >= member.nodes()) return;
      member.machine(at).cordoned = true;
      member.write(at);
    });
}

void People::flap(Random& random) {
  Member& member = world_.member(random.below(world_.members()));
  if (member.nodes() == 0) return;
  const std::int64_t at = random.below(member.nodes());
  const Duration pause = seconds(5 + random.below(120));
  for (std::int64_t turn = 0; turn < 20; ++turn)
    later({pause.ns * turn}, [&member, at, turn] {
      if (at >= member.nodes()) return;
      member.machine(at).down = turn % 2 == 0;
      member.write(at);
    });
}

void People::edit_claim(Random& random) {
  const std::string& cluster = world_.member(random.below(world_.members())).name();
  const std::int64_t cpu = 100 * (1 + random.below(random.below(2) == 0 ? 10 : 90));
  want(kClaims + "/" + cluster + "-resource-claim",
       {{"spec", {{"resourceAssignments", assignments(cpu)}}}});
}

void People::want(const std::string& path, const Json& patch) {
  wanted_[path] = patch;
  world_.hub_server().try_write("administrator", "PATCH", path, patch);
}

void People::say_again() {
  for (const auto& [path, patch] : wanted_)
    world_.hub_server().try_write("administrator", "PATCH", path, patch);
}

void People::edit_queue(Random& random) {
  const std::string queue(random.below(2) == 0 ? kHighQueue : kLowQueue);
  const char* const strategy = random.below(2) == 0 ? "StrictFIFO" : "BestEffortFIFO";
  want(kQueues + "/" + queue, {{"spec", {{"queueingStrategy", strategy}}}});
}

void People::write_quota(Random& random) {
  const std::string path =
      kQueues + "/" + std::string(random.below(2) == 0 ? kHighQueue : kLowQueue);
  // Drawn before anything is looked at: what is there depends on the hub, and so on the storm.
  const auto flavor = static_cast<std::size_t>(random.below(1 << 20));
  const auto resource = static_cast<std::size_t>(random.below(1 << 20));
  const std::string amount = std::to_string(random.below(1000));
  Json groups = world_.hub_server().read(path)["spec"]["resourceGroups"];
  if (!groups.is_array() || groups.empty()) return;
  Json& flavors = groups[0]["flavors"];
  Json& resources = flavors[flavor % flavors.size()]["resources"];
  resources[resource % resources.size()]["nominalQuota"] = amount;
  world_.hub_server().try_write("second-human", "PATCH", path,
                                {{"spec", {{"resourceGroups", std::move(groups)}}}});
}

}  // namespace fairlead::simulation
