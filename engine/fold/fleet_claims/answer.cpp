#include "engine/fold/fleet_claims/answer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/fold/condition_message.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/fleet_claims/bookings.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/fleet_claims/needs.h"
#include "engine/fold/multikueue/multikueue_state.h"

namespace fairlead {

namespace {

constexpr std::size_t kPotentialMax = 128;

std::string first_consumer(const FleetClaimRecord& claim, const NamespacedName& id) {
  for (const ClaimConsumer& one : claim.seen.facts.reserved_for)
    if (!is_workload(one)) return one.resource + "/" + one.name;
  for (const NamespacedName& holder : claim.holders)
    if (holder != id) return holder.second;
  return "";
}

std::string claim_text(const FleetNeed& need) { return "FleetResourceClaim " + need.claim.second; }

// One Workload that waits, with what its entries mean now. Large: a function for each reason to
// refuse it, in the order in which they are looked for.
class FleetJudge {
 public:
  FleetJudge(FleetRoom state, const NamespacedName& id, WorkloadRecord& record)
      : state_(state),
        id_(id),
        record_(record),
        needs_(fleet_needs(state.configuration, id, record.seen->facts)) {}

  FleetAnswer judge(const std::vector<std::string>& candidates, const std::string& preferred) {
    if (!needs_.fault.empty()) return {"", DeviceVerdict::unsupported, needs_.fault};
    if (auto refused = claims_that_are_not_ready()) return *refused;
    if (candidates.empty()) return {"", DeviceVerdict::no_cluster, ""};
    const std::vector<std::string> allowed = allowed_by_all(candidates);
    if (allowed.empty()) {
      if (auto released = release_a_claim(candidates)) return *released;
      return {"", DeviceVerdict::conflicting_pins, pins_text(candidates)};
    }
    if (std::any_of(needs_.all.begin(), needs_.all.end(),
                    [&](const FleetNeed& need) { return is_pending(need); }))
      return ask_drivers(allowed, candidates);
    if (auto refused = claims_of_others()) return *refused;
    return {destination(allowed, preferred), DeviceVerdict::reserved, ""};
  }

 private:
  const FleetResourceClaimFacts& facts_of(const FleetNeed& need) const {
    return find_claim(std::as_const(state_.fleet), need.claim)->seen.facts;
  }
  bool is_pending(const FleetNeed& need) const { return !facts_of(need).allocation; }

  // ---- 1. the claims themselves ----

  std::optional<FleetAnswer> claims_that_are_not_ready() const {
    for (const FleetNeed& need : needs_.all)
      if (auto refused = not_ready(need)) return refused;
    return std::nullopt;
  }

  std::optional<FleetAnswer> not_ready(const FleetNeed& need) const {
    const auto refuse = [&](DeviceVerdict verdict, const std::string& what) {
      return FleetAnswer{"", verdict, "entry " + need.entry + ": " + what};
    };
    const FleetClaimRecord* claim = find_claim(std::as_const(state_.fleet), need.claim);
    if (!claim) return refuse(DeviceVerdict::claim_not_found, missing(need));
    const FleetResourceClaimFacts& facts = claim->seen.facts;
    if (facts.deleting)
      return refuse(DeviceVerdict::claim_not_found, claim_text(need) + " is being deleted");
    if (!need.template_.empty() && !is_made_for(*claim, record_.seen.head().uid))
      return refuse(DeviceVerdict::claim_not_for_workload,
                    claim_text(need) + " was not made for this Workload");
    if (!state_.fleet.classes.contains(facts.spec.resource_class))
      return refuse(DeviceVerdict::class_not_found,
                    "FleetResourceClass " + facts.spec.resource_class + " is missing");
    if (!facts.allocation && facts.spec.immediate)
      return refuse(DeviceVerdict::claim_not_allocated, claim_text(need) + " is not allocated");
    if (facts.allocation && (facts.deallocation_requested || claim->release))
      return refuse(DeviceVerdict::claim_deallocating, claim_text(need) + " is being deallocated");
    return std::nullopt;
  }

  std::string missing(const FleetNeed& need) const {
    if (need.template_.empty()) return claim_text(need) + " is missing";
    if (!state_.fleet.templates.contains({need.claim.first, need.template_}))
      return "FleetResourceClaimTemplate " + need.template_ + " is missing";
    return claim_text(need) + " is being created";
  }

  // ---- 2. pins ----

