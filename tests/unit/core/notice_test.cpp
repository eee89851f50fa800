#include "engine/core/notice.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

Json condition(const char* type, const char* status, const char* reason) {
  return {{"type", type}, {"status", status}, {"reason", reason}, {"message", "the message"}};
}
std::string status_of(std::initializer_list<Json> conditions) {
  return to_text(Json{{"status", {{"conditions", Json(conditions)}}}});
}

PatchIntended write_of(std::string body) {
  PatchIntended intent;
  intent.verb = Verb::apply_status;
  intent.target = {Kind::claim, "", "cluster2-resource-claim"};
  intent.version = "v1alpha1";
  intent.uid = "u1";
  intent.body = std::move(body);
  return intent;
}

// "Warning Reason" of each.
std::vector<std::string> notice_lines(const std::string& before, const std::string& after) {
  std::vector<std::string> lines;
  for (const Notice& notice : notices_of(write_of(after), before, Seq{7}, LogTime{} + seconds(3)))
    lines.push_back((notice.type == NoticeType::warning ? "Warning " : "Normal ") + notice.reason);
  return lines;
}

using Lines = std::vector<std::string>;

TEST_CASE("A condition that turns bad is a warning, one that recovers is normal news") {
  const std::string well = status_of({condition("FullyGranted", "True", "AllGranted")});
  const std::string bad = status_of({condition("FullyGranted", "False", "ClusterCapacity")});
  CHECK(notice_lines(well, bad) == Lines{"Warning ClusterCapacity"});
  CHECK(notice_lines(bad, well) == Lines{"Normal AllGranted"});
  CHECK(notice_lines(bad, bad) == Lines{});
  CHECK(notice_lines("", bad) == Lines{"Warning ClusterCapacity"});
  CHECK(notice_lines("", well) == Lines{});
  const std::string otherwise = status_of({condition("FullyGranted", "False", "QueueNotFound")});
  CHECK(notice_lines(bad, otherwise) == Lines{"Warning QueueNotFound"});
}

TEST_CASE("A hold, a conflict and a lost cluster are reported; what is under way is not") {
  const auto from_well = [](const char* type, const char* well, const char* status,
                            const char* reason) {
    return notice_lines(status_of({condition(type, well, "Well")}),
                        status_of({condition(type, status, reason)}));
  };
  CHECK(from_well("Damped", "False", "True", "MassLossHeld") == Lines{"Warning MassLossHeld"});
  CHECK(from_well("OwnershipConflict", "False", "True", "ForeignOverwrites") ==
        Lines{"Warning ForeignOverwrites"});
  CHECK(notice_lines("", status_of({condition("QuotaOrchestrated", "True", "EffectiveQuotas")})) ==
        Lines{"Warning EffectiveQuotas"});
  CHECK(notice_lines(status_of({condition("QuotaOrchestrated", "True", "EffectiveQuotas")}),
                     status_of({condition("Valid", "True", "Valid")})) == Lines{});
  CHECK(from_well("CapacityKnown", "True", "False", "ClusterLost") == Lines{"Warning ClusterLost"});
  CHECK(from_well("Propagated", "True", "False", "WaitingForMember") == Lines{});
  CHECK(from_well("Propagated", "True", "False", "WaitingForSpace") == Lines{});
  CHECK(notice_lines("", status_of({condition("CapacityKnown", "False",
                                              "WaitingForFirstValue")})) == Lines{});
}

TEST_CASE("A deleted claim that is held is reported; what each deletion goes through is not") {
  const auto deleted = [](const char* reason) {
    return notice_lines(status_of({condition("FullyGranted", "True", "AllGranted")}),
                        status_of({condition("FullyGranted", "False", "ClaimDeleted"),
                                   condition("Released", "False", reason)}));
  };
  CHECK(deleted("QuotaInUse") == Lines{"Warning QuotaInUse"});
  CHECK(deleted("WaitingForHub") == Lines{"Warning WaitingForHub"});
  CHECK(deleted("WaitingForWork") == Lines{});
  CHECK(deleted("WaitingForMember") == Lines{});
}

TEST_CASE("Only statuses of claims tell anything, and a body that is no status tells nothing") {
  PatchIntended queue =
      write_of(status_of({condition("FullyGranted", "False", "ClusterCapacity")}));
  queue.target.kind = Kind::cluster_queue;
  CHECK(notices_of(queue, "", Seq{1}, LogTime{}).empty());
  CHECK(notice_lines("no json", "no json either").empty());
}

TEST_CASE("The same notice is the same Event") {
  const auto notices =
      notices_of(write_of(status_of({condition("Valid", "False", "SumAboveNominal")})), "", Seq{7},
                 LogTime{} + seconds(3));
  REQUIRE(notices.size() == 1);
  const Json event = to_kube_event(notices.front(), "hub-0");
  CHECK(event == to_kube_event(notices.front(), "hub-0"));
  CHECK(event["involvedObject"]["name"] == "cluster2-resource-claim");
  CHECK(event["involvedObject"]["uid"] == "u1");
  CHECK(event["type"] == "Warning");
  CHECK(event["lastTimestamp"] == "1970-01-01T00:00:03Z");
  CHECK(event["metadata"]["name"].get<std::string>().starts_with("cluster2-resource-claim.7."));
}

TEST_CASE("The name of an Event about a long name is a subdomain") {
  PatchIntended write = write_of(status_of({condition("Valid", "False", "SumAboveNominal")}));
  write.target.name = std::string(199, 'a') + "-.b";
  const auto notices = notices_of(write, "", Seq{7}, LogTime{} + seconds(3));
  REQUIRE(notices.size() == 1);
  const std::string name = to_kube_event(notices.front(), "hub-0")["metadata"]["name"];
  CHECK(name.starts_with(std::string(199, 'a') + ".7."));
}

}  // namespace
}  // namespace fairlead
