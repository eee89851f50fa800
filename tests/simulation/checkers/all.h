// One maker per checker; each is in the file of its name.
#pragma once

#include "tests/simulation/checker.h"

namespace fairlead::simulation {

/// The hub writes nothing during the hour of quiet.
std::unique_ptr<Checker> no_writes_when_quiet(const World& world);
/// State is what the log folds to.
std::unique_ptr<Checker> replay_equals_live(const World& world);

}  // namespace fairlead::simulation
