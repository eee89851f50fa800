// Watch streams of a real Kueue and a real OCM, through decoder, ingest, fold and plan: what would
// have been written while Placements flipped, a worker's API server died and a running job was
// evicted. What a stream does not hold (checks, credentials) is put beside it; writes are taken as
// accepted, but what the stream shows next is what the server really had.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/watch/watch_decoder.h"
#include "engine/base/json.h"
#include "engine/fold/evolve.h"
#include "engine/log/memory_log.h"
#include "replay/verify.h"
#include "replay/virtual_hub.h"

using namespace fairlead;

namespace {

using Names = std::vector<std::string>;
using Timeline = std::multimap<LogTime, WatchFact>;  // of one time in the order of insertion

LogTime moment(const std::string& time_of_day) {
  const auto time = parse_rfc3339("2026-11-21T" + time_of_day + "Z");
  REQUIRE(time.has_value());
  return *time;
}

// What the decoder and the projection make of one watch event.
WatchFact decoded(const std::string& line) {
  WatchDecoder decoder;
  decoder.feed(line + "\n");
  const WatchStep step = decoder.next();
  REQUIRE(step.kind == WatchStep::Kind::event);
  auto object = project(step.event->object());
  REQUIRE(object.has_value());
  REQUIRE(object->has_value());
  const ObjectSeen& seen = **object;
  if (step.event->type == WatchEventType::deleted)
    return {std::string(kHub), ObjectMissing{seen.key, seen.uid, seen.resource_version}};
  return {std::string(kHub), seen};
}

std::filesystem::path file_of(const std::string& stream) {
  return "../shared/records/" + stream + ".jsonl";
}

// Whether all of these recordings are there.
bool recorded(const Names& streams) {
  for (const std::string& stream : streams)
    if (!std::filesystem::exists(file_of(stream))) {
      WARN(file_of(stream).string() + " is not there: this stream was not run");
      return false;
    }
  return true;
}

void nothing(Json&) {}

// Adds a recording. `change` may alter each object before it is decoded; what the recording began
// with was there from `begin`, if that is earlier.
void add_stream(Timeline& all, const std::string& stream, LogTime begin = kForever,
                void (*change)(Json&) = nothing) {
  std::ifstream in(file_of(stream));
  std::string text, listed_at;
  while (std::getline(in, text)) {
    Json line = Json::parse(text);
    if (listed_at.empty()) listed_at = line["at"];
    const auto at = parse_rfc3339(line["at"].get<std::string>());
    REQUIRE(at.has_value());
    change(line["object"]);
    all.emplace(line["at"] == listed_at ? std::min(*at, begin) : *at, decoded(to_text(line)));
  }
}

void add_object(Timeline& all, LogTime at, Json object) {
  object["metadata"]["uid"] = "uid-of-" + object["metadata"]["name"].get<std::string>();
  object["metadata"]["resourceVersion"] = "1";
  all.emplace(at, decoded(to_text(Json{{"type", "ADDED"}, {"object", object}})));
}

// An AdmissionCheck of ours on a Placement, and the Secrets of its clusters.
void add_check(Timeline& all, LogTime at, const std::string& name, const std::string& placement) {
  add_object(all, at,
             {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
              {"kind", "AdmissionCheck"},
              {"metadata", {{"name", name}}},
              {"spec",
               {{"controllerName", "open-cluster-management.io/placement"},
                {"parameters",
                 {{"apiGroup", "cluster.open-cluster-management.io"},
                  {"kind", "Placement"},
                  {"name", placement}}}}}});
}

void add_secrets(Timeline& all, LogTime at, const Names& clusters) {
  for (const std::string& cluster : clusters)
    add_object(
        all, at,
        {{"apiVersion", "v1"},
         {"kind", "Secret"},
         {"metadata",
          {{"name", "kueue-admin-" + cluster + "-kubeconfig"}, {"namespace", "kueue-system"}}},
         {"data", {{"kubeconfig", "eA=="}}}});
}

// A Placement that has selected these clusters.
void add_placement(Timeline& all, LogTime at, const std::string& name, const Names& clusters) {
  const std::string group = "cluster.open-cluster-management.io";
  add_object(all, at,
             {{"apiVersion", group + "/v1beta1"},
              {"kind", "Placement"},
              {"metadata", {{"name", name}, {"namespace", "kueue-system"}}},
              {"spec", Json::object()}});
  Json decisions = Json::array();
  for (const std::string& cluster : clusters)
    decisions.push_back({{"clusterName", cluster}, {"reason", ""}});
  add_object(all, at,
             {{"apiVersion", group + "/v1beta1"},
              {"kind", "PlacementDecision"},
              {"metadata",
               {{"name", name + "-decision-1"},
                {"namespace", "kueue-system"},
                {"labels", {{group + "/placement", name}}}}},
              {"status", {{"decisions", decisions}}}});
}

// In the recordings an administrator wrote the MultiKueue objects; here they count as Fairlead's.
void as_ours(Json& object) {
  object["metadata"]["labels"] = {{"app.kubernetes.io/managed-by", "fairlead"}};
  object["metadata"]["annotations"] = {{"fairlead.io/owner", "placement/pl"}};
}

// A hub that lives through a timeline and a while longer.
struct Run {
  Run(const Timeline& all, LogTime end) {
    std::vector<EventDraft> drafts;
    drafts.push_back({std::string(kSelf), {}, EpochStarted{"test", "0", kFoldVersion, 1}});
    drafts.push_back({std::string(kSelf), {}, ConfigChanged{}});
    REQUIRE(hub.append(all.begin()->first, std::move(drafts)).has_value());
    for (const auto& [at, fact] : all) {
      if (at > hub.now()) REQUIRE(hub.run_to(at).has_value());
      REQUIRE(hub.offer(fact).has_value());
    }
    REQUIRE(hub.run_to(end).has_value());
    verify();
  }