  bool is_releasable(const FleetNeed& need) const {
    const FleetClaimRecord& claim = *find_claim(std::as_const(state_.fleet), need.claim);
    // The Workload's own reservation does not count as a use by another: else it would pin the
    // Workload to a cluster that is lost.
    return claim.seen.facts.allocation && !claim.seen.facts.spec.immediate &&
           other_consumers(claim, id_) == 0;
  }
  // What keeps the Workload from a cluster; null if nothing does. `but_releasable`: the allocations
  // of releasable claims are left aside.
  enum class Pins : std::uint8_t { all, but_releasable };
  const FleetNeed* obstacle(const std::string& cluster, Pins pins) const {
    for (const FleetNeed& need : needs_.all) {
      if (!is_suitable(state_.fleet, facts_of(need), cluster)) return &need;
      if (pins == Pins::but_releasable && is_releasable(need)) continue;
      if (!is_in_reach(facts_of(need), cluster)) return &need;
    }
    return nullptr;
  }

  std::vector<std::string> allowed_by_all(const std::vector<std::string>& candidates) const {
    std::vector<std::string> allowed;
    for (const std::string& cluster : candidates)
      if (!obstacle(cluster, Pins::all)) allowed.push_back(cluster);
    return allowed;
  }

  // Nothing is left of the candidates that all claims allow: asks the driver of one claim to give
  // its allocation up. nullopt if that would not help: no other claim lets the Workload go to one
  // of `candidates`.
  std::optional<FleetAnswer> release_a_claim(const std::vector<std::string>& candidates) {
    const FleetNeed* last = nullptr;
    Seq last_seq;
    for (const std::string& cluster : candidates) {
      if (obstacle(cluster, Pins::but_releasable)) continue;
      // A nomination is not given up for a cluster where a booking of ours could not be made.
      if (record_.devices().reservation && !can_book_at(cluster)) continue;
      for (const FleetNeed& need : needs_.all) {
        if (!is_releasable(need) || is_in_reach(facts_of(need), cluster)) continue;
        const Seq seq = find_claim(state_.fleet, need.claim)->allocated_seq;
        if (!last || seq > last_seq) last = &need;
        last_seq = std::max(seq, last_seq);
      }
    }
    if (!last) return std::nullopt;
    // A driver takes an allocation back only when nobody is in reservedFor. The nomination of the
    // Workload, if it has one, goes with its use of the claim (has_lost_claim).
    FleetClaimRecord& claim = *find_claim(state_.fleet, last->claim);
    claim.release = true;
    claim.holders.erase(id_);
    state_.fleet.dirty_claims.insert(last->claim);
    return FleetAnswer{"", DeviceVerdict::claim_deallocating,
                       "entry " + last->entry + ": " + claim_text(*last) + " is being deallocated"};
  }

  // Whether all bookings of the Workload that are not in `cluster` could be made there. What we
  // have allocated ourselves is not given up in vain; other drivers can only be asked.
  bool can_book_at(const std::string& cluster) {
    TrialBookings trial(state_, cluster);
    for (const FleetNeed& need : needs_.all) {
      const FleetClaimRecord& claim = *find_claim(state_.fleet, need.claim);
      const bool is_there = claim.booking
                                ? claim.booking->cluster == cluster
                                : !is_pending(need) && is_in_reach(facts_of(need), cluster);
      if (!is_ours(need) || is_there) continue;
      const auto answer = ask_for_booking(state_, need.claim, cluster);
      if (!answer || answer->refusal) return false;
      if (needs_.all.size() > 1) trial.book(need.claim, *answer);
    }
    return true;
  }

  std::string pins_text(const std::vector<std::string>& candidates) const {
    std::string text;
    for (const std::string& cluster : candidates) {
      if (!text.empty()) text += "; ";
      // Not null: no candidate is allowed.
      text += cluster + ": " + obstacle(cluster, Pins::all)->entry;
    }
    bound_message(text);
    return text;
  }

  // ---- 3. claims that wait for a cluster ----

  // What the drivers have said; null if nothing was asked for this Workload.
  const FleetSchedulingFacts* scheduling() const {
    const auto* asked = scheduling_of(state_.fleet, id_, record_);
    return asked ? &asked->facts : nullptr;
  }

