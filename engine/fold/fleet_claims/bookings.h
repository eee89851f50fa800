// Bookings: fleet claims on devices, of which Fairlead is the driver. The devices count as used
// from the decision on, until the claim is deleted or deallocated. Internal to the fold.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/fold/devices/device_search_state.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Whether the class of the claim says that Fairlead allocates it.
bool is_booking(FleetReader state, const FleetClaimRecord& claim);

/// Returns the answer of one cluster to what the claim asks: the ResourceClaimTemplate of the hub
/// that its parameters name, for one pod that may be on any node. nullopt if there is no such
/// template.
std::optional<FitAnswer> ask_for_booking(FleetRoom state, const NamespacedName& id,
                                         const std::string& cluster);
/// Makes the booking that `answer` gives, in place of an earlier one.
void book(FleetRoom state, const NamespacedName& id, const std::string& cluster,
          const FitAnswer& answer);
/// While an object of this class lives, the index of the cluster has what answers would book there.
class TrialBookings {
 public:
  TrialBookings(FleetRoom state, const std::string& cluster) : state_(state), cluster_(cluster) {}
  ~TrialBookings();
  TrialBookings(const TrialBookings&) = delete;
  TrialBookings& operator=(const TrialBookings&) = delete;

  /// The claim has no booking.
  void book(const NamespacedName& id, const FitAnswer& answer);

 private:
  FleetRoom state_;
  const std::string& cluster_;
  std::vector<NamespacedName> booked_;
};

/// Ends the booking, if there is one.
void end_booking(FleetRoom state, const NamespacedName& id);

/// Ends all of them: fleet claims are switched off.
void end_bookings(FleetRoom state);
/// Brings bookings to what the open moment changed of their claims: reads back what an earlier log
/// booked, and ends what is deallocated.
void follow_bookings(FleetRoom state);
/// Books Immediate claims, the older one first, if they or one of the clusters `touched` changed.
void book_immediate_claims(FleetRoom state, const std::set<std::string>& touched);

/// While an object of this class lives, the index counts the devices that a Workload's own claims
/// booked in the cluster as free. A claim that is reserved for another consumer is left out.
class OwnBookings {
 public:
  OwnBookings(FleetReader state, SearchIndex& index, const std::string& cluster,
              const NamespacedName& workload, const WorkloadFacts& facts);
  ~OwnBookings();
  OwnBookings(const OwnBookings&) = delete;
  OwnBookings& operator=(const OwnBookings&) = delete;

 private:
  SearchIndex& index_;
  std::vector<std::pair<NamespacedName, const Booking*>> taken_out_;
};
/// Whether a claim of the Workload is a booking, so that what fits depends on who asks.
bool has_bookings(FleetReader state, const NamespacedName& workload, const WorkloadFacts& facts);

}  // namespace fairlead