  // The log of the run folds to the same writes again.
  void verify() const {
    ReplayOptions how;
    how.comparison = Comparison::all;
    const auto report = replay(log, nullptr, how);
    REQUIRE(report.has_value());
    CHECK(report->holds());
    CHECK(report->compared == hub.writes().size());
  }

  static std::string time_of(const PlannedWrite& write) {
    return to_rfc3339(write.time).substr(11);
  }
  std::vector<PlannedWrite> writes(Kind kind) const {
    std::vector<PlannedWrite> out;
    for (const PlannedWrite& write : hub.writes())
      if (write.intent.target.kind == kind) out.push_back(write);
    return out;
  }
  // `time rule clusters` of each write of the MultiKueueConfig, without the Placement's name.
  Names lists(const std::string& name) const {
    Names out;
    for (const PlannedWrite& write : writes(Kind::multikueue_config)) {
      if (write.intent.target.name != name) continue;
      std::string text = time_of(write) + " " + write.intent.reason.rule.substr(11);
      const Json body = Json::parse(write.intent.body, nullptr, false);
      if (body.is_object())
        for (const Json& cluster : body["spec"]["clusters"])
          text += " " + cluster.get<std::string>().substr(name.size() + 1);
      out.push_back(text);
    }
    return out;
  }
  std::string active(const std::string& check) const {
    const CheckRecord& record = hub.state().multikueue.checks.at(check);
    return std::string(text_of(record.active.status)) + " " + record.active.reason;
  }

  MemoryLog log;
  VirtualHub hub{ports(), Feedback::assumed};

