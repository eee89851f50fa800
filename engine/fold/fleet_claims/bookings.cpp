#include "engine/fold/fleet_claims/bookings.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_question.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/fleet_claims/needs.h"
#include "schema/fleet_driver.h"

namespace fairlead {

namespace {

constexpr const char* kEntry = "claim";

const FleetResourceClassFacts* class_of(FleetReader state, const FleetClaimRecord& claim) {
  const auto at = state.fleet.classes.find(claim.seen.facts.spec.resource_class);
  return at == state.fleet.classes.end() ? nullptr : &at->second.facts;
}

// The template that the claim's parameters name, else the one that its class's parameters name.
const ResourceClaimTemplateFacts* template_of_booking(FleetReader state, const NamespacedName& id,
                                                      const FleetClaimRecord& claim) {
  const FleetResourceClassFacts* of_class = class_of(state, claim);
  const FleetParameters& own = claim.seen.facts.spec.parameters;
  const FleetParameters& named = own == FleetParameters{} && of_class ? of_class->parameters : own;
  const KindInfo& kind = info(Kind::resource_claim_template);
  if (named.api_group != kind.group || named.kind != kind.name) return nullptr;
  const auto at = state.fleet.device_templates.find({id.first, named.name});
  return at == state.fleet.device_templates.end() ? nullptr : &at->second.facts;
}

// What one pod asks that has the claim and nothing else.
struct BookingPod {
  PodDeviceFacts pod;
  FitQuestion question;

