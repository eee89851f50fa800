// One maker per checker; each is in the file of its name.
#pragma once

#include "tests/simulation/checker.h"

namespace fairlead::simulation {

/// Runs of this process go without the checker of this name. It shows what no other one sees
/// (mutants/).
void leave_out(std::string_view checker);

/// What the audit says of the past is what the API servers had.
std::unique_ptr<Checker> audit_agrees(const World& world);
/// After faults have healed, the hub leaves what it leaves in the undisturbed run.
std::unique_ptr<Checker> converges(const World& world);
/// What is derived step by step is what is derived anew, and no write was forgotten.
std::unique_ptr<Checker> derived_anew(const World& world);
/// The hub changes only the objects and fields that are its own.
std::unique_ptr<Checker> foreign_untouched(const World& world);
/// The hub writes nothing during the hour of quiet.
std::unique_ptr<Checker> no_writes_when_quiet(const World& world);
/// What was acknowledged stays in the log, once.
std::unique_ptr<Checker> nothing_lost(const World& world);
/// After faults have healed, the queues have what claims assign and machines offer.
std::unique_ptr<Checker> quotas_at_rest(const World& world);
/// State is what the log folds to.
std::unique_ptr<Checker> replay_equals_live(const World& world);
/// After faults have healed, all replicas have the same log.
std::unique_ptr<Checker> replicas_agree(const World& world);
/// No value of a Secret is in an event or a write.
std::unique_ptr<Checker> secrets_nowhere(const World& world);
/// From each snapshot on the log folds to what it folds to from its beginning.
std::unique_ptr<Checker> snapshot_and_tail(const World& world);
/// No replica writes after the term of another one has begun.
std::unique_ptr<Checker> stale_epoch(const World& world);
/// Grants sum to no more than what is accepted, and that is no more than there ever was.
std::unique_ptr<Checker> sums_within_bound(const World& world);
/// What the hub leaves of a ClusterQueue is valid.
std::unique_ptr<Checker> valid_for_kueue(const World& world);
/// The hub never promises what no member can admit.
std::unique_ptr<Checker> within_capacity(const World& world);
/// An object does not grow more often than once per write interval.
std::unique_ptr<Checker> write_interval(const World& world);

}  // namespace fairlead::simulation
