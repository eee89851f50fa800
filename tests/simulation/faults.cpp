#include "tests/simulation/faults.h"

#include <utility>

namespace fairlead::simulation {

Faults::Faults(const Storm& storm, model::VirtualTime& time, Seen seen)
    : storm_(storm),
      time_(time),
      seen_(std::move(seen)),
      details_(static_cast<std::uint64_t>(storm.seed) ^ 0x64657461696cU) {
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
    random_.emplace_back(static_cast<std::uint64_t>(storm.seed) * 1009 + kind);
}

bool Faults::happens(FaultKind kind, const std::string& where) {
  const auto at = static_cast<std::size_t>(kind);
  if (healed_) return false;
  ++occasions_[at];
  const bool now =
      storm_.once_kind > 0
          ? static_cast<std::size_t>(storm_.once_kind) == at + 1 && storm_.once_at == occasions_[at]
          : storm_.faults[at] > 0 && random_[at].below(1000) < storm_.faults[at];
  if (now) seen_({time_.now(), std::string(kFaultNames[at]), where, {}});
  return now;
}

void Faults::begins(EpisodeKind kind, const std::string& where, const std::string& what) {
  seen_({time_.now(), std::string(kEpisodeNames[static_cast<std::size_t>(kind)]), where, what});
}

struct Occasions::Repeated {
  model::VirtualTime& time;
  std::shared_ptr<bool> ended;
  Duration twice_the_mean;
  Random random;
  std::function<void(Random&)> act;

  static void plan(const std::shared_ptr<Repeated>& self) {
    self->time.post({self->random.below(self->twice_the_mean.ns)}, [self] {
      if (*self->ended) return;
      self->act(self->random);
      plan(self);
    });
  }
};

void Occasions::repeat(std::int64_t times, Duration span, std::uint64_t seed,
                       std::function<void(Random&)> act) {
  if (times == 0) return;
  Repeated::plan(std::make_shared<Repeated>(
      Repeated{time_, ended_, {2 * span.ns / times}, Random(seed), std::move(act)}));
}

}  // namespace fairlead::simulation
