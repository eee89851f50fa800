#include "engine/fold/claims/claim_status_observation.h"

#include "engine/base/resource_version.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

const WriteState* status_write(const WriteTables& writes, const std::string& name) {
  return find_write(writes, {kHub, Kind::claim, "", name, true});
}

// The status that the write is expected to leave; null where the intent has no digest of it.
const ClaimFacts* left_by(const PatchIntended& intent) {
  const auto* claim = intent.expected ? std::get_if<ClaimFacts>(&*intent.expected) : nullptr;
  return claim && claim->status_digest != Digest{} ? claim : nullptr;
}

bool differs_from_ours(const WriteState& write, const Digest& status) {
  const Digest& left = write.status().digest;
  return status != Digest{} && left != Digest{} && status != left;
}

}  // namespace

bool has_outstanding_status(const WriteState& write, const ClaimFacts& seen) {
  const ClaimFacts* left = write.outstanding ? left_by(write.outstanding->intent) : nullptr;
  return left && left->status_digest == seen.status_digest;
}

bool status_is_foreign(StateView<const ClaimTables, const WriteTables> state,
                       const std::string& name) {
  const WriteState* write = status_write(state.writes, name);
  return write && status_is_foreign(state, name, *write);
}

bool status_is_foreign(StateView<const ClaimTables, const WriteTables> state,
                       const std::string& name, const WriteState& write) {
  if (write.outstanding || write.status().digest == Digest{}) return false;
  const auto claim = state.claims.by_name.find(name);
  return claim != state.claims.by_name.end() &&
         differs_from_ours(write, claim->second.facts.status_digest);
}

bool shows_foreign_status(const WriteTables& writes, const std::string& name,
                          const ClaimFacts& seen) {
  const WriteState* write = status_write(writes, name);
  return write && differs_from_ours(*write, seen.status_digest) &&
         !has_outstanding_status(*write, seen);
}

bool is_known_status(StateView<const ClaimTables, const WriteTables> state, const std::string& name,
                     const ClaimFacts& seen) {
  // The claim is there: ingest asks only about one that State holds.
  const ClaimFacts& known = state.claims.by_name.at(name).facts;
  if (seen.status_digest == known.status_digest) return seen.status_grants == known.status_grants;
  const WriteState* write = status_write(state.writes, name);
  if (!write || seen.status_digest == Digest{}) return false;
  if (has_outstanding_status(*write, seen)) return true;
  return !write->outstanding && differs_from_ours(*write, known.status_digest) &&
         differs_from_ours(*write, seen.status_digest);
}

void note_status_seen(WriteState& write, const ObjectObserved& seen) {
  const Digest& status = std::get<ClaimFacts>(seen.facts).status_digest;
  if (status == Digest{} || !write.status_left) return;
  StatusLeft& left = *write.status_left;
  const bool is_that_version =
      !seen.resource_version.empty() && seen.resource_version == left.version;
  // A log of schema version 3 or lower has no digest of what its writes left.
  const bool is_first = left.digest == Digest{} && !left.body.empty();
  if (is_that_version || (is_first && !write.outstanding)) left.digest = status;
}

void note_status_accepted(ClaimTables& claims, WriteState& write, const PatchIntended& intent,
                          const std::string& version) {
  StatusLeft& kept = write.change_status();
  kept = {std::move(kept.body), {}, ""};
  const ClaimFacts* left = left_by(intent);
  const auto at = claims.by_name.find(intent.target.name);
  if (!left || at == claims.by_name.end()) return;
  kept.digest = left->status_digest;
  kept.version = version;
  Claim& claim = at->second;
  // An answer with the version that the write was derived from means that it changed nothing.
  const bool is_seen = version == claim.resource_version || version == intent.resource_version;
  if (is_seen && !version.empty()) {
    if (claim.facts.status_digest != Digest{}) kept.digest = claim.facts.status_digest;
  } else if (!is_lower_version(version, claim.resource_version)) {  // else the watch is ahead of it
    claim.facts.status_digest = left->status_digest;
    claim.facts.status_grants = left->status_grants;
  }
}

}  // namespace fairlead
