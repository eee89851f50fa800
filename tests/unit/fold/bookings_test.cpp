// Bookings: fleet claims on devices, of which Fairlead is the driver: docs/devices.md.
#include "engine/fold/fleet_claims/bookings.h"

#include <catch2/catch.hpp>

#include "engine/fold/dispatch/counts.h"
#include "engine/fold/fleet_claims/needs.h"
#include "schema/fleet_driver.h"
#include "tests/support/edit_workload.h"
#include "tests/unit/fold/device_world.h"

namespace fairlead::bookings_test {
namespace {

using Ids = std::set<NamespacedName>;
const NamespacedName kId{"team", "site"};

// Members c1 and c2 with one device each. The class booked is Fairlead's own; the hub's template
// one asks for one device.
struct Fleet : DeviceWorld {
  Fleet() {
    state.configuration.dra.fleet_claims = true;
    has_devices("c1", "n1", {"d0"});
    has_devices("c2", "n2", {"e0"});
    suitable({});
    sees_hub({Kind::resource_claim_template, "team", "one"}, one_gpu());
  }
  Seq sees_hub(const ObjectKey& key, std::optional<Facts> facts, const std::string& uid = "u") {
    return sees(std::string(kHub), key, std::move(facts), uid);
  }
  // Sets the clusters that suit the class.
  void suitable(std::optional<std::vector<std::string>> clusters) {
    sees_hub({Kind::fleet_resource_class, "", "booked"},
             FleetResourceClassFacts{std::string(kBookingDriver), {}, std::move(clusters)});
  }
  static FleetResourceClaimFacts wanted(bool immediate) {
    FleetResourceClaimFacts facts;
    facts.spec.resource_class = "booked";
    facts.spec.parameters = {"resource.k8s.io", "ResourceClaimTemplate", "one"};
    facts.spec.immediate = immediate;
    return facts;
  }
  // The same as its driver left it.
  static FleetResourceClaimFacts allocated(const std::string& cluster, const std::string& device) {
    FleetResourceClaimFacts facts = wanted(true);
    facts.driver = kBookingDriver;
    facts.allocation.emplace();
    facts.allocation->clusters = {cluster};
    facts.allocation->booked = {device};
    return facts;
  }
  void claim(std::optional<Facts> facts, const std::string& name = "site",
             const std::string& uid = "u") {
    sees_hub({Kind::fleet_resource_claim, "team", name}, std::move(facts), uid);
  }
  // Closes the moment as far as bookings.
  void follow(const std::set<std::string>& touched = {}) {
    update_indexes();
    follow_bookings(state);
    book_immediate_claims(state, touched);
    end_moment();
  }
  const std::optional<Booking>& booking(const std::string& name = "site") const {
    return find_claim(state.fleet, {"team", name})->booking;
  }
  std::string cluster(const std::string& name = "site") const {
    return booking(name) ? booking(name)->cluster : "";
  }
  std::size_t count(const std::string& what) const { return count_dispatch(state).devices[what]; }
};

TEST_CASE("bookings: an Immediate claim of our class books the first cluster where it fits") {
  Fleet fleet;
  SECTION("in the order of names") {
    fleet.claim(Fleet::wanted(true));
    fleet.follow();
    REQUIRE(fleet.booking());
    CHECK(fleet.booking()->cluster == "c1");
    CHECK(fleet.booking()->devices.at(0).device == DeviceId{DeviceWorld::kDriver, "n1", "d0"});
    CHECK(fleet.booking()->causes.back() == fleet.last);
    CHECK(fleet.state.fleet.booked_on == std::map<std::string, Ids>{{"c1", {kId}}});
    CHECK(fleet.state.fleet.unbooked.empty());
    CHECK(fleet.count("reserved") == 1);
  }
  SECTION("of those that suit its class") {
    fleet.suitable(std::vector<std::string>{"c2"});
    fleet.claim(Fleet::wanted(true));
    fleet.follow();
    CHECK(fleet.cluster() == "c2");
  }
  SECTION("of those that are reachable") {
    fleet.state.clusters["c1"].device_capacity.stream = Liveness::stale;
    fleet.claim(Fleet::wanted(true));
    fleet.follow();
    CHECK(fleet.cluster() == "c2");
  }
  SECTION("the one with most free devices left where the policy is spread") {
    fleet.state.configuration.dra.policy = DraPolicy::spread;
    fleet.publishes("c2", "n2", {"e0", "e1"});
    fleet.claim(Fleet::wanted(true));
    fleet.follow();
    CHECK(fleet.cluster() == "c2");
  }
}

TEST_CASE("bookings: what is not booked") {
  Fleet fleet;
  FleetResourceClaimFacts facts = Fleet::wanted(true);
  SECTION("a claim that waits for its first consumer") { facts = Fleet::wanted(false); }
  SECTION("a claim of another driver") {
    fleet.sees_hub({Kind::fleet_resource_class, "", "booked"},
                   FleetResourceClassFacts{"licences.example.com", {}, {}});
  }
  SECTION("a claim of no class") { facts.spec.resource_class = "none"; }
  SECTION("a claim whose template is missing") { facts.spec.parameters.name = "none"; }
  SECTION("a claim whose parameters are of another kind") { facts.spec.parameters.kind = "Node"; }
  SECTION("a claim that is being deleted") { facts.deleting = true; }
  SECTION("a claim where fleet claims are switched off") {
    fleet.state.configuration.dra.fleet_claims = false;
  }
  fleet.claim(facts);
  fleet.follow();
  CHECK_FALSE(fleet.booking());
  CHECK(fleet.state.fleet.booked_on.empty());
}

TEST_CASE("bookings: parameters of the class count where the claim has none") {
  Fleet fleet;
  FleetResourceClaimFacts facts = Fleet::wanted(true);
  facts.spec.parameters = {};
  FleetResourceClassFacts own{std::string(kBookingDriver), Fleet::wanted(true).spec.parameters, {}};
  fleet.sees_hub({Kind::fleet_resource_class, "", "booked"}, own);
  fleet.claim(facts);
  fleet.follow();
  CHECK(fleet.cluster() == "c1");
}

TEST_CASE("bookings: of Immediate claims the older one is first, and the others wait") {
  Fleet fleet;
  FleetResourceClaimFacts facts = Fleet::wanted(true);
  for (const auto& [name, created] : {std::pair{"a", 30}, std::pair{"b", 10}, std::pair{"c", 20}}) {
    facts.created = LogTime{} + seconds(created);
    fleet.claim(facts, name);
  }
  fleet.follow();
  CHECK(fleet.cluster("b") == "c1");
  CHECK(fleet.cluster("c") == "c2");
  CHECK_FALSE(fleet.booking("a"));
  CHECK(fleet.state.fleet.unbooked == Ids{{"team", "a"}});
  fleet.publishes("c2", "n2", {"e0", "e1"});
  fleet.follow();
  CHECK_FALSE(fleet.booking("a"));  // no cluster was looked at again
  fleet.follow({"c2"});
  CHECK(fleet.cluster("a") == "c2");
}

TEST_CASE("bookings: one of an earlier log is read back, also before its cluster is known") {
  Fleet fleet;
  SECTION("its devices are used from then on") {
    fleet.claim(Fleet::allocated("c2", "gpu.example.com/n2/e0"));
    fleet.follow();
    CHECK(fleet.cluster() == "c2");
    CHECK(fleet.count("reserved") == 1);
  }
  SECTION("the name of a pool may have slashes") {
    fleet.claim(Fleet::allocated("c3", "gpu.example.com/rack/7/e0"));
    fleet.follow();
    REQUIRE(fleet.cluster() == "c3");
    CHECK(fleet.booking()->devices.at(0).device == DeviceId{"gpu.example.com", "rack/7", "e0"});
    fleet.has_devices("c3", "rack/7", {"e0", "e1"});
    fleet.follow();
    fleet.workload("w");
    CHECK(DeviceWorld::devices_of(fleet.answer("c3", "w").pods) == std::vector<std::string>{"e1"});
  }
  SECTION("what another driver allocated is no booking") {
    FleetResourceClaimFacts facts = Fleet::allocated("c2", "gpu.example.com/n2/e0");
    facts.driver = "another";
    fleet.claim(facts);
    fleet.follow();
    CHECK_FALSE(fleet.booking());
  }
  SECTION("nor is what can be used in several clusters") {
    FleetResourceClaimFacts facts = Fleet::allocated("c2", "gpu.example.com/n2/e0");
    facts.allocation->clusters = {"c1", "c2"};
    fleet.claim(facts);
    fleet.follow();
    CHECK_FALSE(fleet.booking());
  }
}

TEST_CASE("bookings: a booking ends with its claim, and its devices are free at once") {
  Fleet fleet;
  fleet.claim(Fleet::allocated("c1", "gpu.example.com/n1/d0"));
  fleet.follow();
  REQUIRE(fleet.count("reserved") == 1);
  FleetResourceClaimFacts facts = Fleet::allocated("c1", "gpu.example.com/n1/d0");
  SECTION("that is deleted") { fleet.claim(std::nullopt); }
  SECTION("that is made anew under its name") { fleet.claim(Fleet::wanted(false), "site", "v"); }
  SECTION("that its consumers give back") {
    facts.deallocation_requested = true;
    fleet.claim(facts);
  }
  SECTION("that we ask ourselves to deallocate") {
    find_claim(fleet.state.fleet, kId)->release = true;
    fleet.claim(facts);
  }
  SECTION("whose class has another driver now") {
    fleet.sees_hub({Kind::fleet_resource_class, "", "booked"},
                   FleetResourceClassFacts{"licences.example.com", {}, {}});
  }
  SECTION("because fleet claims are switched off") {
    fleet.state.configuration.dra.fleet_claims = false;
  }
  fleet.update_indexes();
  fleet.state.dispatch.dirty_clusters.clear();
  follow_bookings(fleet.state);
  CHECK(fleet.state.fleet.booked_on.empty());
  CHECK(fleet.count("reserved") == 0);
  const DevicePoolKey pool{DeviceWorld::kDriver, "n1"};
  CHECK(fleet.state.clusters["c1"].search.changes.pools.contains(pool));
}

TEST_CASE("bookings: a Workload may use what its own claim has booked, if it is the only user") {
  Fleet fleet;
  fleet.claim(Fleet::allocated("c1", "gpu.example.com/n1/d0"));
  fleet.follow();
  WorkloadRecord& record = fleet.workload("w");
  const NamespacedName id{"team", "w"};
  SearchIndex& index = search_index(fleet.state, "c1");
  const auto fits = [&] {
    const OwnBookings own(fleet.state, index, "c1", id, record.seen->facts);
    return !fleet.answer("c1", "w").refusal;
  };
  CHECK_FALSE(fits());
  CHECK_FALSE(has_bookings(fleet.state, id, record.seen->facts));
  edit(record.seen)->facts.pod_sets[0].fleet.entries = {{"b", "site", ""}};
  CHECK(has_bookings(fleet.state, id, record.seen->facts));
  CHECK(fits());
  CHECK(fleet.answer("c1", "w").refusal);  // it is put back
  find_claim(fleet.state.fleet, kId)->holders = {id, {"team", "other"}};
  CHECK_FALSE(fits());
}

TEST_CASE("bookings: a new booking of a claim takes the place of the one before") {
  Fleet fleet;
  fleet.claim(Fleet::wanted(false));
  const auto asked = [&](const std::string& cluster) {
    return ask_for_booking(fleet.state, kId, cluster);
  };
  REQUIRE(asked("c1"));
  book(fleet.state, kId, "c1", *asked("c1"));
  CHECK(asked("c1")->refusal);
  book(fleet.state, kId, "c2", *asked("c2"));
  CHECK(fleet.state.fleet.booked_on == std::map<std::string, Ids>{{"c2", {kId}}});
  CHECK_FALSE(asked("c1")->refusal);
  CHECK(fleet.state.fleet.dirty_claims.contains(kId));  // its status is written
  fleet.sees_hub({Kind::resource_claim_template, "team", "one"}, std::nullopt);
  CHECK_FALSE(asked("c1"));
}

}  // namespace
}  // namespace fairlead::bookings_test
