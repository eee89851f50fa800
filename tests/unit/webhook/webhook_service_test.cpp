#include "engine/main/service/webhook_service.h"

#include <catch2/catch.hpp>
#include <thread>

#include "engine/base/json.h"
#include "engine/runtime/metrics.h"

namespace fairlead::webhook_test {
namespace {

Json claim(const std::string& name, const std::string& assigned) {
  return {{"apiVersion", "galaxy.kubestellar.io/v1alpha1"},
          {"kind", "ClusterResourceClaim"},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"clusterName", "east"},
            {"nominalResources", {{"cpu", "10"}}},
            {"resourceAssignments", Json::array({{{"clusterQueueName", "q"},
                                                  {"flavor", "od"},
                                                  {"resources", {{"cpu", assigned}}}}})}}}};
}

std::string review(const Json& object, const std::string& user = "alice",
                   const Json& more = Json::object()) {
  Json request{{"uid", "u-1"},
               {"kind",
                {{"group", "galaxy.kubestellar.io"},
                 {"version", "v1alpha1"},
                 {"kind", "ClusterResourceClaim"}}},
               {"name", object["metadata"]["name"]},
               {"operation", "CREATE"},
               {"userInfo", {{"username", user}}},
               {"object", object},
               {"oldObject", nullptr}};
  request.update(more);
  return Json{
      {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}}
      .dump();
}

// A synced hub whose cluster east has the claim k.
State hub() {
  State state;
  state.flavors.by_name["od"];
  state.queues.by_name["q"].present = true;
  Claim& had = state.claims.by_name["k"];
  had.facts.spec.cluster_name = "east";
  had.winner = true;
  state.claims.of_cluster["east"].insert("k");
  return state;
}

struct Service {
  AdmissionFeed feed{Configuration{}};
  std::vector<AdmissionDecided> posted;
  bool full = false;
  WebhookService service{feed, {"hub-user", [this](AdmissionDecided note) {
                                  if (!full) posted.push_back(std::move(note));
                                  return !full;
                                }}};

  explicit Service(ViewState synced = ViewState::synced) { feed.publish(hub(), synced); }
  Json response(const std::string& body) {
    const HttpReply reply = service.reply(body);
    CHECK(reply.status == 200);
    CHECK(reply.content_type == "application/json");
    return Json::parse(reply.body)["response"];
  }
  std::uint64_t count(const std::string& rule, const std::string& decision) {
    const auto requests = service.stats().requests;
    const auto at = requests.find({rule, decision});
    return at == requests.end() ? 0 : at->second;
  }
};

TEST_CASE("webhook: a denial is answered, counted and posted once") {
  Service hub;
  const Json response = hub.response(review(claim("newer", "11")));
  CHECK(response["allowed"] == false);
  CHECK(response["uid"] == "u-1");
  REQUIRE(hub.posted.size() == 1);
  CHECK(hub.posted[0] ==
        AdmissionDecided{"u-1",
                         "alice",
                         AdmissionOperation::create,
                         {Kind::claim, "", "newer"},
                         {AdmissionRule::claim_invalid, AdmissionRule::cluster_taken},
                         AdmissionOutcome::denied,
                         ""});
  CHECK(hub.count("claimInvalid", "denied") == 1);
  CHECK(hub.count("clusterTaken", "denied") == 1);
  CHECK(hub.service.stats().took.count() == 1);
}

TEST_CASE("webhook: an override is posted with its reason") {
  Service hub;
  Json object = claim("newer", "5");
  object["metadata"]["annotations"] = {{"fairlead.io/override", "moving\nhosts"}};
  CHECK(hub.response(review(object))["allowed"] == true);
  REQUIRE(hub.posted.size() == 1);
  CHECK(hub.posted[0].outcome == AdmissionOutcome::overridden);
  CHECK(hub.posted[0].reason == "moving hosts");
  CHECK(hub.posted[0].rules == std::vector{AdmissionRule::cluster_taken});
  CHECK(hub.count("clusterTaken", "overridden") == 1);
}

TEST_CASE("webhook: dry runs and warnings are posted nowhere") {
  Service hub;
  CHECK(hub.response(review(claim("newer", "11"), "alice", {{"dryRun", true}}))["allowed"] ==
        false);
  Json other = claim("west", "5");
  other["spec"]["clusterName"] = "west";
  other["spec"]["resourceAssignments"][0]["flavor"] = "none";
  CHECK(hub.response(review(other))["warnings"].size() == 1);
  CHECK(hub.posted.empty());
  CHECK(hub.count("unknownTarget", "warned") == 1);
}

