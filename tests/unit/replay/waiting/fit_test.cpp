#include "replay/waiting/fit.h"

#include <catch2/catch.hpp>

#include "replay/waiting/fit_index.h"
#include "tests/unit/replay/waiting/quota_samples.h"

namespace fairlead {
namespace {

using namespace waiting;

QueueRooms rooms_of(const ClusterQueueFacts& facts) {
  QuotaTree tree;
  tree.set_queue("q", &facts, {});
  tree.settle();
  QueueRooms rooms;
  tree.read("q", rooms);
  return rooms;
}

// gpu: 8 a100 of which 6 are reserved, or 4 h100; cpu: 10 cores in a group of its own.
ClusterQueueFacts two_groups() {
  ClusterQueueFacts facts = queue_of({group_of("a100", "gpu", 8), group_of("plain", "cpu", 10)});
  facts.groups[0].flavors.push_back(group_of("h100", "gpu", 4).flavors[0]);
  facts.reserved = {{"a100", "gpu", 6}};
  return facts;
}

std::string shortage_text(const std::vector<Shortage>& shortage) {
  std::string text;
  for (const Shortage& one : shortage)
    text += std::string(text_of(one.source)) + " " + one.flavor + " " + one.resource + " " +
            one.amount + ";";
  return text;
}

TEST_CASE("a group takes its best flavor, a Workload its worst group") {
  const QueueRooms rooms = rooms_of(two_groups());
  CHECK(fit_of({{"gpu", 2}}, rooms) == QuotaFit::now);
  CHECK(fit_of({{"gpu", 4}}, rooms) == QuotaFit::now);  // h100
  CHECK(fit_of({{"gpu", 5}}, rooms) == QuotaFit::quota);
  CHECK(fit_of({{"gpu", 9}}, rooms) == QuotaFit::no);
  CHECK(fit_of({{"cpu", 10'000}, {"gpu", 5}}, rooms) == QuotaFit::quota);
  CHECK(fit_of({{"cpu", 10'001}, {"gpu", 5}}, rooms) == QuotaFit::no);
  CHECK(fit_of({{"memory", 1}}, rooms) == QuotaFit::no);  // no group covers it
  CHECK(fit_of({}, rooms) == QuotaFit::now);
  CHECK(fit_of({{"gpu", 1}}, QueueRooms()) == QuotaFit::unknown);
}

TEST_CASE("a flavor must have all resources that its group is asked for") {
  ClusterQueueFacts facts = queue_of({group_of("a", "gpu", 8)});
  facts.groups[0].covered_resources = {"gpu", "cpu"};
  facts.groups[0].flavors[0].resources.push_back(group_of("a", "cpu", 2).flavors[0].resources[0]);
  facts.groups[0].flavors.push_back(group_of("b", "gpu", 100).flavors[0]);
  const QueueRooms rooms = rooms_of(facts);
  CHECK(fit_of({{"gpu", 50}}, rooms) == QuotaFit::now);
  CHECK(fit_of({{"cpu", 1000}, {"gpu", 50}}, rooms) == QuotaFit::no);
  CHECK(fit_of({{"cpu", 1000}, {"gpu", 5}}, rooms) == QuotaFit::now);
}

TEST_CASE("what is short, of each flavor of the groups that do not fit now") {
  const QueueRooms rooms = rooms_of(two_groups());
  CHECK(shortage_text(shortage_of({{"cpu", 1000}, {"gpu", 5}}, rooms)) ==
        "quota a100 gpu 3;quota h100 gpu 1;");
  CHECK(shortage_text(shortage_of({{"cpu", 12'500}, {"gpu", 1}}, rooms)) ==
        "quota plain cpu 2500m;");
  CHECK(shortage_of({{"gpu", 1}}, rooms).empty());
}

TEST_CASE("amounts in a message are found wherever they stand") {
  CHECK(shortage_text(shortage_in(
            "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
            "on-demand, 500m more needed, untolerated taint {spot true NoSchedule} in flavor spot, "
            "insufficient quota for nvidia.com/gpu in flavor a100, previously considered podsets "
            "requests (4) + current podset request (2k) > maximum capacity (1990). Pending the "
            "preemption of 2 workload(s)")) ==
        "message a100 nvidia.com/gpu 14;message on-demand cpu 500m;");
  CHECK(shortage_text(shortage_in("insufficient unused quota for memory in flavor a, 1024Mi more "
                                  "needed; insufficient unused quota for memory in flavor a, 1Gi "
                                  "more needed")) == "message a memory 1Gi;");
  for (const char* none :
       {"", "flavor spot doesn't match node affinity", "insufficient unused quota for cpu",
        "insufficient unused quota for cpu in flavor a, many more needed",
        "insufficient quota for cpu in flavor a, previously considered podsets requests (1)"})
    CHECK(shortage_in(none).empty());
}

TEST_CASE("a change of quota touches the requests between the old and the new amount alone") {
  FitIndex index;
  ClusterQueueFacts facts = queue_of({group_of("a", "gpu", 48)});
  index.quotas().set_queue("q", &facts, {});
  index.settle(LogTime{1});
  const auto small = index.watch("q", {{"gpu", 40}}, LogTime{1});
  const auto large = index.watch("q", {{"gpu", 44}}, LogTime{1});
  const auto elsewhere = index.watch("p", {{"gpu", 44}}, LogTime{1});
  facts.groups = {group_of("a", "gpu", 40)};
  index.quotas().set_queue("q", &facts, {Seq{5}});
  index.settle(LogTime{2});
  CHECK(small->steps.size() == 1);
  REQUIRE(large->steps.size() == 2);
  CHECK(large->steps[0].at_end.empty());
  CHECK(large->steps[1].fit == QuotaFit::no);
  CHECK(large->steps[1].causes == std::vector{Seq{5}});
  CHECK(shortage_text(index.shortage("q", {{"gpu", 44}})) == "quota a gpu 4;");
  facts.reserved = {{"a", "gpu", 1}};
  index.quotas().set_queue("q", &facts, {});
  index.settle(LogTime{3});
  CHECK(large->steps.size() == 2);
  REQUIRE(small->steps.size() == 2);
  CHECK(small->steps[1].fit == QuotaFit::quota);
  index.quotas().set_queue("q", nullptr, {});
  index.settle(LogTime{4});
  CHECK(small->steps.back().fit == QuotaFit::unknown);
  CHECK(shortage_text(small->steps[1].at_end) == "quota a gpu 1;");
  CHECK(elsewhere->steps.size() == 1);
  CHECK(elsewhere->steps[0].fit == QuotaFit::unknown);
}

}  // namespace
}  // namespace fairlead
