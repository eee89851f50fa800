// The search for devices as a program: tests/conformance/devices compares it with the scheduler's
// allocator, and tests/model/devices.py knows its worlds too.
//
// It reads a world a line, of objects as Kubernetes serves them. {"node", "slices", "classes",
// "rules", "claims", "allocated"} is one pod that names `claims`, on one node, beside what the
// `allocated` claims use. {"nodes", "slices", "classes", "rules", "claims", "templates", "podSets"}
// is a cluster and a gang. The answer is {"fits": true, "devices": [...]}, or "pods" of a gang, or
// {"fits": false, "reason", "detail"}, or {"error"}. A gang with "repeat" is asked for so often,
// and the answer has the "nanoseconds" of each time (tests/bench/device_decisions.py).
#include <chrono>
#include <iostream>
#include <list>
#include <map>
#include <string>
#include <variant>

#include "connectors/kube/projection/projection.h"
#include "engine/base/json.h"
#include "engine/devices/cluster_devices.h"
#include "engine/devices/fit.h"

using namespace fairlead;

namespace {

struct Unreadable {
  std::string why;
};

// One world, and the facts of its objects.
class World {
 public:
  explicit World(const Json& world) {
    for (const char* kind : {"slices", "classes", "rules", "nodes", "templates", "claims"})
      for (const Json& object : world.value(kind, Json::array())) add(object);
    if (world.contains("node")) add(world["node"]);
    for (const Json& object : world.value("allocated", Json::array())) add(object);
    for (const auto& [name, claim] : claims_) use(name, *claim);
    question_.extended = given_;
    for (const Json& name : world.value("extendedResources", Json::array()))
      question_.extended.insert(name.get<std::string>());
    question_.template_of = [this](const std::string& name) { return found(templates_, name); };
    question_.claim_of = [this](const std::string& name) -> std::optional<NamedClaim> {
      const auto* facts = found(claims_, name);
      if (!facts) return std::nullopt;
      return NamedClaim{facts, nullptr};
    };
  }

  FitAnswer ask_for_pod(const Json& claims) {
    PodDeviceFacts& pod = pods_.emplace_back();
    for (const Json& claim : claims) {
      const auto name = claim["metadata"]["name"].get<std::string>();
      pod.claims.push_back({name, name, {}});
    }
    question_.pod_sets = {{"pod", 1, &pod}};
    return fit(devices_, question_);
  }
  void add_gang(const Json& pod_sets) {
    for (const Json& set : pod_sets) {
      const PodDeviceFacts& pod = pods_.emplace_back(read_pod(set["template"]["spec"]));
      question_.pod_sets.push_back(
          {set["name"].get<std::string>(), set.value("count", std::int64_t{1}), &pod});
    }
  }
  FitAnswer ask() { return fit(devices_, question_); }
  const std::string& pod_set(std::uint32_t number) const { return question_.pod_sets[number].name; }
  // A named claim is shown with its own name.
  std::string claim_name(std::uint32_t set, const std::string& entry) const {
    for (const PodClaim& claim : question_.pod_sets[set].pod->claims)
      if (claim.name == entry && !claim.claim.empty()) return claim.claim;
    return entry;
  }

 private:
  template <class Facts>
  static const Facts* found(const std::map<std::string, const Facts*>& facts,
                            const std::string& name) {
    const auto at = facts.find(name);
    return at == facts.end() ? nullptr : at->second;
  }

  void add(const Json& object) {
    const auto document = parse_json(to_text(object));
    if (!document) throw Unreadable{document.error().message};
    const auto seen = project(document->root());
    if (!seen || !*seen) throw Unreadable{"refused: " + to_text(object["metadata"])};
    const ObjectSeen& kept = seen_.emplace_back(**seen);
    const std::string& name = kept.key.name;
    if (const auto* slice = std::get_if<ResourceSliceFacts>(&kept.facts))
      devices_.set_slice(name, *slice);
    else if (const auto* rule = std::get_if<DeviceTaintRuleFacts>(&kept.facts))
      devices_.set_taint_rule(name, *rule);
    else if (const auto* node = std::get_if<NodeFacts>(&kept.facts))
      devices_.set_node(name, *node);
    else if (const auto* made = std::get_if<ResourceClaimTemplateFacts>(&kept.facts))
      templates_[name] = made;
    else if (const auto* claim = std::get_if<ResourceClaimFacts>(&kept.facts))
      claims_[name] = claim;
    else if (const auto* device_class = std::get_if<DeviceClassFacts>(&kept.facts))
      add_class(name, *device_class);
  }
  void add_class(const std::string& name, const DeviceClassFacts& facts) {
    devices_.set_class(name, facts);
    if (!facts.extended_resource.empty()) given_.insert(facts.extended_resource);
  }
  void use(const std::string& name, const ResourceClaimFacts& claim) {
    if (!claim.allocation) return;
    const auto published = [this](const DeviceId& id) { return devices_.published(id); };
    devices_.set_uses(name, pin_uses(*claim.allocation, published));
  }

