#include "engine/plan/plan.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/fold/evolve.h"
#include "engine/log/memory_log.h"
#include "replay/dry_run.h"

using namespace fairlead;

namespace {

// A hub with two members, two queues, an administrator who interferes, nodes that come and go.
constexpr std::string_view kStory = R"json(
{"type":"ADDED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"any"}}}
{"type":"ADDED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"big"},"spec":{"nodeLabels":{"size":"big"}}}}
{"type":"ADDED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"qa"},"spec":{"cohortName":"org","resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"any","resources":[{"name":"cpu","nominalQuota":"0","lendingLimit":"7"}]}]}]}}}
{"type":"ADDED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"qb"},"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"any","resources":[{"name":"cpu","nominalQuota":"0"}]}]}]}}}
{"type":"ADDED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"namespace":"team","name":"lq"},"spec":{"clusterQueue":"qa"}}}
{"type":"ADDED","object":{"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster","metadata":{"name":"east"},"status":{"conditions":[{"type":"ManagedClusterConditionAvailable","status":"True"}]}}}
{"type":"ADDED","object":{"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim","metadata":{"name":"east-claim","uid":"u1"},"spec":{"clusterName":"east","nominalResources":{"cpu":"40"},"resourceAssignments":[{"clusterQueueName":"qa","flavor":"any","resources":{"cpu":"10"}},{"clusterQueueName":"qb","flavor":"big","resources":{"cpu":"20"},"priority":5}]}}}
{"type":"ADDED","object":{"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim","metadata":{"name":"west-claim","uid":"u2"},"spec":{"clusterName":"west","nominalResources":{"cpu":"40"},"resourceAssignments":[{"clusterQueueName":"qa","flavor":"any","resources":{"cpu":"8"}}]}}}
{"type":"ADDED","cluster":"east","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"e1"},"status":{"allocatable":{"cpu":"16"},"conditions":[{"type":"Ready","status":"True"}]}}}
{"type":"ADDED","cluster":"east","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"e2","labels":{"size":"big"}},"status":{"allocatable":{"cpu":"32"},"conditions":[{"type":"Ready","status":"True"}]}}}
{"type":"ADDED","cluster":"west","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"w1"},"status":{"allocatable":{"cpu":"16"},"conditions":[{"type":"Ready","status":"True"}]}}}
{"type":"MODIFIED","time":"1970-01-01T00:05:00Z","cluster":"east","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"e1"},"spec":{"unschedulable":true},"status":{"allocatable":{"cpu":"16"},"conditions":[{"type":"Ready","status":"True"}]}}}
{"type":"MODIFIED","time":"1970-01-01T00:06:00Z","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"qa"},"spec":{"cohortName":"org","resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"any","resources":[{"name":"cpu","nominalQuota":"99","lendingLimit":"5"}]}]}]}}}
{"type":"MODIFIED","time":"1970-01-01T00:07:00Z","cluster":"east","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"e1"},"status":{"allocatable":{"cpu":"16"},"conditions":[{"type":"Ready","status":"True"}]}}}
{"type":"DELETED","time":"1970-01-01T00:20:00Z","cluster":"east","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"e2"}}}
{"type":"MODIFIED","time":"1970-01-01T00:30:00Z","object":{"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim","metadata":{"name":"west-claim","uid":"u2","finalizers":["fairlead.io/claim"]},"spec":{"clusterName":"west","nominalResources":{"cpu":"40"},"resourceAssignments":[{"clusterQueueName":"qb","flavor":"any","resources":{"cpu":"8"}}]}}}
{"type":"MODIFIED","time":"1970-01-01T00:40:00Z","object":{"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim","metadata":{"name":"east-claim","uid":"u1","deletionTimestamp":"1970-01-01T00:40:00Z","finalizers":["fairlead.io/claim"]},"spec":{"clusterName":"east","nominalResources":{"cpu":"40"},"resourceAssignments":[{"clusterQueueName":"qa","flavor":"any","resources":{"cpu":"10"}}]}}}
)json";

std::vector<Event> events_of(MemoryLog& log) {
  std::vector<Event> events;
  auto reader = log.read(Seq{1});
  REQUIRE(reader.has_value());
  for (;;) {
    auto event = (*reader)->next();
    REQUIRE(event.has_value());
    if (!*event) return events;
    events.push_back(**event);
  }
}

std::vector<Event> rehearse(std::vector<InputLine> lines) {
  MemoryLog log;
  DryRun dry_run(log, {});
  REQUIRE(dry_run.run(lines).has_value());
  return events_of(log);
}

std::vector<InputLine> story() {
  std::vector<InputLine> lines;
  REQUIRE(read_objects_text(kStory, "story", lines).has_value());
  return lines;
}

std::string spec_of(const PatchIntended& intent) {
  return intent.body.empty() ? "" : to_text(Json::parse(intent.body).value("spec", Json()));
}

}  // namespace