  BookingPod(FleetReader state, const std::string& cluster, const ResourceClaimTemplateFacts& of) {
    pod.claims = {{kEntry, "", kEntry}};
    question = question_at(state, cluster, {{kEntry, 1, &pod}}, {});
    question.template_of = [&of](const std::string&) { return &of; };
    question.claim_of = [](const std::string&) { return std::nullopt; };
  }
  // `question` points to `pod`.
  BookingPod(const BookingPod&) = delete;
  BookingPod& operator=(const BookingPod&) = delete;
};

std::vector<FitDevice> devices_of(const FitAnswer& answer) {
  std::vector<FitDevice> devices;
  for (const FitPod& pod : answer.pods)
    for (const FitClaim& claim : pod.claims)
      devices.insert(devices.end(), claim.devices.begin(), claim.devices.end());
  return devices;
}

// Reads `driver/pool/device`: the name of a pool may have slashes, the other two have none.
std::optional<DeviceId> parse_device(const std::string& text) {
  const std::size_t first = text.find('/'), last = text.rfind('/');
  if (first == std::string::npos || first == last) return std::nullopt;
  return DeviceId{text.substr(0, first), text.substr(first + 1, last - first - 1),
                  text.substr(last + 1)};
}

// What an observed allocation of ours says is booked.
std::optional<Booking> read_back(const FleetResourceClaimFacts& facts) {
  if (facts.driver != kBookingDriver || !facts.allocation || !facts.allocation->booked ||
      !facts.allocation->clusters || facts.allocation->clusters->size() != 1)
    return std::nullopt;
  Booking booking;
  booking.cluster = facts.allocation->clusters->front();
  for (const std::string& device : *facts.allocation->booked)
    if (auto id = parse_device(device))
      booking.devices.push_back({"", *std::move(id), false, false, {}});
  return booking;
}

// A booking may be read back for a cluster that State does not know yet. derive() books it in the
// index that the cluster gets.
void keep_booking(FleetRoom state, const NamespacedName& id, Booking booking) {
  end_booking(state, id);
  FleetClaimRecord& claim = *find_claim(state.fleet, id);
  state.fleet.booked_on[booking.cluster].insert(id);
  claim.booking = std::move(booking);
  if (state.clusters.contains(claim.booking->cluster))
    search_index(state, claim.booking->cluster).book(id, claim.booking->devices);
  state.fleet.dirty_claims.insert(id);
}

bool is_wanted_now(const FleetClaimRecord& claim) {
  const FleetResourceClaimFacts& facts = claim.seen.facts;
  return facts.spec.immediate && !facts.allocation && !claim.booking && !facts.deleting;
}

// Brings one claim to what was observed of it.
void follow_claim(FleetRoom state, const NamespacedName& id) {
  FleetClaimRecord* claim = find_claim(state.fleet, id);
  state.fleet.unbooked.erase(id);
  if (!claim) return;
  const FleetResourceClaimFacts& facts = claim->seen.facts;
  const bool ends = claim->release || (facts.allocation && facts.deallocation_requested);
  if (!is_booking(state, *claim) || ends) {
    if (claim->booking) end_booking(state, id);
    return;
  }
  if (!claim->booking)
    if (auto booking = read_back(facts)) keep_booking(state, id, *std::move(booking));
  if (is_wanted_now(*claim)) state.fleet.unbooked.insert(id);
}

// Books an Immediate claim where it fits best.
void try_to_book(FleetRoom state, const NamespacedName& id) {
  const FleetClaimRecord& claim = *find_claim(state.fleet, id);
  // Only claims of our classes are in `unbooked` (follow_claim), so the class is there.
  const auto& suitable = class_of(state, claim)->suitable;
  std::optional<std::tuple<std::int64_t, std::int64_t>> least;
  std::string best;
  FitAnswer taken;
  const ResourceClaimTemplateFacts* wanted = template_of_booking(state, id, claim);
  if (!wanted) return;
  for (const auto& [name, cluster] : state.clusters) {
    if (!is_watched(cluster) || !is_reachable(cluster)) continue;
    if (suitable && !std::binary_search(suitable->begin(), suitable->end(), name)) continue;
    SearchIndex& index = search_index(state, name);
    const BookingPod asked(state, name, *wanted);
    FitAnswer answer = fit(index.devices, asked.question);
    index.steps += answer.steps;
    if (answer.refusal) continue;
    std::int64_t wish = 0;
    const DraPolicy policy = state.configuration.dra.policy;
    if (policy != DraPolicy::order) {
      const std::int64_t free = free_devices_after(index.devices, asked.question, answer);
      wish = policy == DraPolicy::pack ? free : -free;
    }
    const std::tuple value{answer.alternatives, wish};
    // Of equal clusters the first by name, so that a replay books the same one.
    if (least && *least <= value) continue;
    least = value;
    best = name;
    taken = std::move(answer);
  }
  if (least) book(state, id, best, taken);
}

}  // namespace

bool is_booking(FleetReader state, const FleetClaimRecord& claim) {
  const FleetResourceClassFacts* of_class = class_of(state, claim);
  return of_class && of_class->driver == kBookingDriver;
}

std::optional<FitAnswer> ask_for_booking(FleetRoom state, const NamespacedName& id,
                                         const std::string& cluster) {
  const ResourceClaimTemplateFacts* wanted =
      template_of_booking(state, id, *find_claim(std::as_const(state.fleet), id));
  if (!wanted) return std::nullopt;
  SearchIndex& index = search_index(state, cluster);
  const BookingPod asked(state, cluster, *wanted);
  FitAnswer answer = fit(index.devices, asked.question);
  index.steps += answer.steps;
  return answer;
}

void book(FleetRoom state, const NamespacedName& id, const std::string& cluster,
          const FitAnswer& answer) {
  Booking booking{cluster, devices_of(answer), state.clusters.at(cluster).search.changes.causes};
  remember(booking.causes, find_claim(state.fleet, id)->seen.seq);
  keep_booking(state, id, std::move(booking));
  note_reserved(state, cluster);
  state.fleet.unbooked.erase(id);
}

void TrialBookings::book(const NamespacedName& id, const FitAnswer& answer) {
  search_index(state_, cluster_).book(id, devices_of(answer));
  booked_.push_back(id);
}

TrialBookings::~TrialBookings() {
  for (const NamespacedName& id : booked_) search_index(state_, cluster_).unbook(id);
}

void end_booking(FleetRoom state, const NamespacedName& id) {
  FleetClaimRecord* claim = find_claim(state.fleet, id);
  if (!claim || !claim->booking) return;
  const Booking ended = *std::exchange(claim->booking, std::nullopt);
  const std::string& cluster = ended.cluster;
  const auto on = state.fleet.booked_on.find(cluster);
  on->second.erase(id);
  if (on->second.empty()) state.fleet.booked_on.erase(on);
  state.fleet.dirty_claims.insert(id);
  const auto at = state.clusters.find(cluster);
  if (at == state.clusters.end()) return;
  if (const auto& index = *at->second.search.index) index->unbook(id);
  note_freed(state, cluster, ended.devices);
}

void end_bookings(FleetRoom state) {
  // A copy, because end_booking() erases from it.
  for (const auto& [cluster, claims] : std::map(state.fleet.booked_on))
    for (const NamespacedName& id : claims) end_booking(state, id);
  state.fleet.unbooked.clear();
}

void follow_bookings(FleetRoom state) {
  if (!state.configuration.dra.fleet_claims) return end_bookings(state);
  for (const NamespacedName& id : std::set<NamespacedName>(state.fleet.dirty_claims))
    follow_claim(state, id);
}

void book_immediate_claims(FleetRoom state, const std::set<std::string>& touched) {
  std::map<std::pair<LogTime, NamespacedName>, NamespacedName> waiting;  // the older one first
  for (const NamespacedName& id : state.fleet.unbooked)
    if (!touched.empty() || state.fleet.dirty_claims.contains(id))
      waiting.emplace(std::pair{find_claim(state.fleet, id)->seen.facts.created, id}, id);
  for (const auto& [order, id] : waiting) try_to_book(state, id);
}

// A claim that another consumer uses, too, keeps its devices booked: a booking is for all its
// consumers. `taken_out_` points to the bookings in State, which do not change while this lives.
OwnBookings::OwnBookings(FleetReader state, SearchIndex& index, const std::string& cluster,
                         const NamespacedName& workload, const WorkloadFacts& facts)
    : index_(index) {
  const auto on = state.fleet.booked_on.find(cluster);
  if (on == state.fleet.booked_on.end()) return;
  for (const FleetNeed& need : fleet_needs(state.configuration, workload, facts).all) {
    const FleetClaimRecord* claim = find_claim(state.fleet, need.claim);
    if (!claim || !on->second.contains(need.claim) || other_consumers(*claim, workload) > 0)
      continue;
    index_.unbook(need.claim);
    taken_out_.emplace_back(need.claim, &*claim->booking);
  }
}

OwnBookings::~OwnBookings() {
  for (const auto& [id, booking] : taken_out_) index_.book(id, booking->devices);
}

bool has_bookings(FleetReader state, const NamespacedName& workload, const WorkloadFacts& facts) {
  if (state.fleet.booked_on.empty()) return false;
  const FleetNeeds needs = fleet_needs(state.configuration, workload, facts);
  return std::any_of(needs.all.begin(), needs.all.end(), [&](const FleetNeed& need) {
    const FleetClaimRecord* claim = find_claim(state.fleet, need.claim);
    return claim && claim->booking;
  });
}

}  // namespace fairlead