  static Toleration read_toleration(const Json& one) {
    return {one.value("key", ""), one.value("operator", ""), one.value("value", ""),
            one.value("effect", "")};
  }
  static NodeSelector read_selector(const Json& selector) {
    const auto requirements = [](const Json& list) {
      std::vector<NodeRequirement> read;
      for (const Json& one : list)
        read.push_back(
            {one["key"], one["operator"], one.value("values", std::vector<std::string>())});
      return read;
    };
    NodeSelector read;
    for (const Json& term : selector["nodeSelectorTerms"])
      read.terms.push_back({requirements(term.value("matchExpressions", Json::array())),
                            requirements(term.value("matchFields", Json::array()))});
    return read;
  }
  // Of containers only the first is read: worlds have no more.
  static PodDeviceFacts read_pod(const Json& spec) {
    PodDeviceFacts pod;
    for (const Json& claim : spec.value("resourceClaims", Json::array()))
      pod.claims.push_back({claim["name"], claim.value("resourceClaimName", ""),
                            claim.value("resourceClaimTemplateName", "")});
    for (const Json& container : spec.value("containers", Json::array())) {
      const Json resources = container.value("resources", Json::object());
      const Json requests = resources.value("requests", Json::object());
      for (const auto& [name, count] : requests.items())
        pod.extended[name] = std::stoll(count.get<std::string>());
    }
    for (const Json& one : spec.value("tolerations", Json::array()))
      pod.tolerations.push_back(read_toleration(one));
    const Json labels = spec.value("nodeSelector", Json::object());
    for (const auto& [key, value] : labels.items()) pod.node_selector[key] = value;
    const Json::json_pointer required(
        "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution");
    if (spec.contains(required)) pod.affinity = read_selector(spec[required]);
    return pod;
  }

  std::list<ObjectSeen> seen_;
  std::list<PodDeviceFacts> pods_;
  std::map<std::string, const ResourceClaimTemplateFacts*> templates_;
  std::map<std::string, const ResourceClaimFacts*> claims_;
  std::set<std::string> given_;
  ClusterDeviceIndex devices_;
  FitQuestion question_;
};

Json shown(const FitPod& pod, const World& world) {
  Json list = Json::array();
  for (const FitClaim& claim : pod.claims)
    for (const FitDevice& device : claim.devices) {
      Json one = {{"claim", world.claim_name(pod.pod_set, claim.entry)},
                  {"request", device.request},
                  {"driver", device.device.driver},
                  {"pool", device.device.pool},
                  {"device", device.device.device},
                  {"adminAccess", device.admin}};
      if (device.share) one["shareID"] = std::to_string(list.size());
      for (const auto& [name, amount] : device.consumed)
        one["consumedCapacity"][name] = amount.text();
      list.push_back(std::move(one));
    }
  return list;
}

Json refused(const FitRefusal& refusal) {
  if (refusal.reason == FitReason::budget) return {{"error", "Budget"}};
  return {{"fits", false}, {"reason", text_of(refusal.reason)}, {"detail", refusal.detail}};
}

// How long the same question takes, each time, and the nodes of the answer.
Json timed(World& world, int repeat) {
  Json took = Json::array();
  Json nodes;
  for (; repeat > 0; --repeat) {
    const auto begin = std::chrono::steady_clock::now();
    const FitAnswer answer = world.ask();
    took.push_back(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
    nodes = Json::array();
    for (const FitPod& pod : answer.pods) nodes.push_back(pod.node);
  }
  return {{"nanoseconds", took}, {"nodes", nodes}};
}

Json judge_line(const Json& line) {
  World world(line);
  if (!line.contains("podSets")) {
    const FitAnswer answer = world.ask_for_pod(line["claims"]);
    if (answer.refusal) return refused(*answer.refusal);
    Json devices = Json::array();
    if (!answer.pods.empty()) devices = shown(answer.pods.front(), world);
    return {{"fits", true}, {"devices", devices}};
  }
  world.add_gang(line["podSets"]);
  if (line.contains("repeat")) return timed(world, line["repeat"]);
  const FitAnswer answer = world.ask();
  if (answer.refusal) return refused(*answer.refusal);
  Json pods = Json::array();
  for (const FitPod& pod : answer.pods)
    pods.push_back({{"podSet", world.pod_set(pod.pod_set)},
                    {"node", pod.node},
                    {"devices", shown(pod, world)}});
  return {{"fits", true}, {"pods", pods}};
}

Json answer_line(const std::string& line) {
  try {
    return judge_line(Json::parse(line));
  } catch (const Unreadable& object) {
    return {{"error", object.why}};
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << to_text(answer_line(line)) << std::endl;
  return 0;
}
