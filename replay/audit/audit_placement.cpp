// `audit why` and `why-not` of the super cluster pool: where a tenant's namespace or pod is placed,
// what each super cluster has for it, and the decisions that led there.
#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/pool_capacity.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/pod_devices.h"
#include "engine/fold/pool/pods.h"
#include "engine/fold/pool/questions.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/writes/interval.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/claims/propagation.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/audit_span.h"
#include "replay/audit/device_evidence.h"
#include "replay/audit/explain.h"
#include "replay/audit/placement_events.h"
#include "replay/audit/unseen.h"
#include "schema/write_rule.h"

namespace fairlead {

namespace {

// Without a beginning an answer names this many decisions, the newest.
constexpr std::size_t kDecisionsMax = 20;

Json amounts_json(const CpuMemorySum& sum) {
  return {{"cpu", amount_text("cpu", sum.cpu)}, {"memory", amount_text("memory", sum.memory)}};
}

// Amounts that are left. What is used beyond what there is is put into `beyond` instead: a share
// may shrink below what its pods ask for.
Json left_json(const std::map<std::string, Int128>& amounts, Json& beyond) {
  Json left = Json::object();
  for (const auto& [resource, amount] : amounts) {
    left[resource] = amount_text(resource, std::max(amount, Int128{0}));
    if (amount < 0) beyond[resource] = amount_text(resource, -amount);
  }
  return left;
}

Json amounts_json(const std::optional<CpuMemory>& amounts) {
  if (!amounts) return nullptr;
  return amounts_json(CpuMemorySum{amounts->cpu, amounts->memory});
}

Json slices_json(const SliceMap& slices) {
  Json json = Json::object();
  for (const auto& [id, count] : slices) json[id] = count;
  return json;
}

// The subject of a question at its moment.
struct Placed {
  const State& state;
  const AuditPlacement& asked;
  const PoolTenant& tenant;
  const PoolNamespace& of;
  const PoolPod* pod;  ///< null: the namespace itself
};

PoolPodKey key_of(const AuditPlacement& asked) {
  return {asked.tenant, asked.namespace_, asked.pod};
}

// The claims and templates of a tenant's namespace.
DeviceEvidence::Names names_of(const PoolNamespace& of, const std::string& prefix) {
  return {prefix,
          [&of](const std::string& name) {
            const auto at = of.claims.find(name);
            return at == of.claims.end() ? nullptr : &at->second;
          },
          [&of](const std::string& name) {
            const auto at = of.templates.find(name);
            return at == of.templates.end() ? nullptr : &at->second;
          }};
}

// What a super cluster answers to a pod that asks for devices there; null for one that does not.
Json devices_json(const Placed& placed, const ClusterForNamespace& at) {
  const State& state = placed.state;
  const PodFacts& pod = placed.pod->seen.facts;
  if (at.cluster.empty() || !asks_for_devices(state.clusters.at(at.cluster), pod)) return nullptr;
  const PoolPodKey key = key_of(placed.asked);
  const PodDevicesAnswer answer = devices_for(state, key, at.id);
  const DeviceEvidence evidence(state, at.cluster,
                                key.tenant + "/" + key.namespace_ + "/" + key.pod);
  Json row{
      {"reason", answer.reason},
      {"detail", answer.detail},
      {"alternatives", nullptr},
      {"left", nullptr},
      {"objects", evidence.objects({&*pod.devices},
                                   names_of(placed.of, key.tenant + "/" + key.namespace_ + "/"))},
      {"requests", Json::array()},
      {"incompletePools", Json::array()}};
  if (answer.reason.empty()) {
    row["alternatives"] = answer.fit.alternatives;
    if (const auto left = devices_left(state, key, at.id)) row["left"] = *left;
  } else if (answer.fit.refusal) {
    row["requests"] = evidence.requests(obstacles_of(state, key, at.id), *answer.fit.refusal);
    for (Json& request : row["requests"]) request["podSet"] = "";
    row["incompletePools"] = evidence.incomplete_pools();
  }
  return row;
}

// What is reserved for the pod; null if nothing is.
Json reserved_json(const PoolPod& pod, EventLookup& events) {
  if (!pod.reserved) return nullptr;
  Json because = Json::array();
  for (const Seq seq : pod.reserved->causes) because.push_back(events.place(seq));
  return {{"id", pod.reserved->worker},
          {"cluster", pod.reserved->cluster},
          {"since", to_rfc3339(pod.reserved->since)},
          {"because", std::move(because)},
          {"brokenSince", time_json(pod.reserved->broken_since)},
          {"pods", reserved_pods_json(pod.reserved->pods, {})}};
}

// What holds the pool's part of the member: the accepted values that are not what is usable there.
Json held_json(const State& state, const std::string& member) {
  Json held = Json::array();
  const auto at = state.clusters.find(member);
  if (at == state.clusters.end()) return held;
  const ClusterPool& pool = at->second.pool;
  if (!pool.known || pool.liveness == Liveness::lost) return held;
  const DebounceSettings settings = settings_of(state, member);
  for (const auto& [resource, value] : pool.values) {
    const Layer layer = layer_of_value(state.now, settings, {"", resource}, value.capacity.damped,
                                       pool_gate_of(at->second));
    if (layer.name == LayerName::none) continue;
    Json row = layer_json(layer);
    row["resource"] = resource;
    held.push_back(std::move(row));
  }
  return held;
}

Json clusters_json(const Placed& placed) {
  Json rows = Json::array();
  for (const ClusterForNamespace& at : clusters_for(placed.state, placed.of)) {
    Json row{{"id", at.id},
             {"cluster", at.cluster.empty() ? Json() : Json(at.cluster)},
             {"state", standing_name(at.standing)},
             {"slices", at.slices},
             {"usable", amounts_json(at.usable)},
             {"others", amounts_json(at.others)},
             {"room", at.room}};
    std::string lacking = at.short_of;
    if (placed.pod) {
      PodFit room = fit_of_pod(placed.state, key_of(placed.asked), at.id);
      Json share_beyond, cluster_beyond;
      row["left"] = left_json({{"cpu", room.left.cpu}, {"memory", room.left.memory}}, share_beyond);
      row["free"] = left_json(room.free, cluster_beyond);
      if (!share_beyond.is_null()) row["overUsed"]["share"] = std::move(share_beyond);
      if (!cluster_beyond.is_null()) row["overUsed"]["cluster"] = std::move(cluster_beyond);
      lacking = std::move(room.lacking);
      row["devices"] = devices_json(placed, at);
    }
    if (!lacking.empty()) row["short"] = std::move(lacking);
    if (Json held = held_json(placed.state, at.cluster); !held.empty())
      row["heldBy"] = std::move(held);
    rows.push_back(std::move(row));
  }
  return rows;
}

// Why the tenant, which is not connected, is not.
std::string apart_because(const State& state, const PoolTenant& tenant) {
  if (!tenant.admitted) return "no VirtualCluster of it was Running, and pool.tenants lacks it";
  if (tenant.failed) return "its VirtualCluster is in phase Error";
  if (tenant.crowded)
    return std::to_string(tenant.objects) + " objects, more than pool.tenantObjectsMax " +
           std::to_string(state.configuration.pool.tenant_objects_max);
  return "its API server has not shown each kind, or is silent";
}

// Why no quota of the namespace counts.
std::string no_quota_because(const PoolNamespace& of, const std::string& name) {
  std::string each;
  for (const auto& [quota, seen] : of.quotas)
    each += (each.empty() ? "" : ", ") + quota +
            (seen.facts.scoped ? " has scopes" : " names no request for cpu or memory");
  if (each.empty()) each = "it has none";
  return "no ResourceQuota of " + name + " counts (" + each + "): it is left alone";
}

// Why nothing is decided about the namespace, whatever its quota; null if something is.
Json undecided_because(const Placed& placed) {
  const PoolNamespace& of = placed.of;
  const std::string name = placed.asked.tenant + "/" + placed.asked.namespace_;
  if (!of.seen) return "the Namespace " + name + " was not observed";
  if (of.seen->facts.deleting) return "the Namespace " + name + " is being deleted";
  if (!placed.tenant.connected())
    return "tenant " + placed.asked.tenant + " is not connected (" +
           apart_because(placed.state, placed.tenant) +
           "): what it has stays, and nothing is written";
  if (!of.taken_up && !is_in_pool(placed.state.configuration, of))
    return no_quota_because(of, name);
  return nullptr;
}

// What keeps our write of the object back.
std::string bar_words(const Placed& placed) {
  const SourceName source = tenant_source(placed.asked.tenant);
  const ObjectKey object = object_of(placed.asked);
  const WriteKeyView key = of_object(source, object);
  const WriteState* const write = find_write(placed.state.writes, key);
  if (!write) return "";
  if (write->outstanding)
    return ": write " + std::to_string(write->outstanding->seq.value) + " has no answer yet";
  if (write->awaits()) return ": the watch has not shown our last write";
  if (write->refusal && placed.state.now < write->refusal->retry_at)
    return ": refused with " + answer_text(*write->refusal) + ", again at " +
           to_rfc3339(write->refusal->retry_at);
  if (!write->last_write) return "";
  const LogTime opens = *write->last_write + write_interval(placed.state, key);
  return placed.state.now < opens ? ": one write in writeInterval, again at " + to_rfc3339(opens)
                                  : "";
}

Json decision_row(const Placed& placed, EventLookup& lookup, const std::string& rule,
                  const std::string& text, std::vector<Seq> because) {
  return {{"seq", nullptr},
          {"time", nullptr},
          {"rule", rule},
          {"text", text},
          {"facts", facts_json(lookup, placed.state, because)}};
}

// The decision in force, if no write of ours has it: the write is not sent yet, or the annotations
// had the decided values before.
Json unwritten_decision(const Placed& placed, EventLookup& lookup) {
  const PoolNamespace& of = placed.of;
  if (placed.pod) {
    const PodFacts& facts = placed.pod->seen.facts;
    if (super_cluster_of(*placed.pod) == facts.super_cluster || placed.pod->cluster.empty())
      return nullptr;
    std::vector<Seq> because = of.causes;
    because.push_back(placed.pod->seen.seq);
    if (const auto& own = placed.pod->reserved)
      because.insert(because.end(), own->causes.begin(), own->causes.end());
    return decision_row(placed, lookup, rule::kPoolPod,
                        placed.pod->cluster + ", not written" + bar_words(placed),
                        std::move(because));
  }
  const SliceMap slices = placements_of(of);
  if (of.rule.empty() || of.written == slices) return nullptr;
  const std::string text = to_text(slices_json(slices));
  return decision_row(
      placed, lookup, of.rule,
      of.observed == slices ? text + ", as observed" : text + ", not written" + bar_words(placed),
      of.causes);
}

Result<Json> changes_json(const AuditSource& source, const Placed& placed,
                          const AuditDecisions& asked) {
  Seq begin = source.log.first_seq(), end = placed.state.seq;
  if (asked.from || asked.to) {
    const auto span = span_between(source.log, asked.from ? *asked.from : AuditPosition(begin),
                                   asked.to ? *asked.to : AuditPosition(end));
    if (!span) return span.error();
    begin = span->begin;
    end = std::min(end, span->end);
  }
  auto rows = decisions_between(source, placed.asked, placed.state, begin, end,
                                asked.from ? SIZE_MAX : kDecisionsMax);
  if (!rows) return rows.error();
  EventLookup lookup(source.log);
  if (Json row = unwritten_decision(placed, lookup); !row.is_null() && end == placed.state.seq)
    rows->push_back(std::move(row));
  return rows;
}

Result<AuditAnswer> placement_at(const AuditSource& source, const AuditPlacement& asked,
                                 const AuditPosition& as_of, const AuditDecisions& decisions,
                                 const char* kind) {
  const auto moment = moment_at(source, as_of);
  if (!moment) return moment.error();
  const State& state = moment->state;
  if (auto known = check_placement_named(state, asked); !known) return known.error();
  const PoolTenant& tenant = state.pool.tenants.at(asked.tenant);
  const PoolNamespace& of = tenant.namespaces.at(asked.namespace_);
  const Placed placed{state, asked, tenant, of,
                      asked.pod.empty() ? nullptr : &of.pods.at(asked.pod)};
  auto changes = changes_json(source, placed, decisions);
  if (!changes) return changes.error();
  auto unseen = unseen_at(source, *moment, sources_of_placements(state, asked.tenant));
  if (!unseen) return unseen.error();
  const std::string& reason = value_of(placed.pod ? placed.pod->reason : of.reason).current;
  Json answer{{"kind", kind},
              {"asOf", as_of_json(*moment)},
              {"configuration", configuration_json(state)},
              {"unseen", *std::move(unseen)},
              {"tenant", asked.tenant},
              {"namespace", asked.namespace_},
              {"seq", state.seq.value},
              {"slice", amounts_json(slice_of(of))},
              {"expected", expected_slices(state.configuration, of)},
              {"placements", slices_json(placements_of(of))},
              {"reason", reason.empty() ? Json() : Json(reason)},
              {"clusters", clusters_json(placed)},
              {"changes", *std::move(changes)},
              {"undecided", undecided_because(placed)}};
  if (placed.pod) {
    answer["pod"] = asked.pod;
    const auto id = super_cluster_of(*placed.pod);
    answer["superCluster"] = id ? Json(*id) : Json();
    EventLookup events(source.log);
    answer["reservation"] = reserved_json(*placed.pod, events);
  }
  return AuditAnswer{std::move(answer)};
}

}  // namespace

Result<AuditAnswer> audit_why_placement(const AuditSource& source, const AuditPlacement& object,
                                        const AuditPosition& as_of,
                                        const AuditDecisions& decisions) {
  return placement_at(source, object, as_of, decisions, "PlacementWhy");
}

Result<AuditAnswer> audit_why_not_placement(const AuditSource& source, const AuditPlacement& object,
                                            const AuditPosition& as_of,
                                            const AuditDecisions& decisions) {
  return placement_at(source, object, as_of, decisions, "PlacementWhyNot");
}

}  // namespace fairlead