TEST_CASE("webhook: the hub's own requests are not judged") {
  Service hub;
  CHECK(hub.response(review(claim("newer", "11"), "hub-user"))["allowed"] == true);
  CHECK(hub.count("none", "passed") == 1);
  CHECK(hub.posted.empty());
}

TEST_CASE("webhook: a note without a place is lost and counted, the answer is the same") {
  Service hub;
  hub.full = true;
  CHECK(hub.response(review(claim("newer", "11")))["allowed"] == false);
  CHECK(hub.service.stats().notes_lost == 1);
  const std::string page = webhook_metrics_text(hub.service.stats(), LogTime{7'000'000'000});
  CHECK(page.find("fairlead_webhook_notes_lost_total 1\n") != std::string::npos);
  CHECK(
      page.find("fairlead_webhook_requests_total{rule=\"claimInvalid\",decision=\"denied\"} 1\n") !=
      std::string::npos);
  CHECK(page.find("fairlead_webhook_seconds_count 1\n") != std::string::npos);
  CHECK(page.find("fairlead_webhook_certificate_expire_time_seconds 7\n") != std::string::npos);
}

TEST_CASE("webhook: a flood of refusals fills no log") {
  Service hub;
  for (int i = 0; i < 1000; ++i)
    CHECK(hub.response(review(claim("newer", "11")))["allowed"] == false);
  const std::size_t noted = hub.posted.size();
  CHECK(noted >= static_cast<std::size_t>(kNotesAtOnce));
  CHECK(hub.service.stats().notes_lost == 1000 - noted);
}

TEST_CASE("webhook: a flood that lasts records ten thousand refusals a day") {
  using std::chrono::milliseconds;
  const NoteBudget::Time began{};
  NoteBudget budget(began);
  // Two a second, which the short bound lets pass.
  const auto noted_from = [&](std::chrono::hours from, std::chrono::hours to) {
    std::int64_t noted = 0;
    for (auto at = began + from; at < began + to; at += milliseconds(500))
      noted += budget.spend(at) ? 1 : 0;
    return noted;
  };
  using std::chrono::hours;
  CHECK(noted_from(hours(0), hours(24)) >= kNotesPerDay);
  const std::int64_t second_day = noted_from(hours(24), hours(48));
  CHECK(second_day <= kNotesPerDay);
  CHECK(second_day >= kNotesPerDay - 2);
  // After a quiet day some may come at once, whatever the clock says then.
  std::int64_t at_once = 0;
  for (int i = 0; i < 1000; ++i) at_once += budget.spend(began + hours(1'000'000)) ? 1 : 0;
  CHECK(at_once == kNotesAtOnce);
}

TEST_CASE("webhook: a name that no API server stores is neither judged nor recorded") {
  Service hub;
  const Json response = hub.response(review(claim(std::string(300, 'n').c_str(), "11")));
  CHECK(response["allowed"] == true);
  CHECK(hub.count("none", "unread") == 1);
  CHECK(hub.posted.empty());
}

TEST_CASE("webhook: what is no review has a reason and no 200") {
  Service hub;
  const HttpReply bad = hub.service.reply("<html>");
  CHECK(bad.status == 400);
  CHECK(bad.body.starts_with("expected an AdmissionReview"));
  CHECK(hub.service.reply(std::string((std::size_t{8} << 20) + 1, ' ')).status == 413);
  CHECK(hub.count("none", "refused") == 2);
}

TEST_CASE("webhook: until the hub is synced the claim's own fields are checked") {
  Service hub(ViewState::unsynced);
  CHECK(hub.response(review(claim("newer", "11")))["allowed"] == false);
  const Json response = hub.response(review(claim("newer", "5")));
  CHECK(response["allowed"] == true);
  CHECK(response["warnings"].size() == 1);
}

TEST_CASE("webhook: the terms of the start hold before the first view") {
  Configuration configuration;
  configuration.webhook_rules[AdmissionRule::claim_invalid] = RuleAction::warn;
  const AdmissionFeed feed{configuration};
  WebhookService service{feed, {}};
  const HttpReply reply = service.reply(review(claim("newer", "11")));
  CHECK(Json::parse(reply.body)["response"]["allowed"] == true);
}

TEST_CASE("webhook: answers while the hub publishes") {
  Service hub;
  State state = fairlead::webhook_test::hub();
  std::thread publisher([&] {
    for (int i = 0; i < 200; ++i) hub.feed.publish(state, ViewState::synced);
  });
  for (int i = 0; i < 200; ++i)
    CHECK(Json::parse(hub.service.reply(review(claim("newer", "5"))).body)["response"]["allowed"] ==
          false);
  publisher.join();
  CHECK(hub.count("clusterTaken", "denied") == 200);
}

}  // namespace
}  // namespace fairlead::webhook_test
