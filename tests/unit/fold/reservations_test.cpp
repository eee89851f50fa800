// Reservations of devices for Workloads: docs/devices.md, and
// docs/decisions/0043-pods-and-workloads-reserve-in-one-index.md.
#include "engine/fold/dispatch/reservations.h"

#include <catch2/catch.hpp>

#include "engine/fold/dispatch/counts.h"
#include "tests/support/edit_workload.h"
#include "tests/unit/fold/device_world.h"

namespace fairlead::reservations_test {
namespace {

using Names = std::vector<std::string>;
const NamespacedName kId{"team", "w"};

// Member c1, whose node n1 has devices d0 and d1.
struct Member : DeviceWorld {
  Member() { has_devices("c1", "n1", {"d0", "d1"}); }

  // Reserves the first solution for a new Workload.
  WorkloadRecord& reserved(const std::string& name, std::int64_t pods = 1) {
    WorkloadRecord& record = workload(name, pods);
    FitAnswer found = answer("c1", name);
    REQUIRE_FALSE(found.refusal);
    DeviceReservation made;
    made.worker = "gpu-c1";
    made.cluster = "c1";
    made.pods = std::move(found.pods);
    made.since = state.now;
    reserve(state, {"team", name}, record, std::move(made));
    return record;
  }
  std::size_t count(const std::string& what) const { return count_dispatch(state).devices[what]; }
  // Pod `uid` was made for a pod of Workload w.
  void pod(const std::string& uid, const std::string& workload = "w") {
    PodFacts facts;
    facts.set_origin({workload, "main", ""});
    sees("c1", {Kind::pod, "team", uid}, facts, uid);
  }
  // The claim of that Pod is allocated `device`; empty: it is not yet.
  void claim(const std::string& uid, const std::string& device) {
    ResourceClaimFacts facts;
    facts.pod_owners = {uid};
    facts.pod_claim = "gpu";
    if (!device.empty())
      facts.allocation = ClaimAllocation{{{"r", kDriver, "n1", device, false, "", {}}}, {}};
    sees("c1", {Kind::resource_claim, "team", uid + "-gpu"}, facts);
  }
  // Closes the moment as far as replacements.
  void replace() {
    update_indexes();
    replace_by_facts(state, "c1");
    end_moment();
  }
  // Closes the moment as far as repairs, and returns what turned.
  std::vector<NamespacedName> repaired() {
    update_indexes();
    std::vector<NamespacedName> turned = repair(state, "c1");
    end_moment();
    return turned;
  }
};

TEST_CASE("reservations: what is reserved is not free for another, until it is released") {
  Member member;
  WorkloadRecord& record = member.reserved("w");
  CHECK(member.state.dispatch.reserved_on["c1"] == std::set<NamespacedName>{kId});
  CHECK(member.count("reserved") == 1);
  CHECK(member.count("free") == 1);
  member.workload("next");
  CHECK(member.devices_of(member.answer("c1", "next").pods) == Names{"d1"});
  member.end_moment();
  release(member.state, kId, record);
  CHECK_FALSE(record.devices().reservation);
  CHECK(member.state.dispatch.reserved_on.empty());
  CHECK(member.count("free") == 2);
  CHECK(member.devices_of(member.answer("c1", "next").pods) == Names{"d0"});
}

TEST_CASE("reservations: devices that are freed have their cluster and pool looked at again") {
  Member member;
  WorkloadRecord& record = member.reserved("w");
  member.update_indexes();
  member.end_moment();
  const DevicePoolKey pool{DeviceWorld::kDriver, "n1"};
  SECTION("by a release") { release(member.state, kId, record); }
  SECTION("by the end of what is left") { drop_rest(member.state, kId, record); }
  SECTION("by another reservation") {
    reserve(member.state, kId, record, DeviceReservation(*record.devices().reservation));
  }
  CHECK(member.state.dispatch.dirty_clusters == std::set<std::string>{"c1"});
  CHECK(member.state.clusters["c1"].search.changes.pools == std::set<DevicePoolKey>{pool});
}

TEST_CASE("reservations: a release of nothing frees nothing") {
  Member member;
  WorkloadRecord& record = member.reserved("w");
  release(member.state, kId, record);
  member.end_moment();
  release(member.state, kId, record);
  drop_rest(member.state, {"team", "v"}, member.reserved("v", 2));
  member.end_moment();
  drop_rest(member.state, {"team", "v"}, member.state.multikueue.workloads.at({"team", "v"}));
  CHECK(member.state.dispatch.dirty_clusters.empty());
}

TEST_CASE("reservations: a new one takes the place of what the Workload had") {
  Member member;
  member.has_devices("c2", "n2", {"e0"});
  WorkloadRecord& record = member.reserved("w");
  DeviceReservation other;
  other.worker = "gpu-c2";
  other.cluster = "c2";
  other.pods = member.answer("c2", "w").pods;
  reserve(member.state, kId, record, other);
  CHECK(member.state.dispatch.reserved_on ==
        std::map<std::string, std::set<NamespacedName>>{{"c2", {kId}}});
  CHECK(member.count("reserved") == 1);
  CHECK(member.devices_of(member.answer("c1", "w").pods) == Names{"d0"});
}

TEST_CASE("reservations: the end of what is left frees the devices and keeps the record") {
  Member member;
  WorkloadRecord& record = member.reserved("w", 2);
  drop_rest(member.state, kId, record);
  REQUIRE(record.devices().reservation);
  CHECK(record.devices().reservation->pods.empty());
  CHECK(member.count("free") == 2);
  CHECK(member.state.dispatch.reserved_on.contains("c1"));
}

TEST_CASE("reservations: an allocated claim of a Pod takes the place of one pod, once") {
  Member member;
  const DeviceReservation& held = *member.reserved("w", 2).devices().reservation;
  member.pod("p0");
  member.claim("p0", "");
  member.replace();
  CHECK(held.pods.size() == 2);  // it is not allocated
  member.claim("p0", "d1");
  member.replace();
  CHECK(DeviceWorld::devices_of(held.pods) == Names{"d1"});  // the first pod gave up its own
  CHECK(held.replaced_by == std::set<NamespacedName>{{"team", "p0-gpu"}});
  CHECK(member.count("used") == 1);
  member.pod("p0");  // seen again
  member.claim("p0", "d1");
  member.replace();
  CHECK(held.pods.size() == 1);
  SECTION("the claim of another Pod takes the next") {
    member.claim("p1", "d0");
    member.replace();
    CHECK(held.pods.size() == 1);  // whose Pod that is is not known yet
    member.pod("p1");
    member.replace();
    CHECK(held.pods.empty());
  }
  SECTION("a Pod of another Workload takes nothing") {
    member.pod("p1", "other");
    member.claim("p1", "d0");
    member.replace();
    CHECK(held.pods.size() == 1);
  }
}

TEST_CASE("reservations: a claim replaces nothing of a Workload that is reserved elsewhere") {
  Member member;
  member.has_devices("c2", "n2", {"e0"});
  WorkloadRecord& record = member.workload("w");
  DeviceReservation made;
  made.cluster = "c2";
  made.pods = member.answer("c2", "w").pods;
  reserve(member.state, kId, record, made);
  member.reserved("u");  // something is reserved in c1 as well
  member.pod("p0");
  member.claim("p0", "d1");
  member.replace();
  CHECK(record.devices().reservation->pods == made.pods);
}

TEST_CASE("reservations: a lost device is replaced by another, else the reservation is broken") {
  Member member;
  const DeviceReservation& held = *member.reserved("w").devices().reservation;
  member.repaired();
  member.publishes("c1", "n1", {"d1"});
  CHECK(member.repaired().empty());
  CHECK(DeviceWorld::devices_of(held.pods) == Names{"d1"});
  CHECK_FALSE(held.broken_since);
  member.publishes("c1", "n1", {});
  CHECK(member.repaired() == std::vector<NamespacedName>{kId});
  CHECK(held.broken_since == member.state.now);
  const LogTime broken = member.state.now;
  member.state.now = broken + seconds(10);
  CHECK(member.repaired().empty());  // it is so already
  CHECK(held.broken_since == broken);
  SECTION("it is mended when its pool has one again") { member.publishes("c1", "n1", {"d5"}); }
  SECTION("or another pool, of which it had no device") {
    member.has_node("c1", "n2");
    member.publishes("c1", "n2", {"d5"});
  }
  CHECK(member.repaired() == std::vector<NamespacedName>{kId});
  CHECK_FALSE(held.broken_since);
  CHECK(DeviceWorld::devices_of(held.pods) == Names{"d5"});
}

TEST_CASE("reservations: a node that may not be used any more breaks what is reserved there") {
  Member member;
  const DeviceReservation& held = *member.reserved("w").devices().reservation;
  member.repaired();
  member.sees("c1", {Kind::node, "", "n1"}, std::nullopt);
  CHECK(member.repaired() == std::vector<NamespacedName>{kId});
  CHECK(held.broken_since);
}

TEST_CASE("reservations: the device that is left is for the first in the order of dispatch") {
  Member member;
  const DeviceReservation& low = *member.reserved("a").devices().reservation;
  const DeviceReservation& high = *member.reserved("b").devices().reservation;
  edit(member.state.multikueue.workloads.at({"team", "b"}).seen)->facts.priority = 1;
  member.repaired();
  member.publishes("c1", "n1", {"d9"});
  CHECK(member.repaired() == std::vector<NamespacedName>{{"team", "a"}});
  CHECK(DeviceWorld::devices_of(high.pods) == Names{"d9"});
  CHECK(low.broken_since);
}

TEST_CASE("reservations: what is broken keeps the devices that are left") {
  Member member;
  member.reserved("w", 2);
  member.repaired();
  member.publishes("c1", "n1", {"d0"});
  CHECK(member.repaired() == std::vector<NamespacedName>{kId});
  CHECK(member.count("reserved") == 1);
  CHECK(member.count("free") == 0);
  member.workload("next");
  CHECK(member.answer("c1", "next").refusal);
}

TEST_CASE("reservations: a device that its own claim uses is not lost to a Workload") {
  Member member;
  const DeviceReservation& held = *member.reserved("w", 2).devices().reservation;
  member.repaired();
  member.pod("p0");
  member.claim("p0", "d1");  // the member gives the pods its devices in the other order
  member.update_indexes();
  replace_by_facts(member.state, "c1");
  CHECK(repair(member.state, "c1").empty());
  CHECK(DeviceWorld::devices_of(held.pods) == Names{"d1"});
  CHECK_FALSE(held.broken_since);
}

}  // namespace
}  // namespace fairlead::reservations_test