  // A cluster is selected once the driver of each pending claim has said where it cannot serve it:
  // a driver allocates for the selected cluster, and with several of them one could do so where
  // another cannot. With one pending claim there is nothing to agree on, so its driver need not be
  // heard first: if it cannot serve the cluster it says so, and the next one is selected.
  //
  // Where no driver can serve a cluster that the allocated claims allow, these are pins that lead
  // nowhere, as where they allow no candidate: one of them is given up, if that leaves a cluster
  // that no driver has refused.
  FleetAnswer ask_drivers(const std::vector<std::string>& allowed,
                          const std::vector<std::string>& candidates) {
    FleetQuestion& asked = record_.edit_devices().asked;
    asked.potential = allowed;
    if (asked.potential.size() > kPotentialMax) asked.potential.resize(kPotentialMax);
    const FleetSchedulingFacts* said = scheduling();
    if (asked.selected.empty() && said) asked.selected = said->selected;
    state_.fleet.dirty_schedulings.insert(id_);
    std::vector<const FleetNeed*> pending, silent;
    for (const FleetNeed& need : needs_.all) {
      if (!is_pending(need)) continue;
      pending.push_back(&need);
      if (!is_ours(need) && !(said && said->unsuitable.contains(need.entry)))
        silent.push_back(&need);
    }
    const bool choosable = pending.size() == 1 || silent.empty();
    select(pending, said, choosable);
    if (asked.selected.empty() && choosable) {
      std::vector<std::string> others = candidates;
      std::erase_if(others,
                    [&](const std::string& cluster) { return unsuitable(pending, said, cluster); });
      if (auto released = release_a_claim(others)) return *released;
      return {"", DeviceVerdict::no_suitable_cluster, unsuitable_text(pending, said)};
    }
    const bool chosen = !asked.selected.empty();
    if (chosen) book_pending(pending);
    return {"", DeviceVerdict::waiting_for_drivers,
            (chosen ? "selected " + asked.selected + ", not allocated: " : "no answer for ") +
                entries_text(chosen ? pending : silent)};
  }

  // The first claim that cannot be allocated for a cluster; null if there is none. Claims of ours
  // are asked with those before them booked, as book_pending() books them.
  const FleetNeed* unsuitable(const std::vector<const FleetNeed*>& pending,
                              const FleetSchedulingFacts* said, const std::string& cluster) {
    TrialBookings trial(state_, cluster);
    for (const FleetNeed* need : pending) {
      if (is_ours(*need)) {
        const auto answer = booking_at(*need, cluster);
        if (!answer) return need;
        const bool is_last = need == pending.back();
        if (!is_last && !find_claim(state_.fleet, need->claim)->booking)
          trial.book(need->claim, *answer);
        continue;
      }
      if (said && is_called_unsuitable(*said, need->entry, cluster)) return need;
    }
    return nullptr;
  }

  // ---- bookings: we are the driver ----

  bool is_ours(const FleetNeed& need) const {
    return is_booking(state_, *find_claim(std::as_const(state_.fleet), need.claim));
  }

  // What the claim would get in a cluster; nullopt if it does not fit there or is booked elsewhere.
  // No Workload takes a booking from another that waits for the same claim: that one would take it
  // back.
  std::optional<FitAnswer> booking_at(const FleetNeed& need, const std::string& cluster) {
    if (const auto& decided = find_claim(state_.fleet, need.claim)->booking)
      return decided->cluster == cluster ? std::optional(FitAnswer{}) : std::nullopt;
    std::optional<FitAnswer> answer = ask_for_booking(state_, need.claim, cluster);
    return answer && !answer->refusal ? std::move(answer) : std::nullopt;
  }

  // Allocates our claims for the selected cluster.
  void book_pending(const std::vector<const FleetNeed*>& pending) {
    const std::string& cluster = record_.devices().asked.selected;
    for (const FleetNeed* need : pending) {
      if (!is_ours(*need) || find_claim(state_.fleet, need->claim)->booking) continue;
      // There is an answer where the selection is of now. One that was read back from the
      // FleetScheduling was asked for, too (select).
      if (const auto answer = booking_at(*need, cluster))
        book(state_, need->claim, cluster, *answer);
    }
  }

  // A selection stays until it is called unsuitable or is no longer a candidate.
  void select(const std::vector<const FleetNeed*>& pending, const FleetSchedulingFacts* said,
              bool choosable) {
    FleetQuestion& asked = record_.edit_devices().asked;
    const auto& potential = asked.potential;
    const auto is_good = [&](const std::string& cluster) {
      return !unsuitable(pending, said, cluster);
    };
    if (std::find(potential.begin(), potential.end(), asked.selected) != potential.end() &&
        is_good(asked.selected))
      return;
    asked.selected.clear();
    const auto best = std::find_if(potential.begin(), potential.end(), is_good);
    if (choosable && best != potential.end()) asked.selected = *best;
  }

  static std::string entries_text(const std::vector<const FleetNeed*>& needs) {
    std::string text;
    for (const FleetNeed* need : needs) text += (text.empty() ? "" : ", ") + need->entry;
    return text;
  }

  std::string unsuitable_text(const std::vector<const FleetNeed*>& pending,
                              const FleetSchedulingFacts* said) {
    std::string text;
    for (const std::string& cluster : record_.devices().asked.potential) {
      if (!text.empty()) text += "; ";
      // Not null: select() has found no cluster good, and nothing was booked since.
      text += cluster + ": " + unsuitable(pending, said, cluster)->entry;
    }
    bound_message(text);
    return text;
  }

  // ---- 4. reservation ----

