#include "tests/simulation/disasters.h"

#include <array>

#include "tests/simulation/world.h"

namespace fairlead::simulation {

Disasters::Disasters(World& world) : world_(world), occasions_(world.time()) {
  using Act = void (Disasters::*)(Random&);
  constexpr std::array<Act, kEpisodeKinds> kActs{
      &Disasters::restart, &Disasters::be_away, &Disasters::compact,   &Disasters::restore,
      &Disasters::deny,    &Disasters::lie,     &Disasters::set_clock, &Disasters::kill,
      &Disasters::pause,   &Disasters::part,    &Disasters::lose_ring, &Disasters::restore_ring};
  const Storm& storm = world.storm();
  for (std::size_t at = 0; at < kEpisodeKinds; ++at)
    occasions_.repeat(storm.episodes[at], hours(10),
                      static_cast<std::uint64_t>(storm.seed) * 37 + at,
                      [this, act = kActs[at]](Random& random) { (this->*act)(random); });
}

LogTime Disasters::within(Random& random, std::int64_t most) const {
  return world_.now() + Duration{random.below(minutes(most).ns)};
}

void Disasters::restart(Random& random) {
  Server& server = world_.server(random.below(world_.servers()));
  server.trouble.away = within(random, 10);
  world_.faults().begins(EpisodeKind::restarts, server.name(), to_rfc3339(server.trouble.away));
  server.restart();
}

void Disasters::be_away(Random& random) {
  Server& server = world_.server(random.below(world_.servers()));
  server.trouble.away = within(random, 60);
  world_.faults().begins(EpisodeKind::outages, server.name(), to_rfc3339(server.trouble.away));
  server.restart();
}

void Disasters::compact(Random& random) {
  Server& server = world_.server(random.below(world_.servers()));
  world_.faults().begins(EpisodeKind::compactions, server.name(), {});
  server.compact();
}

// Where versions do not go on above the backup's, numbers that were used once are used again.
void Disasters::restore(Random& random) {
  const std::int64_t at = random.below(world_.servers());
  const std::uint64_t jump = random.below(2) == 0 ? 0 : 1'000'000;
  world_.time().post({random.below(minutes(30).ns)},
                     [this, at, jump, saved = world_.server(at).model().save()] {
                       if (occasions_.over()) return;
                       Server& server = world_.server(at);
                       world_.faults().begins(EpisodeKind::restores, server.name(),
                                              "versions +" + std::to_string(jump));
                       server.restore(saved, jump);
                       world_.say_again(at);
                     });
}

void Disasters::deny(Random& random) {
  Server& server = world_.server(random.below(world_.servers()));
  server.trouble.denied = within(random, 10);
  world_.faults().begins(EpisodeKind::credentials, server.name(),
                         to_rfc3339(server.trouble.denied));
}

void Disasters::lie(Random& random) {
  Server& server = world_.server(random.below(world_.servers()));
  server.trouble.lies = within(random, 20);
  world_.faults().begins(EpisodeKind::lies, server.name(), to_rfc3339(server.trouble.lies));
}

void Disasters::set_clock(Random& random) {
  const std::int64_t replica = random.below(world_.storm().replicas);
  const Duration span{random.below(minutes(20).ns) - minutes(10).ns};
  world_.faults().begins(EpisodeKind::clock_jumps, "hub-" + std::to_string(replica),
                         std::to_string(span.ns / 1'000'000) + " ms");
  world_.clock(replica).jump(span);
}

void Disasters::kill(Random& random) {
  const std::int64_t replica = random.below(world_.storm().replicas);
  world_.faults().begins(EpisodeKind::deaths, "hub-" + std::to_string(replica), {});
  world_.kill(replica);
}

void Disasters::pause(Random& random) {
  const std::int64_t replica = random.below(world_.storm().replicas);
  const LogTime until = world_.now() + Duration{random.below(minutes(2).ns)};
  world_.faults().begins(EpisodeKind::pauses, "hub-" + std::to_string(replica), to_rfc3339(until));
  world_.pause(replica, until);
}

void Disasters::part(Random& random) {
  const std::int64_t replica = random.below(world_.storm().replicas);
  const LogTime until = within(random, 10);
  world_.faults().begins(EpisodeKind::partitions, "hub-" + std::to_string(replica),
                         to_rfc3339(until));
  world_.life(replica).alone = until;
}

void Disasters::lose_ring(Random& random) {
  const LogTime until = within(random, 5);
  world_.faults().begins(EpisodeKind::ring_outages, {}, to_rfc3339(until));
  world_.lose_ring(until);
}

void Disasters::restore_ring(Random& random) {
  const std::uint64_t jump = random.below(2) == 0 ? 0 : 1'000'000;
  world_.restore_ring({random.below(minutes(30).ns)}, jump);
}

}  // namespace fairlead::simulation
