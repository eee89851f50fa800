#include "tests/simulation/hub.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace fairlead::simulation {

HubSettings settings_of(const HubWorld& world, const std::string& name, std::size_t facts_max) {
  HubSettings settings;
  settings.identity = name;
  settings.snapshots = world.snapshots;
  settings.facts_max = facts_max;
  settings.now = [&time = world.time] { return time.now(); };
  return settings;
}

Hub::Hub(const HubWorld& world, const std::string& name, EventLog& log, Clock& clock)
    : world_(world),
      replica_(log, clock, settings_of(world, name),
               [this](const Diagnostic& said) { world_.said(to_line(said)); }),
      leader_(replica_),
      connections_(world, name, [this] { return leader_.state().epoch; }),
      loop_(leader_, inbox_, status_, connections_.ports()) {}

Result<void> Hub::begin(const Configuration& configuration) {
  if (auto folded = replica_.fold({}); !folded) return folded;
  return leader_.begin(configuration);
}

Result<void> Hub::settle() {
  constexpr int kTurnsMax = 10'000;
  const bool asks = !leader_.awaited().empty();
  for (int turns = 0;
       (asks && turns == 0) || connections_.pending(inbox_) || leader_.next_due() <= leader_.now();
       ++turns) {
    if (world_.life->over) return {};
    check(turns < kTurnsMax, "a hub comes to rest within a moment");
    if (auto done = loop_.round(connections_.content(inbox_)); !done) return done;
    if (!world_.life->over) world_.turned();
  }
  return {};
}

// The hub's clock may go at another pace than the world's: it looks again then.
LogTime Hub::next_due() const {
  const LogTime now = world_.time.now();
  const Duration most = leader_.awaited().empty() ? Duration{INT64_MAX} : kAbsenceInterval;
  const LogTime due = leader_.next_due();
  if (due == kForever) return now + most;
  const Duration span{std::max(milliseconds(1).ns, (due - leader_.now()).ns)};
  return now + std::min(span, most);
}

}  // namespace fairlead::simulation
