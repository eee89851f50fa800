// Shared by the tests of the core and of the hub: API servers made of facts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/apply/patch_sink.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// An API server that stores its objects as facts. Writes are answered as Kubernetes would:
/// preconditions are checked, and a write that changes nothing keeps the version.
class ServerDouble {
 public:
  explicit ServerDouble(SourceName name) : name_(std::move(name)) {}

  WatchFact put(const ObjectKey& key, Facts facts) {
    Object& object = objects_[key];
    if (object.uid.empty()) object.uid = "uid-" + std::to_string(++versions_);
    object.version =
        std::string(info(key.kind).versions.substr(0, info(key.kind).versions.find(',')));
    object.resource_version = std::to_string(++versions_);
    ++object.generation;
    object.facts = std::move(facts);
    return seen(key);
  }
  WatchFact remove(const ObjectKey& key) {
    const std::string uid = objects_.at(key).uid;
    objects_.erase(key);
    return {name_, ObjectMissing{key, uid, std::to_string(++versions_)}};
  }
  WatchFact seen(const ObjectKey& key) const {
    const Object& object = objects_.at(key);
    return {name_, ObjectSeen{key,
                              object.version,
                              object.uid,
                              object.resource_version,
                              object.generation,
                              object.facts,
                              {}}};
  }
  /// The facts of a first list.
  std::vector<WatchFact> list(const std::vector<Kind>& kinds) const {
    std::vector<WatchFact> facts;
    for (const Kind kind : kinds) {
      for (const auto& [key, object] : objects_)
        if (key.kind == kind) facts.push_back(seen(key));
      facts.push_back({name_, ListCompleted{kind, std::to_string(versions_)}});
    }
    return facts;
  }
  bool has(const ObjectKey& key) const { return objects_.contains(key); }
  template <class T>
  const T& facts(const ObjectKey& key) const {
    return std::get<T>(objects_.at(key).facts);
  }

  /// The body of the object's status.
  const std::string& status(const ObjectKey& key) const { return objects_.at(key).status; }

  struct Written {
    WriteAnswer answer;
    std::optional<WatchFact> observed;  ///< if the write changed something
  };
  Written write(Seq seq, const PatchIntended& intent) {
    Written written;
    written.answer.intent = seq;
    const auto at = objects_.find(intent.target);
    if (at == objects_.end() && !intent.uid.empty())
      return refuse(written, WriteResult::gone, 409, "uid mismatch");
    if (at != objects_.end() && intent.verb == Verb::create)
      return refuse(written, WriteResult::conflict, 409, "AlreadyExists");
    if (at != objects_.end() && !intent.uid.empty() && at->second.uid != intent.uid)
      return refuse(written, WriteResult::gone, 409, "uid mismatch");
    if (at != objects_.end() && !intent.resource_version.empty() &&
        at->second.resource_version != intent.resource_version)
      return refuse(written, WriteResult::conflict, 409, "the object has been modified");
    written.answer.result = WriteResult::accepted;
    written.answer.http_code = 200;
    if (intent.verb == Verb::remove) {
      ++effects;
      written.observed = remove(intent.target);
      return written;
    }
    const bool status = intent.verb == Verb::apply_status;
    const bool same = at != objects_.end() && (status ? at->second.status == intent.body
                                                      : at->second.facts == *intent.expected);
    if (!same) {
      ++effects;
      const std::int64_t generation = at == objects_.end() ? 0 : at->second.generation;
      written.observed = put(intent.target, *intent.expected);
      Object& object = objects_[intent.target];
      if (status || intent.target.kind == Kind::claim) object.generation = generation;
      if (status) object.status = intent.body;
      written.observed = seen(intent.target);
    }
    written.answer.uid = objects_.at(intent.target).uid;
    written.answer.resource_version = objects_.at(intent.target).resource_version;
    return written;
  }

  int effects = 0;  ///< writes that changed something

 private:
  struct Object {
    std::string uid, version, resource_version;
    std::int64_t generation = 0;
    Facts facts;
    std::string status;
  };
  static Written refuse(Written& written, WriteResult result, int code, const std::string& reason) {
    written.answer.result = result;
    written.answer.http_code = code;
    written.answer.reason = reason;
    return written;
  }

  SourceName name_;
  std::uint64_t versions_ = 100;
  std::map<ObjectKey, Object> objects_;
};

inline std::vector<Kind> every_hub_kind() {
  std::vector<Kind> kinds;
  for (const KindInfo& row : kKinds)
    if (row.kind != Kind::node && !is_of_devices(row.kind)) kinds.push_back(row.kind);
  return kinds;
}

/// The two queues, ten nodes and the claim that the end-to-end tests use too.
class SmallWorld {
 public:
  SmallWorld() {
    configuration.headroom = {};
    configuration.headroom.percent.clear();
    configuration.create_claims = false;
    configuration.member_mode = MemberMode::none;
    configuration.member_kubeconfigs = {{"cluster2", "", "member.kubeconfig", ""}};
    for (const char* name : {"on-demand", "spot"}) {
      ResourceFlavorFacts flavor;
      flavor.node_labels = {{"pool", name}};
      hub.put({Kind::resource_flavor, "", name}, flavor);
      for (int i = 0; i < 5; ++i) add_node(std::string(name) + "-" + std::to_string(i), name);
    }
    for (const char* name : {"high", "low"}) hub.put(queue(name), empty_queue());
  }

  static ObjectKey queue(const std::string& name) { return {Kind::cluster_queue, "", name}; }
  static ObjectKey node(const std::string& name) { return {Kind::node, "", name}; }
  static ObjectKey claim() { return {Kind::claim, "", "cluster2-resource-claim"}; }

  static ClusterQueueFacts empty_queue() {
    ClusterQueueFacts facts;
    ResourceGroup group{{"cpu"}, {}};
    for (const char* flavor : {"on-demand", "spot"})
      group.flavors.push_back(
          {flavor, {{"cpu", *Quantity::parse("0"), std::nullopt, std::nullopt}}});
    facts.groups = {group};
    return facts;
  }
  WatchFact add_node(const std::string& name, const std::string& pool) {
    NodeFacts facts;
    facts.labels = {{"pool", pool}};
    facts.ready = true;
    facts.allocatable = {{"cpu", 100'000}};
    return member.put(node(name), facts);
  }
  static ClaimFacts claim_facts() {
    ClaimFacts facts;
    facts.spec.cluster_name = "cluster2";
    facts.spec.nominal_resources = {{"cpu", "1000"}};
    facts.spec.assignments = {{"high", "on-demand", {{"cpu", "500"}}, {}, {}},
                              {"low", "spot", {{"cpu", "500"}}, {}, {}}};
    facts.created = *parse_rfc3339("2026-01-01T00:00:00Z");
    return facts;
  }

  /// Every window off: what is offered is decided at once.
  void at_once() {
    DebounceSettings& debounce = configuration.debounce;
    debounce.ingest_coalesce = debounce.shrink_window = debounce.grow_window =
        debounce.first_quiet = Duration{};
    debounce.min_grow_interval = debounce.mass_shrink_hold = debounce.write_interval = Duration{};
    debounce.grow_deadband_percent = debounce.flap_penalty = debounce.mass_shrink_percent = 0;
    configuration.status_interval = configuration.usage.interval = Duration{};
  }

  ServerDouble hub{"hub"}, member{"cluster2"};
  Configuration configuration;
};

}  // namespace fairlead
