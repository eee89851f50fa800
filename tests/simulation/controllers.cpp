#include "tests/simulation/controllers.h"

#include "tests/simulation/world.h"

namespace fairlead::simulation {

Controllers::Controllers(World& world) {
  const Storm& storm = world.storm();
  kueues_.try_emplace(std::string(kHub), world.time(), world.hub_server());
  for (std::int64_t at = 0; storm.works != 0 && at < world.members(); ++at) {
    Server& member = world.member(at).server();
    kueues_.try_emplace(member.name(), world.time(), member);
    agents_[member.name()] = std::make_unique<Agent>(world.time(), world.hub_server(), member);
  }
  for (const SeenWrite& write : world.record().writes) saw(write);
  if (storm.workers != 0)
    workers_ = std::make_unique<Workers>(world.time(), world.hub_server(), world.members());
}

void Controllers::saw(const SeenWrite& write) {
  if (const auto kueue = kueues_.find(write.server); kueue != kueues_.end())
    kueue->second.saw(write);
  for (const auto& [member, agent] : agents_)
    if (write.server == kHub || write.server == member) agent->saw(write);
  if (workers_) workers_->saw(write);
}

}  // namespace fairlead::simulation
