#include "tests/simulation/bounded/stories.h"

#include <utility>

#include "engine/base/time.h"

namespace fairlead {
namespace {

const std::string kHubSource{kHub};

ObjectObserved reported(Kind kind, const std::string& name, Facts facts, const std::string& uid) {
  return {{kind, "", name}, "v1beta2", uid, "1", 1, std::move(facts), {}};
}

Fact node_of(const std::string& name, Amount cpu, bool ready = true) {
  NodeFacts facts;
  facts.labels = {{"pool", "od"}};
  facts.ready = ready;
  facts.allocatable = {{"cpu", cpu}};
  return reported(Kind::node, name, facts, "uid-" + name);
}

Fact claim_on(const std::string& name, const std::string& cluster, const std::string& q1,
              const std::string& q2, LogTime created) {
  ClaimFacts facts;
  facts.spec.cluster_name = cluster;
  facts.spec.nominal_resources = {{"cpu", "100"}};
  facts.spec.assignments = {{"q1", "od", {{"cpu", q1}}, {}, {}},
                            {"q2", "od", {{"cpu", q2}}, {}, {}}};
  facts.created = created;
  facts.finalizers = {"fairlead.io/claim"};
  return reported(Kind::claim, name, facts, "uid-" + name);
}

Fact queue_with(const std::string& name, const std::string& cpu, const std::string& uid = {}) {
  ClusterQueueFacts facts;
  facts.groups = {
      {{"cpu"}, {{"od", {{"cpu", *Quantity::parse(cpu), std::nullopt, std::nullopt}}}}}};
  return reported(Kind::cluster_queue, name, facts, uid.empty() ? "uid-" + name : uid);
}

Fact flavor_od() {
  ResourceFlavorFacts facts;
  facts.node_labels = {{"pool", "od"}};
  return reported(Kind::resource_flavor, "od", facts, "uid-od");
}

// Members are not written to: a member's answer would make the stories longer than they may be.
Story begun(std::string name) {
  Story story;
  story.name = std::move(name);
  const LogTime start = *parse_rfc3339("2026-01-01T00:00:00Z");
  const auto add = [&](LogTime time, std::string source, Fact fact) {
    Event event;
    event.log_time = time;
    event.epoch = Epoch{1};
    event.source = std::move(source);
    event.fact = std::move(fact);
    story.beginning.push_back(std::move(event));
  };
  add(start, std::string(kSelf), EpochStarted{"first", "test", 0, 0});
  ConfigChanged configured;
  configured.configuration.create_claims = false;
  configured.configuration.member_mode = MemberMode::none;
  configured.configuration.headroom.percent.clear();  // so that what is offered is what counts
  for (const char* cluster : {"c1", "c2"})
    configured.configuration.member_kubeconfigs.push_back({cluster, "", "file", ""});
  add(start, std::string(kSelf), configured);
  add(start, kHubSource, flavor_od());
  add(start, kHubSource, queue_with("q1", "0"));
  add(start, kHubSource, queue_with("q2", "0"));
  add(start, kHubSource, claim_on("k1", "c1", "20", "10", start));
  add(start, kHubSource, claim_on("k2", "c2", "6500m", "5900m", start));  // of 12: no whole parts
  add(start, "c1", node_of("n1", 16'000));
  add(start, "c1", node_of("n2", 8'000));
  add(start, "c2", node_of("n3", 12'000));
  for (const char* cluster : {"c1", "c2"}) add(start, cluster, SourceSynced{Kind::node, "", "1"});
  // Past firstQuiet: the first values are accepted.
  add(start + minutes(2), std::string(kSelf), TimerFired{start + minutes(2)});
  return story;
}

StoryStep input(std::string name, std::string source, Fact fact, std::string about) {
  return {std::move(name), StoryStep::Kind::input, std::move(source), std::move(fact),
          std::move(about)};
}
StoryStep passes(std::string name) {
  return {std::move(name), StoryStep::Kind::time_passes, "", Fact(), ""};
}
StoryStep writes(std::string name, StoryStep::Kind kind) {
  return {std::move(name), kind, "", Fact(), ""};
}
Fact gone(Kind kind, const std::string& name) {
  return ObjectGone{{kind, "", name}, "uid-" + name, "9"};
}

}  // namespace

Story story_of_nodes() {
  Story story = begun("nodes");
  story.steps = {
      input("n1 fails", "c1", node_of("n1", 16'000, false), "n1"),
      passes("time"),
      input("n1 is ready and larger", "c1", node_of("n1", 20'000), "n1"),
      input("n2 goes", "c1", gone(Kind::node, "n2"), "n2"),
      input("n3 shrinks", "c2", node_of("n3", 6'000), "n3"),
      input("c1 is silent", "c1", SourceStale{Kind::node, "", StaleCause::silence}, "c1"),
      input("c1 is listed", "c1", SourceSynced{Kind::node, "", "2"}, "c1"),
      passes("more time"),
  };
  return story;
}

Story story_of_claims() {
  Story story = begun("claims");
  const LogTime before = *parse_rfc3339("2025-12-31T00:00:00Z");
  const LogTime start = *parse_rfc3339("2026-01-01T00:00:00Z");
  story.steps = {
      input("k1 asks for less", kHubSource, claim_on("k1", "c1", "5", "10", start), "k1"),
      input("k1 is wrong", kHubSource, claim_on("k1", "c1", "-5", "10", start), "k1's fault"),
      input("an older claim", kHubSource, claim_on("k0", "c1", "8", "0", before), "k0"),
      passes("time"),
      input("od goes", kHubSource, gone(Kind::resource_flavor, "od"), "od"),
      input("od is back", kHubSource, flavor_od(), "od"),
      input("the older claim goes", kHubSource, gone(Kind::claim, "k0"), "k0"),
      input("n1 fails", "c1", node_of("n1", 16'000, false), "n1"),
  };
  return story;
}

Story story_of_writes() {
  Story story = begun("writes");
  story.steps = {
      input("n1 fails", "c1", node_of("n1", 16'000, false), "n1"),
      writes("written", StoryStep::Kind::written),
      passes("time"),
      writes("died writing", StoryStep::Kind::died_writing),
      input("q1 is edited", kHubSource, queue_with("q1", "50"), "q1"),
      writes("written again", StoryStep::Kind::written),
      input("n1 is back", "c1", node_of("n1", 16'000), "n1"),
      input("q2 goes", kHubSource, gone(Kind::cluster_queue, "q2"), "q2"),
  };
  return story;
}

Story story_of_queues() {
  Story story = begun("queues");
  const LogTime start = *parse_rfc3339("2026-01-01T00:00:00Z");
  story.steps = {
      writes("written", StoryStep::Kind::written),
      input("q1 goes", kHubSource, gone(Kind::cluster_queue, "q1"), "q1"),
      input("q1 is made anew", kHubSource, queue_with("q1", "0", "uid-anew"), "q1"),
      input("q2 is edited", kHubSource, queue_with("q2", "50"), "q2"),
      writes("died writing", StoryStep::Kind::died_writing),
      passes("time"),
      input("k1 asks for less", kHubSource, claim_on("k1", "c1", "5", "10", start), "k1"),
      writes("written again", StoryStep::Kind::written),
  };
  return story;
}

Story story_of_configuration() {
  Story story = begun("configuration");
  auto& first = std::get<ConfigChanged>(story.beginning.at(1).fact);
  const ConfigChanged writing = first;
  first.configuration.record = true;
  ConfigChanged kept_back = writing;
  kept_back.configuration.headroom.percent = {{"cpu", 50}};
  const std::string self(kSelf);
  story.steps = {
      input("writes are allowed", self, writing, "configuration"),
      input("half is kept back", self, kept_back, "configuration"),
      writes("written", StoryStep::Kind::written),
      input("n1 fails", "c1", node_of("n1", 16'000, false), "n1"),
      passes("time"),
      input("k1 asks for less", kHubSource,
            claim_on("k1", "c1", "5", "10", *parse_rfc3339("2026-01-01T00:00:00Z")), "k1"),
      writes("written again", StoryStep::Kind::written),
      input("q1 is edited", kHubSource, queue_with("q1", "50"), "q1"),
  };
  return story;
}

}  // namespace fairlead
