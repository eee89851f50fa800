// Shared by the tests of the hub: a virtual clock, API servers made of facts, and a bench that
// steps a HubCore against them until nothing is left to do.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/fold/evolve.h"
#include "engine/log/memory_log.h"
#include "engine/runtime/hub_core.h"

namespace fairlead {

class VirtualClock final : public Clock {
 public:
  LogTime now() override { return time; }
  LogTime time = *parse_rfc3339("2026-01-01T00:00:00Z");
};

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
    std::optional<WatchFact> shown;  ///< if the write changed something
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
      written.shown = remove(intent.target);
      return written;
    }
    const bool status = intent.verb == Verb::apply_status;
    const bool same = at != objects_.end() && (status ? at->second.status == intent.body
                                                      : at->second.facts == *intent.expected);
    if (!same) {
      ++effects;
      const std::int64_t generation = at == objects_.end() ? 0 : at->second.generation;
      written.shown = put(intent.target, *intent.expected);
      Object& object = objects_[intent.target];
      if (status || intent.target.kind == Kind::claim) object.generation = generation;
      if (status) object.status = intent.body;
      written.shown = seen(intent.target);
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
    if (row.kind != Kind::node) kinds.push_back(row.kind);
  return kinds;
}

// Also called by threads of the doubles, where Catch's macros may not be used.
inline std::vector<Event> events_of(const EventLog& log, Seq from = {1}) {
  std::vector<Event> events;
  auto reader = log.read(from);
  check(reader.has_value(), "a test's log can be read");
  for (;;) {
    auto event = (*reader)->next();
    check(event.has_value(), "a test's events can be read");
    if (!*event) return events;
    events.push_back(std::move(**event));
  }
}

template <class T>
std::vector<T> facts_in(const EventLog& log, Seq from = {1}) {
  std::vector<T> facts;
  for (const Event& event : events_of(log, from))
    if (const T* fact = std::get_if<T>(&event.fact)) facts.push_back(*fact);
  return facts;
}

/// The two queues, ten nodes and the claim that the end-to-end tests use too.
class HubBench {
 public:
  explicit HubBench(std::shared_ptr<EventLog> log_given = std::make_shared<MemoryLog>())
      : log(std::move(log_given)) {
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
    configuration.status_interval = Duration{};
  }

  void start(WriteMode mode = WriteMode::apply) {
    core = std::make_unique<HubCore>(
        *log, clock, HubSettings{"test", mode, every_hub_kind(), snapshots},
        [this](const Diagnostic& said) { diagnostics.push_back(to_line(said)); });
    const auto started = core->start(configuration, {});
    REQUIRE(started.has_value());
  }
  void sync() {
    for (WatchFact& fact : hub.list(every_hub_kind())) core->offer(std::move(fact));
    for (WatchFact& fact : member.list({Kind::node, Kind::local_queue, Kind::cluster_queue}))
      core->offer(std::move(fact));
  }
  /// One step; its requests are kept in `requests`, unanswered.
  void step() {
    auto effects = core->step(Input::complete);
    REQUIRE(effects.has_value());
    for (WriteRequest& request : effects->requests) requests.push_back(std::move(request));
    for (Recommendation& recommendation : effects->recommendations)
      recommendations.push_back(std::move(recommendation));
  }
  /// Carries a request out at the server; the answer and the watch fact that follows come with the
  /// next step.
  void carry_out(const WriteRequest& request) {
    const Event event = events_of(*log, request.intent).front();
    ServerDouble::Written written = hub.write(request.intent, std::get<PatchIntended>(event.fact));
    if (written.shown) core->offer(std::move(*written.shown));
    core->answer(std::move(written.answer));
  }
  /// Steps and carries out until nothing is due.
  void settle() {
    for (int rounds = 0; rounds < 1000; ++rounds) {
      step();
      for (const WriteRequest& request : std::exchange(requests, {})) carry_out(request);
      if (core->next_due() > core->now()) return;
    }
    FAIL("the hub does not come to rest");
  }
  /// Advances time, from one due moment to the next.
  void advance(Duration span) {
    const LogTime end = clock.time + span;
    settle();
    while (core->next_due() <= end) {
      clock.time = std::max(clock.time, core->next_due());
      settle();
    }
    clock.time = end;
    settle();
  }
  void run(WriteMode mode = WriteMode::apply) {
    hub.put(claim(), claim_facts());
    start(mode);
    sync();
    settle();
  }

  std::string quota(const std::string& queue_name, const std::string& flavor) const {
    for (const ResourceGroup& group : hub.facts<ClusterQueueFacts>(queue(queue_name)).groups)
      for (const FlavorQuotas& entry : group.flavors)
        if (entry.name == flavor) return entry.resources.front().nominal.text();
    return "none";
  }
  std::string quotas() const { return quota("high", "on-demand") + " " + quota("low", "spot"); }

  std::shared_ptr<EventLog> log;
  VirtualClock clock;
  ServerDouble hub{"hub"}, member{"cluster2"};
  Configuration configuration;
  SnapshotStore* snapshots = nullptr;
  std::unique_ptr<HubCore> core;
  std::vector<WriteRequest> requests;
  std::vector<Recommendation> recommendations;
  std::vector<std::string> diagnostics;
};

/// Folds the events, with the present moment closed as the hub closed it.
inline State folded(const std::vector<Event>& events) {
  State state;
  Touched touched;
  for (const Event& event : events) evolve(state, event, touched);
  settle(state, touched);
  return state;
}

}  // namespace fairlead
