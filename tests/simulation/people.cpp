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

People::People(World& world) : world_(world) {
  const Storm& storm = world.storm();
  std::uint64_t actor = 0;
  for (const auto& [rate, act] : std::initializer_list<std::pair<std::int64_t, Act>>{
           {storm.node_changes, &People::change_node},
           {storm.drains, &People::drain},
           {storm.flaps, &People::flap},
           {storm.claim_edits, &People::edit_claim},
           {storm.queue_edits, &People::edit_queue},
           {storm.foreign_quotas, &People::write_quota}})
    schedule(rate, act,
             std::make_shared<Random>(static_cast<std::uint64_t>(storm.seed) * 31 + ++actor));
}

// The pauses are even between nothing and twice the mean.
void People::schedule(std::int64_t per_hour, Act act, std::shared_ptr<Random> random) {
  if (per_hour == 0) return;
  const Duration pause{random->below(2 * hours(1).ns / per_hour)};
  world_.time().post(pause, [this, per_hour, act, random = std::move(random)]() mutable {
    if (ended_) return;
    (this->*act)(*random);
    schedule(per_hour, act, std::move(random));
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
    world_.time().post(minutes(at), [this, &member, at] {
      if (ended_ || at >= member.nodes()) return;
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
    world_.time().post({pause.ns * turn}, [this, &member, at, turn] {
      if (ended_ || at >= member.nodes()) return;
      member.machine(at).down = turn % 2 == 0;
      member.write(at);
    });
}

void People::edit_claim(Random& random) {
  const std::string& cluster = world_.member(random.below(world_.members())).name();
  const std::int64_t cpu = 100 * (1 + random.below(random.below(2) == 0 ? 10 : 90));
  world_.hub_server().try_write("administrator", "PATCH",
                                kClaims + "/" + cluster + "-resource-claim",
                                {{"spec", {{"resourceAssignments", assignments(cpu)}}}});
}

void People::edit_queue(Random& random) {
  const std::string queue(random.below(2) == 0 ? kHighQueue : kLowQueue);
  const char* const strategy = random.below(2) == 0 ? "StrictFIFO" : "BestEffortFIFO";
  world_.hub_server().try_write("administrator", "PATCH", kQueues + "/" + queue,
                                {{"spec", {{"queueingStrategy", strategy}}}});
}

void People::write_quota(Random& random) {
  const std::string path =
      kQueues + "/" + std::string(random.below(2) == 0 ? kHighQueue : kLowQueue);
  Json groups = world_.hub_server().read(path)["spec"]["resourceGroups"];
  Json& flavors = groups[0]["flavors"];
  Json& resources =
      flavors[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(flavors.size())))]
             ["resources"];
  resources[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(resources.size())))]
           ["nominalQuota"] = std::to_string(random.below(1000));
  world_.hub_server().try_write("second-human", "PATCH", path,
                                {{"spec", {{"resourceGroups", std::move(groups)}}}});
}

}  // namespace fairlead::simulation