  std::optional<FleetAnswer> claims_of_others() const {
    for (const FleetNeed& need : needs_.all) {
      const FleetClaimRecord& claim = *find_claim(std::as_const(state_.fleet), need.claim);
      const std::size_t others = other_consumers(claim, id_);
      const std::string what =
          "entry " + need.entry + ": " + claim_text(need) + " is reserved for ";
      // No claim is pending any more (judge), so each has an allocation.
      if (!claim.seen.facts.allocation->shareable && others > 0)
        return FleetAnswer{"", DeviceVerdict::claim_in_use, what + first_consumer(claim, id_)};
      if (others >= kConsumersMax)
        return FleetAnswer{"", DeviceVerdict::reserved_for_full,
                           what + std::to_string(others) + " consumers"};
    }
    return std::nullopt;
  }

  std::string destination(const std::vector<std::string>& allowed,
                          const std::string& preferred) const {
    const FleetSchedulingFacts* said = scheduling();
    const std::string& chosen = record_.devices().asked.selected;
    const std::string& selected = chosen.empty() && said ? said->selected : chosen;
    for (const std::string* one : {&preferred, &selected})
      if (std::find(allowed.begin(), allowed.end(), *one) != allowed.end()) return *one;
    return allowed.front();
  }

  FleetRoom state_;
  const NamespacedName& id_;
  WorkloadRecord& record_;
  const FleetNeeds needs_;
};

// The Workload gives a claim up: those that wait for it are placed in the same moment.
void drop_holder(FleetRoom state, const NamespacedName& claim, const NamespacedName& id) {
  find_claim(state.fleet, claim)->holders.erase(id);
  state.fleet.dirty_claims.insert(claim);
  const auto users = state.fleet.users.find(claim);
  if (users == state.fleet.users.end()) return;
  for (const NamespacedName& user : users->second)
    if (has_fleet_needs(state.configuration, state.multikueue.workloads.at(user).seen->facts))
      state.dispatch.dirty_workloads.insert(user);
}

}  // namespace

FleetAnswer answer_fleet_claims(FleetRoom state, const NamespacedName& id, WorkloadRecord& record,
                                const std::vector<std::string>& candidates,
                                const std::string& preferred) {
  return FleetJudge(state, id, record).judge(candidates, preferred);
}

void mark_made_claims_dirty(FleetRoom state, const NamespacedName& id, const WorkloadFacts& facts) {
  const FleetNeeds needs = fleet_needs(state.configuration, id, facts);
  if (!needs.all.empty()) state.fleet.dirty_schedulings.insert(id);
  for (const FleetNeed& need : needs.all)
    if (!need.template_.empty()) state.fleet.dirty_claims.insert(need.claim);
}

void reserve_claims(FleetRoom state, const NamespacedName& id, const WorkloadRecord& record) {
  for (const FleetNeed& need : fleet_needs(state.configuration, id, record.seen->facts).all) {
    find_claim(state.fleet, need.claim)->holders.insert(id);
    state.fleet.dirty_claims.insert(need.claim);
  }
}

void follow_holder(FleetRoom state, const NamespacedName& id, const WorkloadRecord& record) {
  const auto seen = record.seen.read();
  const WorkloadFacts& facts = seen->facts;
  const bool runs = !facts.cluster_name.empty() && facts.quota_reserved && !facts.finished &&
                    !facts.evicted && has_fleet_needs(state.configuration, facts);
  for (const NamespacedName& name : claims_named(id, facts)) {
    FleetClaimRecord* claim = find_claim(state.fleet, name);
    if (!claim) continue;
    const bool held = claim->holders.contains(id);
    const bool holds = (held && record.devices().reservation.has_value()) ||
                       (runs && is_reserved_for(*claim, seen->uid));
    // A log that begins anew learns the holder from status.reservedFor.
    if (holds && !held) claim->holders.insert(id);
    if (!holds && held) drop_holder(state, name, id);
  }
}

void forget_holder(FleetRoom state, const NamespacedName& id, const WorkloadRecord& record) {
  for (const NamespacedName& name : claims_named(id, record.seen->facts))
    if (const FleetClaimRecord* claim = find_claim(state.fleet, name);
        claim && claim->holders.contains(id))
      drop_holder(state, name, id);
}

bool has_lost_claim(FleetReader state, const NamespacedName& id, const WorkloadRecord& record,
                    const std::string& cluster) {
  if (!record.devices().reservation) return false;
  const FleetNeeds needs = fleet_needs(state.configuration, id, record.seen->facts);
  return std::any_of(needs.all.begin(), needs.all.end(), [&](const FleetNeed& need) {
    const FleetClaimRecord* claim = find_claim(state.fleet, need.claim);
    if (!claim || !claim->holders.contains(id)) return true;
    return !claim->seen.facts.allocation || !is_in_reach(claim->seen.facts, cluster);
  });
}

}  // namespace fairlead
