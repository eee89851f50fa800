// What befalls servers and processes for a while, at times of a seed.
#pragma once

#include "tests/simulation/faults.h"

namespace fairlead::simulation {

class World;

class Disasters {
 public:
  /// `world` outlives it.
  explicit Disasters(World& world);
  /// Nothing begins from now on; what has begun goes on.
  void end() { occasions_.end(); }

 private:
  void restart(Random& random);
  void be_away(Random& random);
  void compact(Random& random);
  void restore(Random& random);
  void deny(Random& random);
  void lie(Random& random);
  void set_clock(Random& random);
  void kill(Random& random);
  void pause(Random& random);
  void part(Random& random);
  void lose_ring(Random& random);
  void restore_ring(Random& random);
  /// The time up to `most` minutes from now.
  LogTime within(Random& random, std::int64_t most) const;

  World& world_;
  Occasions occasions_;
};

}  // namespace fairlead::simulation
