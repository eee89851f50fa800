// The part of State about claims: what an administrator assigns, and what is granted of it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/fold/claims/claim_spec.h"
#include "engine/fold/claims/grant_reason.h"
#include "engine/fold/memo.h"
#include "engine/fold/name_map.h"
#include "engine/fold/observed.h"
#include "schema/event.h"

namespace fairlead {

/// The grant of one assignment row, and why it is less than the row asks for, if it is.
struct Grant {
  AssignmentRow row;
  Amount granted = 0;
  GrantReason reason = GrantReason::in_full;

  friend bool operator==(const Grant&, const Grant&) = default;
};

/// What closing the present moment does with a dirty claim: all, or only the parts that are named.
enum class ClaimPart : std::uint8_t {
  all,                ///< derives the grants and plans the claim with its cluster
  status,             ///< plans the claim: nothing changed that the grants follow from
  grants,             ///< derives the grants, and does the rest if they moved
  status_and_grants,  ///< both of these
};

struct Claim {
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  ClaimFacts facts;
  Seq seq;
  std::optional<ClaimTerms> terms;  ///< of the last valid spec
  Seq terms_seq;                    ///< of the event that brought `terms`
  Seq edited_seq;                   ///< of the newest event with another spec
  std::optional<ClaimFault> fault;  ///< of the newest spec, if it is invalid
  std::vector<std::string> warnings;
  bool winner = false;        ///< it is in force for its cluster: the oldest not being deleted
  bool known = false;         ///< the grants follow from an accepted value
  std::vector<Grant> grants;  ///< in the order of terms->rows
  Memo<ClaimPart> dirty;      ///< while it is in ClaimTables::dirty: which parts

  friend bool operator==(const Claim&, const Claim&) = default;
};

/// The claims of the hub.
struct ClaimTables {
  NameMap<Claim> by_name;
  NameMap<std::set<std::string>> of_cluster;  ///< claims by the cluster they name
  NameMap<std::set<std::string>> of_queue;    ///< winners and unknowns that name the queue
  std::set<std::string> dirty;                ///< whose grants or status are derived again
  Memo<std::uint64_t> terms_changes;          ///< counts changes of claims and configuration

  friend bool operator==(const ClaimTables&, const ClaimTables&) = default;
};

/// Where its objects are (held.h).
auto& table_of(KindOf<ClaimFacts>, Of<ClaimTables> auto& part) { return part.by_name; }

}  // namespace fairlead
