#include "engine/fold/claims/dirty_claims.h"

namespace fairlead {

// Adds `part` to what closing the moment does with the claim.
static void mark_part_dirty(ClaimTables& claims, const std::string& name, ClaimPart part) {
  const auto at = claims.by_name.find(name);
  if (at == claims.by_name.end()) return;
  ClaimPart& all = *at->second.dirty;
  if (claims.dirty.insert(name).second || part == ClaimPart::all)
    all = part;
  else if (all != ClaimPart::all && all != part)
    all = ClaimPart::status_and_grants;
}

void mark_claim_dirty(ClaimTables& claims, const std::string& name) {
  mark_part_dirty(claims, name, ClaimPart::all);
}

void mark_claim_status_dirty(ClaimTables& claims, const std::string& name) {
  mark_part_dirty(claims, name, ClaimPart::status);
}

static void mark_claims_dirty(ClaimTables& claims, const std::string& cluster, ClaimPart part) {
  if (const auto at = claims.of_cluster.find(cluster); at != claims.of_cluster.end())
    for (const std::string& name : at->second) mark_part_dirty(claims, name, part);
}

void mark_cluster_grants_dirty(ClaimTables& claims, const std::string& cluster) {
  mark_claims_dirty(claims, cluster, ClaimPart::grants);
}

void mark_cluster_claims_dirty(ClaimTables& claims, const std::string& cluster) {
  mark_claims_dirty(claims, cluster, ClaimPart::all);
}

void mark_queue_claims_dirty(ClaimTables& claims, const std::string& queue) {
  if (const auto at = claims.of_queue.find(queue); at != claims.of_queue.end())
    for (const std::string& name : at->second) mark_claim_dirty(claims, name);
}

}  // namespace fairlead