TEST_CASE("planning the dirty set gives the same as planning everything") {
  State state;
  DirtySet dirty;
  std::size_t compared = 0;
  for (const Event& event : rehearse(story())) {
    evolve(state, event, dirty);
    if (event.source == kSelf) continue;  // while our own events come in, rounds are under way
    State settled = state;
    DirtySet since = dirty;
    close_moment(settled, since);
    DirtySet everything;
    everything.everything = true;
    CHECK(plan(settled, since) == plan(settled, everything));
    dirty = {};
    ++compared;
  }
  CHECK(compared > 30);
}

TEST_CASE("a planner that goes on plans what planning anew would") {
  State state;
  DirtySet dirty;
  Planner planner(state);
  std::size_t writes = 0;
  const std::vector<Event> events = rehearse(story());
  for (std::size_t i = 0; i < events.size(); ++i) {
    evolve(state, events[i], dirty);
    const bool over = i + 1 == events.size() || events[i + 1].log_time > events[i].log_time ||
                      std::holds_alternative<PatchIntended>(events[i + 1].fact);
    if (!over) continue;
    close_moment(state, dirty);
    DirtySet same = dirty;
    const std::vector<PatchIntended> intents = planner.plan(dirty);
    CHECK(intents == plan(state, same));
    CHECK(dirty.claims == same.claims);
    writes += intents.size();
  }
  CHECK(writes > 20);
}

TEST_CASE("settling a moment twice, or at every event, changes nothing") {
  State plain, settled;
  DirtySet dirty;
  for (const Event& event : rehearse(story())) {
    evolve(plain, event, dirty);
    evolve(settled, event, dirty);
    if (std::holds_alternative<PatchIntended>(event.fact)) {
      close_moment(settled, dirty);
      close_moment(settled, dirty);
    }
  }
  close_moment(plain, dirty);
  close_moment(settled, dirty);
  CHECK(plain == settled);
}

TEST_CASE("the order in which objects of one moment come changes no write") {
  const auto writes = [](const std::vector<InputLine>& lines) {
    MemoryLog log;
    DryRun dry_run(log, {});
    REQUIRE(dry_run.run(lines).has_value());
    std::vector<std::string> bodies;
    for (const PlannedWrite& write : dry_run.writes())
      if (write.intent.target.kind != Kind::claim)  // statuses and versions name places in the log
        bodies.push_back(to_rfc3339(write.time) + " " + write.intent.target.name + " " +
                         spec_of(write.intent));
    return bodies;
  };
  std::vector<InputLine> lines = story();
  const auto expected = writes(lines);
  CHECK(expected.size() > 8);
  const auto end_of_first = std::find_if(
      lines.begin(), lines.end(), [](const InputLine& line) { return line.time > LogTime{}; });
  std::reverse(lines.begin(), end_of_first);
  CHECK(writes(lines) == expected);
}