 private:
  VirtualPorts ports() {
    VirtualPorts ports;
    ports.append = [this](std::vector<EventDraft> drafts, LogTime at) {
      return log.append(drafts, at, Epoch{1});
    };
    return ports;
  }
};

Timeline placements_and_scores() {
  Timeline all;
  for (const char* name : {"all", "best", "best2", "t4"})
    add_check(all, moment("14:22:42"), std::string("check-") + name, name);
  add_secrets(all, moment("14:22:42"), {"alpha", "mike", "zeta"});
  for (const char* stream : {"i-placements", "i-scores", "i-placementdecisions-scores"})
    add_stream(all, stream);
  return all;
}

// Workloads of a queue with our check `place` and Kueue's `mkc`; w1 and w2 are selected throughout.
Timeline jobs() {
  Timeline all;
  add_check(all, moment("14:21:00"), "place", "pl");
  add_secrets(all, moment("14:21:00"), {"w1", "w2"});
  add_placement(all, moment("14:21:00"), "pl", {"w1", "w2"});
  add_stream(all, "e-workloads-hub");
  return all;
}

// `time name` of each moment at which the stream shows a Workload whose check `place` waits.
Names waiting_in(const Timeline& all) {
  Names out;
  for (const auto& [at, fact] : all) {
    const auto* seen = std::get_if<ObjectSeen>(&fact.said);
    const auto* workload = seen ? std::get_if<WorkloadFacts>(&seen->facts) : nullptr;
    if (!workload || workload->finished || workload->deleting) continue;
    for (const WorkloadCheck& check : workload->checks)
      if (check.name == "place" && check.state != "Ready")
        out.push_back(to_rfc3339(at).substr(11) + " " + seen->key.name);
  }
  return out;
}

// The worker's API server dies at 14:34:36 and is back at 14:37:11.
Timeline outage(void (*change)(Json&)) {
  Timeline all;
  const LogTime begin = moment("14:34:00");
  add_check(all, begin, "place", "pl");
  add_secrets(all, begin, {"w1", "w2"});
  add_placement(all, begin, "pl", {"w1", "w2"});
  Json config = {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                 {"kind", "MultiKueueConfig"},
                 {"metadata", {{"name", "pl"}}},
                 {"spec", {{"clusters", {"pl-w1", "pl-w2"}}}}};
  change(config);
  add_object(all, begin, config);
  add_stream(all, "y-multikueueclusters-outage", begin, change);
  return all;
}

}  // namespace

TEST_CASE("recorded scores: what flips within moveWindow is not followed") {
  if (!recorded({"i-placements", "i-scores", "i-placementdecisions-scores"})) return;
  const Run during(placements_and_scores(), moment("14:23:26"));
  // Thirteen decisions in 43 s: the first that was meant for `settle` began the list.
  CHECK(during.lists("best") == Names{"14:22:47.89Z growth alpha"});
  CHECK(during.lists("best2") == Names{"14:22:45.701Z growth zeta alpha"});
  CHECK(during.lists("all") == Names{"14:22:44.809Z growth alpha mike zeta"});
  // mike was labelled while alpha was away for a second: it came when alpha was back.
  CHECK(during.lists("t4") ==
        Names{"14:22:44.809Z growth alpha zeta", "14:23:24.325Z growth alpha mike zeta"});
  for (const char* name : {"all", "best", "best2", "t4"})
    CHECK(during.active(std::string("check-") + name) == "True Active");
}

TEST_CASE("recorded scores: what they ended with is followed moveWindow later, in one write each") {
  if (!recorded({"i-placements", "i-scores", "i-placementdecisions-scores"})) return;
  const Run after(placements_and_scores(), moment("14:40:00"));
  const auto last = [&](const char* name) { return after.lists(name).back(); };
  CHECK(after.lists("best").size() == 2);
  CHECK(last("best") == "14:25:25.419Z move zeta");
  CHECK(after.lists("all").size() == 2);
  CHECK(last("all") == "14:25:25.445Z leave alpha zeta");
  CHECK(after.lists("t4").size() == 3);
  CHECK(last("t4") == "14:25:25.396Z leave alpha zeta");
  // zeta's score was deleted: alpha, with a known one, is before it.
  CHECK(after.lists("best2").size() == 2);
  CHECK(last("best2") == "14:25:25.433Z order alpha zeta");
}

TEST_CASE("recorded Workloads: each time our check waits it is answered once, at once") {
  if (!recorded({"e-workloads-hub"})) return;
  const Timeline all = jobs();
  const Run run(all, moment("14:40:00"));
  Names answered;
  for (const PlannedWrite& write : run.writes(Kind::workload)) {
    answered.push_back(Run::time_of(write) + " " + write.intent.target.name);
    CHECK(write.intent.verb == Verb::apply_status);
    CHECK(write.intent.force);
    CHECK(Json::parse(write.intent.body)["status"] ==
          Json::parse(R"({"admissionChecks": [{"name": "place", "state": "Ready"}]})"));
  }
  CHECK(answered == waiting_in(all));
  // The eviction reset it; a person needed five seconds more.
  REQUIRE(!answered.empty());
  CHECK(answered.back() == "14:23:07.009Z job-m1-86289");
  CHECK(run.lists("pl") == Names{"14:21:02Z growth w1 w2"});
}

