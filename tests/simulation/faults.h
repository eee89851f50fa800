// Decides what goes wrong, by the storm, and says so to the record.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "engine/fleet/model/virtual_time.h"
#include "engine/fleet/random.h"
#include "tests/simulation/record.h"
#include "tests/simulation/storm.h"

namespace fairlead::simulation {

class Faults {
 public:
  using Seen = std::function<void(SeenFault)>;
  /// Both outlive it.
  Faults(const Storm& storm, model::VirtualTime& time, Seen seen);

  /// Whether this happens now, at `where`. Each call is an occasion.
  bool happens(FaultKind kind, const std::string& where);
  /// A number from 0 to `end` - 1, about what happens.
  std::int64_t below(std::int64_t end) { return details_.below(end); }
  /// Which of two ways it goes: by chance, or of the one fault of a storm as the storm says.
  bool first_way() { return storm_.once_kind > 0 ? storm_.once_way == 0 : below(2) == 0; }
  Duration up_to(Duration most) { return {below(most.ns + 1)}; }
  void begins(EpisodeKind kind, const std::string& where, const std::string& what);

  /// Nothing happens any more.
  void heal() { healed_ = true; }
  bool healed() const { return healed_; }
  /// Occasions of each kind so far.
  const std::array<std::int64_t, kFaultKinds>& occasions() const { return occasions_; }

 private:
  const Storm& storm_;
  model::VirtualTime& time_;
  const Seen seen_;
  // One per kind, so that a storm without a kind leaves the others as they were.
  std::vector<Random> random_;
  Random details_;
  std::array<std::int64_t, kFaultKinds> occasions_{};
  bool healed_ = false;
};

/// Has things done at times of a seed.
class Occasions {
 public:
  explicit Occasions(model::VirtualTime& time) : time_(time) {}
  /// Does `act` this often per `span`, at pauses that are even between nothing and twice the mean;
  /// 0: never. `act` gets random numbers of its own.
  void repeat(std::int64_t times, Duration span, std::uint64_t seed,
              std::function<void(Random&)> act);
  void end() { *ended_ = true; }
  bool over() const { return *ended_; }

 private:
  struct Repeated;

  model::VirtualTime& time_;
  const std::shared_ptr<bool> ended_ = std::make_shared<bool>(false);
};

}  // namespace fairlead::simulation
