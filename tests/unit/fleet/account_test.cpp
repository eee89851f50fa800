#include "engine/fleet/account.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "tests/unit/fleet/stage.h"

using namespace fairlead;

namespace {

Event event(std::uint64_t seq, Fact fact) {
  return {Seq{seq}, kStart + seconds(61), Epoch{1}, std::string(kHub), Seq{}, std::move(fact)};
}

PatchIntended shrink() {
  PatchIntended intent;
  intent.cluster = kHub;
  intent.verb = Verb::apply;
  intent.target = {Kind::cluster_queue, "", "high"};
  intent.reason = {"claims/shrink", {Seq{1}}, "spot cpu 500 -> 456"};
  return intent;
}

}  // namespace

TEST_CASE("a write is reported with its change, its rule and the object that it follows from") {
  std::ostringstream out;
  Account account(out, kStart);
  ObjectObserved observed;
  observed.key = {Kind::cluster_metrics, "", "cluster2"};
  observed.facts = ClusterMetricsFacts{};
  account.consume(event(1, observed));
  CHECK(out.str().empty());
  account.consume(event(2, shrink()));
  CHECK(out.str() ==
        " 0:01:01  fairlead  ClusterQueue high: spot cpu 500 -> 456  "
        "(claims/shrink, from ClusterMetrics cluster2)\n");
  CHECK(account.counts().events == 2);
  CHECK(account.counts().writes == 1);
}

TEST_CASE("a refused write is reported, an accepted one only counted") {
  std::ostringstream out;
  Account account(out, kStart);
  account.consume(event(3, PatchAccepted{Seq{2}, 200, "u", "5"}));
  CHECK(out.str().empty());
  account.consume(event(4, PatchRejected{Seq{2}, 403, "Forbidden: no"}));
  CHECK(out.str() == " 0:01:01  fairlead  write 2 was refused: Forbidden: no\n");
  CHECK(account.counts().accepted == 1);
  CHECK(account.counts().refused == 1);
}

TEST_CASE("a claim's status is reported by the conditions that ask for a look") {
  PatchIntended intent;
  intent.verb = Verb::apply_status;
  intent.target = {Kind::claim, "", "c"};
  intent.body =
      R"({"status":{"conditions":[{"type":"Valid","status":"True"},{"type":"FullyGranted","status":"False"},{"type":"Damped","status":"True"}]}})";
  CHECK(describe_write(intent) ==
        "status of ClusterResourceClaim c: FullyGranted=False, Damped=True");
  intent.body = R"({"status":{"conditions":[{"type":"FullyGranted","status":"True"}]}})";
  CHECK(describe_write(intent) == "status of ClusterResourceClaim c: all is granted");
}

TEST_CASE("a move of a worker list is reported with its rule in words") {
  std::ostringstream out;
  Account account(out, kStart);
  PatchIntended intent;
  intent.cluster = kHub;
  intent.target = {Kind::multikueue_config, "", "best"};
  intent.reason = {"multikueue/leave", {}, "[west, east] -> [west]"};
  account.consume(event(2, intent));
  CHECK(out.str() ==
        " 0:01:01  fairlead  MultiKueueConfig best: [west, east] -> [west]  "
        "(multikueue/leave: away for moveWindow, and nothing runs there)\n");
  intent.verb = Verb::apply_status;
  intent.target = {Kind::admission_check, "", "check"};
  intent.reason.text = "Active True Active";
  CHECK(describe_write(intent) == "status of AdmissionCheck check: Active True Active");
}

TEST_CASE("what is written to a tenant is reported with the tenant's name") {
  std::ostringstream out;
  Account account(out, kStart);
  ObjectObserved quota;
  quota.key = {Kind::resource_quota, "web", "quota"};
  quota.facts = ResourceQuotaFacts{};
  Event seen = event(1, quota);
  seen.source = tenant_source("acme");
  account.consume(seen);
  PatchIntended intent;
  intent.cluster = tenant_source("acme");
  intent.target = {Kind::namespace_, "", "web"};
  intent.reason = {"pool/place", {Seq{1}}, R"(none -> {"r1":6})"};
  account.consume(event(2, intent));
  CHECK(out.str() ==
        " 0:01:01  fairlead  Namespace acme/web: slices none -> {\"r1\":6}  "
        "(pool/place: new slices go where there is room, from ResourceQuota acme/web/quota)\n");
  intent.target = {Kind::pod, "web", "web-1"};
  intent.reason = {"pool/pod", {}, "none -> r1"};
  CHECK(describe_write(intent) == "Pod acme/web/web-1: cluster none -> r1");
  intent.reason = {"pool/reason", {}, "none -> NamespaceNotPlaced"};
  CHECK(describe_write(intent) == "Pod acme/web/web-1: reason none -> NamespaceNotPlaced");
}

TEST_CASE("what happens is reported with who did it") {
  std::ostringstream out;
  Account account(out, kStart);
  account.log_fault(kStart + seconds(3725), "admin", "edits");
  CHECK(out.str() == " 1:02:05  admin     edits\n");
  CHECK(account.counts().faults == 1);
}

TEST_CASE("a write that came too late is reported as such") {
  std::ostringstream out;
  Account account(out, kStart);
  account.consume(event(4, PatchRejected{Seq{2}, 409, "Conflict: modified"}));
  CHECK(out.str() ==
        " 0:01:01  fairlead  write 2 came too late, its object had changed: decides again\n");
}
