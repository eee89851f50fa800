#include "engine/core/pool_notices.h"

#include <catch2/catch.hpp>

#include "schema/write_rule.h"

namespace fairlead::pool_notices_test {
namespace {

using Lines = std::vector<std::string>;

// A tenant `acme` whose VirtualCluster is default/vc.
State with_tenant() {
  State state;
  PoolVirtualCluster& of = state.pool.virtual_clusters[{"default", "vc"}];
  of.seen.uid = "vc-uid";
  of.seen.version = "v1alpha1";
  of.tenant = "acme";
  of.reached = true;
  state.pool.virtual_clusters_of["acme"].insert({"default", "vc"});
  return state;
}

PatchIntended pool_write(ObjectKey target, const char* rule, std::string change, Facts expected) {
  PatchIntended intent;
  intent.cluster = "tenant/acme";
  intent.verb = Verb::apply;
  intent.target = std::move(target);
  intent.version = "v1";
  intent.uid = "u1";
  intent.reason = {rule, {}, std::move(change)};
  intent.expected = std::move(expected);
  return intent;
}
PatchIntended namespace_write(const char* rule, std::string change, NamespaceFacts expected) {
  return pool_write({Kind::namespace_, "", "web"}, rule, std::move(change), std::move(expected));
}
PatchIntended pod_write(const char* rule, PodFacts expected) {
  return pool_write({Kind::pod, "web", "a"}, rule, "", std::move(expected));
}
NamespaceFacts placed(std::optional<std::string> placements) {
  NamespaceFacts facts;
  facts.placements = std::move(placements);
  return facts;
}

Lines lines_of(const PatchIntended& write) {
  Lines lines;
  for (const Notice& each : pool_notices_of(with_tenant(), write, Seq{7}, LogTime{}))
    lines.push_back(each.source + " " + std::string(info(each.object.kind).name) + " " +
                    each.object.name + " " + each.reason + ": " + each.message);
  return lines;
}

TEST_CASE("A placement is reported on its Namespace, with its rule") {
  CHECK(lines_of(namespace_write(rule::kPoolPlace, "none -> {\"r1\":2}", placed("{\"r1\":2}"))) ==
        Lines{"tenant/acme Namespace web Scheduled: placements {\"r1\":2}, by pool/place"});
}

TEST_CASE("An edit that was not followed is reported; a cleared placement is none") {
  const std::string rejected = "{\"r9\":2} -> {\"r1\":2}";
  for (const char* rule : {rule::kPoolEdit, rule::kPoolRestore})
    CHECK(lines_of(namespace_write(rule, rejected, placed("{\"r1\":2}"))) ==
          Lines{"tenant/acme Namespace web PlacementRejected: " + rejected});
  for (const char* cleared : {"none -> {\"r1\":2}", "{} -> {\"r1\":2}"})
    CHECK(lines_of(namespace_write(rule::kPoolEdit, cleared, placed("{\"r1\":2}"))) ==
          Lines{"tenant/acme Namespace web Scheduled: placements {\"r1\":2}, by pool/edit"});
}

TEST_CASE("What is missing is reported on the object, and a full pool on the VirtualCluster") {
  NamespaceFacts facts;
  facts.reason = "BadSlice";
  CHECK(lines_of(namespace_write(rule::kPoolReason, "none -> BadSlice", facts)) ==
        Lines{"tenant/acme Namespace web FailedScheduling: BadSlice"});
  facts.reason = "DoesNotFit: 3 more slices of cpu 2, memory 4Gi";
  CHECK(lines_of(namespace_write(rule::kPoolReason, "none -> x", facts)) ==
        Lines{"tenant/acme Namespace web FailedScheduling: " + *facts.reason,
              "hub VirtualCluster vc PoolExhausted: namespace web: " + *facts.reason});
  facts.reason.reset();
  CHECK(lines_of(namespace_write(rule::kPoolReason, "BadSlice -> none", facts)).empty());
}

TEST_CASE("A pod's event says where it runs, or why it does not") {
  PodFacts facts;
  facts.super_cluster = "r1";
  CHECK(lines_of(pod_write(rule::kPoolPod, facts)) ==
        Lines{"tenant/acme Pod a Scheduled: to super cluster r1"});
  facts.super_cluster.reset();
  facts.reason = "NamespaceNotPlaced";
  CHECK(lines_of(pod_write(rule::kPoolReason, facts)) ==
        Lines{"tenant/acme Pod a FailedScheduling: NamespaceNotPlaced"});
}

TEST_CASE("Writes to others than tenants have no notice of the pool") {
  PatchIntended write = pod_write(rule::kPoolReason, PodFacts{});
  write.cluster = "hub";
  CHECK(lines_of(write).empty());
}

TEST_CASE("Events are posted where an API server takes them, with whole characters") {
  NamespaceFacts facts;
  facts.reason = "DoesNotFit";
  auto notices = pool_notices_of(
      with_tenant(), namespace_write(rule::kPoolReason, "none -> x", facts), Seq{7}, LogTime{});
  REQUIRE(notices.size() == 2);
  CHECK(kube_event_path(notices[0]) == "/api/v1/namespaces/default/events");
  CHECK(to_kube_event(notices[0], "hub-0")["involvedObject"] ==
        Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"name", "web"}, {"uid", "u1"}});
  notices[1].object.namespace_ = "tenants";
  CHECK(kube_event_path(notices[1]) == "/api/v1/namespaces/tenants/events");
  const Json involved = to_kube_event(notices[1], "hub-0")["involvedObject"];
  CHECK(involved["apiVersion"] == "tenancy.x-k8s.io/v1alpha1");
  CHECK(involved["namespace"] == "tenants");
  notices[0].message = std::string(1023, 'a') + "\u00e4";
  CHECK(to_kube_event(notices[0], "hub-0")["message"] == std::string(1023, 'a'));
}

}  // namespace
}  // namespace fairlead::pool_notices_test
