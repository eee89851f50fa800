#include "engine/plan/causes.h"

#include <catch2/catch.hpp>

namespace fairlead::causes_test {
namespace {

const QuotaKey kPair{"od", "cpu"};

using Seqs = std::vector<Seq>;

// A queue (event 2) in which a claim (event 3) has 5 cpu of a cluster that joined with event 4 and
// whose capacity was reported by 5 and 6.
struct Hub {
  State state;
  Queue& queue = state.queues.by_name["q"];
  Cluster& cluster = state.clusters["c1"];
  Claim& claim = state.claims.by_name["k"];

  Hub() {
    queue.present = true;
    queue.seq = Seq{2};
    claim.terms = ClaimTerms{};
    claim.terms->cluster = "c1";
    claim.terms->rows = {{"q", "od", "cpu", "cpu", 5000, 0, 0}};
    claim.grants = {{claim.terms->rows[0], 5000, {}}};
    claim.terms_seq = Seq{3};
    claim.winner = claim.known = true;
    state.claims.of_cluster["c1"] = {"k"};
    state.claims.of_queue["q"] = {"k"};
    cluster.presence.changed_seq = Seq{4};
    value().causes = {Seq{5}, Seq{6}};
    value().moved = LogTime{} + seconds(10);
  }
  CapacityValue& value() { return cluster.capacity[{"od", "cpu"}]; }
  // Our write of 5 cpu at 20 s, event 10, is accepted and current.
  void wrote() {
    queue.facts.groups = {{{"cpu"}, {{"od", {{"cpu", to_quantity("cpu", 5000), {}, {}}}}}}};
    queue.written[kPair] = 5000;
    queue.contributed = {{"c1", "od", "cpu", 5000}};
    queue.written_at = {Seq{10}, LogTime{} + seconds(20)};
    queue.contributed_at[{"c1", kPair}] = queue.written_at;
  }
  Seqs behind(Amount amount) {
    return seqs_behind(state, "q", {kPair}, {{"c1", "od", "cpu", amount}});
  }
};

TEST_CASE("causes: of a first write: the queue, the claim, the cluster and its capacity") {
  Hub hub;
  CHECK(hub.behind(5000) == Seqs{Seq{2}, Seq{3}, Seq{4}, Seq{5}, Seq{6}});
}

TEST_CASE("causes: of a later write: what came since the one before") {
  Hub hub;
  hub.wrote();
  hub.claim.terms_seq = Seq{12};
  CHECK(hub.behind(4000) == Seqs{Seq{12}});
  // Capacity counts from when its accepted value moved, with all that led there but what may yet.
  hub.value().causes = {Seq{8}, Seq{13}, Seq{14}};
  hub.value().pending = 1;
  hub.value().moved = LogTime{} + seconds(30);
  CHECK(hub.behind(4000) == Seqs{Seq{8}, Seq{12}, Seq{13}});
}

TEST_CASE("causes: where nothing came since, everything that it follows from is named") {
  Hub hub;
  hub.wrote();
  CHECK(hub.behind(4000) == Seqs{Seq{3}, Seq{4}, Seq{5}, Seq{6}});
}

TEST_CASE("causes: growth may have waited for the member's word, a fall did not") {
  Hub hub;
  hub.wrote();
  hub.cluster.member.quota_works["fairlead-quota"].present = true;
  hub.cluster.member.quota_works["fairlead-quota"].seq = Seq{15};
  hub.cluster.member.quota_works["fairlead-quota"].facts.quotas = {{"q", "od", "cpu", 6000}};
  hub.cluster.member.quota_works["fairlead-quota"].facts.applied =
      hub.cluster.member.quota_works["fairlead-quota"].facts.available = {ConditionStatus::yes, "",
                                                                          0};
  CHECK(hub.behind(6000) == Seqs{Seq{15}});
  CHECK(hub.behind(4000) == Seqs{Seq{3}, Seq{4}, Seq{5}, Seq{6}});
}

TEST_CASE(
    "causes: another writer's value, and terms of the quota, are the queue's or configuration's") {
  Hub hub;
  hub.wrote();
  CHECK(hub.behind(5000) == Seqs{Seq{2}});  // no part differs: the queue itself
  hub.queue.seq = Seq{16};
  hub.queue.facts.groups[0].flavors[0].resources[0].nominal = to_quantity("cpu", 9000);
  CHECK(hub.behind(5000) == Seqs{Seq{16}});
  hub.wrote();
  hub.state.configuration.overbook_percent = 200;
  hub.state.configuration_seq = Seq{17};
  CHECK(hub.behind(5000) == Seqs{Seq{17}});
  hub.state.configuration_seq = Seq{1};
  CHECK(hub.behind(5000) == Seqs{Seq{16}});  // older than the write: it was the base
}

TEST_CASE("causes: of a claim on its way out its last event, of one not in force none") {
  Hub hub;
  hub.wrote();
  hub.claim.facts.deleting = true;
  hub.claim.winner = false;
  hub.claim.seq = Seq{18};
  CHECK(hub.behind(0) == Seqs{Seq{18}});
  hub.claim.facts.deleting = false;
  CHECK(hub.behind(0) == Seqs{Seq{4}, Seq{5}, Seq{6}});
}

TEST_CASE(
    "causes: of a member's object: the claim, its queues, the cluster, since our last write") {
  Hub hub;
  const ObjectKey work{Kind::manifest_work, "c1", "fairlead-quota"};
  const auto behind = [&] { return seqs_of_cluster(hub.state, "c1", work); };
  CHECK(behind() == Seqs{Seq{2}, Seq{3}, Seq{4}, Seq{5}, Seq{6}});
  WriteState& write = hub.state.writes.by_key[{std::string(kHub), work, false}];
  write.last_write = LogTime{} + seconds(20);
  write.last_write_seq = Seq{10};
  hub.queue.seq = Seq{19};
  CHECK(behind() == Seqs{Seq{19}});
  hub.queue.seq = Seq{2};
  CHECK(behind() == Seqs{Seq{2}, Seq{3}, Seq{4}, Seq{5}, Seq{6}});
}

}  // namespace
}  // namespace fairlead::causes_test