TEST_CASE("recorded hand edits: a worker that ran something is not put back, another one is") {
  if (!recorded({"e-workloads-hub", "f-multikueueconfigs"})) return;
  Timeline all = jobs();
  add_stream(all, "f-multikueueconfigs", moment("14:21:00"), as_ours);
  // w2 at once; w1, where the job ran, not at all. Its order alone waits.
  CHECK(Run(all, moment("14:40:00")).lists("pl") ==
        Names{"14:22:51.175Z restore w1 w2", "14:26:27.497Z order w1 w2"});
  // Had w1 not been put back while the second run went on, it would have come a minute after its
  // end.
  Timeline shorter;
  for (const auto& [at, fact] : all) {
    const auto* seen = std::get_if<ObjectSeen>(&fact.said);
    const bool put_back =
        seen && seen->key.kind == Kind::multikueue_config && at > moment("14:24:00");
    if (!put_back) shorter.emplace(at, fact);
  }
  CHECK(shorter.size() + 1 == all.size());
  CHECK(Run(shorter, moment("14:40:00")).lists("pl") ==
        Names{"14:22:51.175Z restore w1 w2", "14:25:32.954Z growth w1 w2"});
}

TEST_CASE("recorded hand edits: a config of another writer is left alone") {
  if (!recorded({"e-workloads-hub", "f-multikueueconfigs"})) return;
  Timeline all = jobs();
  add_stream(all, "f-multikueueconfigs", moment("14:21:00"));
  const Run run(all, moment("14:40:00"));
  CHECK(run.active("place") == "False MultiKueueConfigError");
  CHECK(run.lists("pl").empty());
  CHECK(run.writes(Kind::multikueue_cluster).empty());
}

TEST_CASE("recorded outage: Active False removes no cluster and writes nothing") {
  if (!recorded({"y-multikueueclusters-outage"})) return;
  const Run run(outage(as_ours), moment("14:50:00"));
  CHECK(run.lists("pl").empty());
  CHECK(run.writes(Kind::multikueue_cluster).empty());
  CHECK(run.active("place") == "True Active");
  // The condition that says so is the only write, from before the outage.
  REQUIRE(run.hub.writes().size() == 1);
  CHECK(run.hub.writes()[0].time < moment("14:34:36"));
  CHECK(run.hub.state().multikueue.clusters.at("pl-w2").facts.active.status ==
        ConditionStatus::yes);
}

TEST_CASE("recorded outage: MultiKueueClusters of another writer are left alone") {
  if (!recorded({"y-multikueueclusters-outage"})) return;
  const Run run(outage(nothing), moment("14:50:00"));
  CHECK(run.lists("pl").empty());
  CHECK(run.writes(Kind::multikueue_cluster).empty());
  CHECK(run.active("place") == "False MultiKueueConfigError");
}

TEST_CASE("recorded Workloads and ClusterQueues that name nothing of ours are never written") {
  if (!recorded({"b-workloads", "b-clusterqueues", "c-clusterqueues-edits"})) return;
  Timeline all;
  add_check(all, moment("14:11:00"), "place", "pl");
  add_secrets(all, moment("14:11:00"), {"w1"});
  add_placement(all, moment("14:11:00"), "pl", {"w1"});
  for (const char* stream : {"b-workloads", "b-clusterqueues", "c-clusterqueues-edits"})
    add_stream(all, stream);
  const Run run(all, moment("14:50:00"));
  CHECK(run.lists("pl") == Names{"14:11:02Z growth w1"});
  CHECK(run.writes(Kind::workload).empty());
  CHECK(run.writes(Kind::cluster_queue).empty());
  CHECK(run.hub.state().multikueue.workloads.size() == 5);
  const auto& queues = run.hub.state().queues.by_name;
  REQUIRE(queues.contains("qa"));
  CHECK(queues.at("qa").facts.active.status == ConditionStatus::yes);
  REQUIRE(queues.contains("c78"));
  CHECK(queues.at("c78").present);
  CHECK((!queues.contains("c77") || !queues.at("c77").present));  // deleted
}
