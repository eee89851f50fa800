// What a judge of requests reads: an immutable excerpt of State that any thread may hold.
//
// The thread that owns State makes the next view of the last one (admission_mirror.h) and hands it
// out; entries of what did not change are shared between the two. Amounts are in State's units. Why
// a view and not a lock around State: docs/decisions/0037-a-webhook-reads-a-view.md.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/admission/shared_map.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/claims/claim_spec.h"
#include "engine/fold/queues/queue_state.h"
#include "schema/admission.h"
#include "schema/configuration.h"

namespace fairlead {

/// Amounts by pair of one queue.
using PairAmounts = std::map<QuotaKey, Amount>;

/// The first few of a sorted list of names, and how many it has.
struct FirstNames {
  static constexpr std::size_t kNamed = 3;

  std::vector<std::string> first;  ///< at most kNamed
  std::size_t count = 0;

  /// Returns "a, b, c and 4 more".
  std::string text() const;

  friend bool operator==(const FirstNames&, const FirstNames&) = default;
};

/// A cluster: what is accepted of it, and what runs there.
struct ClusterEntry {
  bool known = false;            ///< its capacity is known and it is not detached
  bool totals_accepted = false;  ///< what is accepted is totals, without flavors
  std::set<CapacityKey> mapped;  ///< pairs: the flavor ever won the resource of a node
  std::map<CapacityKey, Amount> accepted;
  bool has_member = false;  ///< its quota is written to the cluster itself, too
  /// Usage there, by queue; of queues for which a watch or the work's feedback reports it.
  std::map<std::string, PairAmounts> usage;
  std::string claim;  ///< the claim in force, which has no deletionTimestamp; empty: none

  friend bool operator==(const ClusterEntry&, const ClusterEntry&) = default;
};

/// A claim, with the last valid spec.
struct ClaimEntry {
  std::string cluster;
  bool winner = false;              ///< it is in force for its cluster
  std::optional<ClaimTerms> terms;  ///< none: it never was valid

  friend bool operator==(const ClaimEntry&, const ClaimEntry&) = default;
};

/// A pair of a hub queue that claims assign.
struct PairEntry {
  FirstNames claims;            ///< that assign it and are not being deleted
  std::size_t in_force = 0;     ///< how many of these are in force for their clusters
  std::optional<Amount> quota;  ///< what the hub wrote last, or found as it wants it

  friend bool operator==(const PairEntry&, const PairEntry&) = default;
};

/// A hub queue, or the name of one that claims assign quota to.
struct QueueEntry {
  bool present = false;
  /// The hub sets its pairs back when another writer changes them: no orchestrator decides the
  /// quota, and Kueue does not write it.
  bool set_back = false;
  bool follows_workers = false;  ///< all its pairs are ours (annotation fairlead.io/quota-from)
  FirstNames claims;             ///< that name it
  std::map<QuotaKey, PairEntry> pairs;
  std::set<QuotaKey> contested;  ///< left to another writer (OwnershipConflict): not set back
  PairAmounts usage;

  friend bool operator==(const QueueEntry&, const QueueEntry&) = default;
};

/// A ResourceFlavor of the hub, or the name of one that claims assign.
struct FlavorEntry {
  bool present = false;
  FirstNames claims;  ///< that name it

  friend bool operator==(const FlavorEntry&, const FlavorEntry&) = default;
};

/// What the configuration says about requests.
struct AdmissionTerms {
  ResourceAliases aliases;
  std::map<AdmissionRule, RuleAction> rules;  ///< only what the file sets

  /// Returns what breaking `rule` leads to. claimInvalid is never off.
  RuleAction action(AdmissionRule rule) const;

  friend bool operator==(const AdmissionTerms&, const AdmissionTerms&) = default;
};
AdmissionTerms admission_terms(const Configuration& configuration);

/// Whether a view shows what the hub's API server holds.
enum class ViewState : std::uint8_t {
  unsynced,  ///< only `terms` are meaningful
  synced,
};

struct AdmissionView {
  ViewState state = ViewState::unsynced;
  std::shared_ptr<const AdmissionTerms> terms = std::make_shared<AdmissionTerms>();
  SharedMap<ClusterEntry> clusters;
  SharedMap<ClaimEntry> claims;
  SharedMap<QueueEntry> queues;
  SharedMap<FlavorEntry> flavors;
};

/// Returns what runs on the pair of a claim for `cluster`: at the member or, without one, on the
/// hub if no other claim in force assigns the pair. nullopt if that is not known.
std::optional<Amount> usage_of(const AdmissionView& view, const std::string& cluster,
                               const std::string& queue, const QuotaKey& pair);

}  // namespace fairlead
