// `audit diff`: the differences between two moments of the past.
#include <algorithm>
#include <array>
#include <set>

#include "engine/fold/held.h"
#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/questions.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"
#include "engine/fold/queues/orchestration.h"
#include "engine/fold/queues/queues.h"
#include "engine/plan/claims/claim_status.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/effective.h"
#include "replay/audit/explain.h"
#include "replay/audit/spec_values.h"
#include "replay/audit/unseen.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

// Names of a row -> its fields. Compared as a whole.
using Rows = std::map<std::vector<std::string>, Json>;

// What is compared: everything, or what concerns one queue at either moment. The union of both
// moments, so that a claim or cluster that exists and only does not name the queue is never
// reported as missing.
struct Scope {
  std::set<std::string> queues, claims, clusters, lists;
  std::set<ObjectKey> objects;  ///< whose specs are compared
  /// Whether the super cluster pool is compared: where no queue is asked for.
  enum class Pool : std::uint8_t { left_out, compared } pool = Pool::left_out;
};

struct Side {
  const State& state;
  const Scope& scope;
};

// The lists of the answer about specs: a kind each.
struct SpecList {
  const char* list;
  Kind kind;
  const char* name;
};
constexpr std::array kSpecLists =
    std::to_array<SpecList>({{"queues", Kind::cluster_queue, "queue"},
                             {"cohorts", Kind::cohort, "cohort"},
                             {"flavors", Kind::resource_flavor, "flavor"},
                             {"checks", Kind::admission_check, "check"},
                             {"localQueues", Kind::local_queue, "localQueue"}});

void add_everything(const State& state, Scope& scope) {
  for (const SpecList& of : kSpecLists)
    for (ObjectKey& key : held_objects(state, std::string(kHub), of.kind))
      scope.objects.insert(std::move(key));
  for (const auto& [name, at] : state.queues.by_name)
    if (at.present) scope.queues.insert(name);
  for (const auto& [name, claims] : state.claims.of_queue) scope.queues.insert(name);
  for (const auto& [name, claim] : state.claims.by_name) scope.claims.insert(name);
  for (const auto& [name, cluster] : state.clusters) scope.clusters.insert(name);
  for (const auto& [name, list] : state.multikueue.lists) scope.lists.insert(name);
  scope.pool = Scope::Pool::compared;
}

// The worker lists that the queue's AdmissionChecks use.
void add_lists(const State& state, const std::string& queue, Scope& scope) {
  const auto at = state.queues.by_name.find(queue);
  if (at == state.queues.by_name.end()) return;
  for (const std::string& name : at->second.facts.admission_checks) {
    const auto check = state.multikueue.checks.find(name);
    if (check != state.multikueue.checks.end() && check->second.ours)
      scope.lists.insert(check->second.placement);
  }
}

// The queue, the Cohorts above it, its flavors, its checks, and the LocalQueues that lead to it.
void add_objects(const State& state, const std::string& queue, Scope& scope) {
  scope.objects.insert({Kind::cluster_queue, "", queue});
  for (const auto& [id, local] : state.queues.local)
    if (local.cluster_queue == queue)
      scope.objects.insert({Kind::local_queue, id.first, id.second});
  const auto at = state.queues.by_name.find(queue);
  if (at == state.queues.by_name.end()) return;
  for (const std::string& name : cohorts_above(state.queues, at->second))
    scope.objects.insert({Kind::cohort, "", name});
  for (const std::string& name : at->second.facts.admission_checks)
    scope.objects.insert({Kind::admission_check, "", name});
  for (const ResourceGroup& group : at->second.facts.groups)
    for (const FlavorQuotas& flavor : group.flavors)
      scope.objects.insert({Kind::resource_flavor, "", flavor.name});
}

void add_queue(const State& state, const std::string& queue, Scope& scope) {
  scope.queues.insert(queue);
  add_objects(state, queue, scope);
  add_lists(state, queue, scope);
  const auto named = state.claims.of_queue.find(queue);
  if (named == state.claims.of_queue.end()) return;
  for (const std::string& name : named->second) {
    scope.claims.insert(name);
    scope.clusters.insert(state.claims.by_name.at(name).terms->cluster);
  }
}

Scope scope_of(const State& before, const State& after, const std::string& queue) {
  Scope scope;
  for (const State* state : {&before, &after})
    if (queue.empty())
      add_everything(*state, scope);
    else
      add_queue(*state, queue, scope);
  return scope;
}

// Only where the queue has one.
void add_limits(const State& state, const KnownPair& pair, Json& row) {
  const auto at = state.queues.by_name.find(pair.queue);
  if (at == state.queues.by_name.end() || !at->second.present) return;
  const ResourceQuota* quota = find_quota(at->second.facts.groups, pair.key.flavor, pair.spelled);
  if (quota && quota->borrowing_limit) row["borrowingLimit"] = quota->borrowing_limit->text();
  if (quota && quota->lending_limit) row["lendingLimit"] = quota->lending_limit->text();
}

Rows quotas_of(const Side& side) {
  Rows rows;
  for (const std::string& queue : side.scope.queues)
    for (const KnownPair& pair : pairs_of_queue(side.state, queue)) {
      const auto current = current_nominal(side.state, pair);
      const HubQuota quota = hub_quota(side.state, queue, pair.key);
      const bool known = owned_pairs(side.state, queue).contains(pair.key) && !quota.unknown;
      const auto text = [&](Amount amount) { return amount_text(pair.key.resource, amount); };
      // Two spellings of one resource are two rows.
      Json& row = rows[{queue, pair.key.flavor, pair.spelled}];
      row = {{"nominal", current ? Json(text(*current)) : Json()},
             {"desired", known ? Json(text(quota.nominal)) : Json()}};
      for (const Json& entry : effective_json(side.state, pair))
        row[effective_name(entry)] = effective_text(entry);
      add_limits(side.state, pair, row);
    }
  return rows;
}

using Names = std::vector<std::string>;

// Returns the only row that `other` spells differently and that `rows` does not have; null if there
// is none or more than one.
const Names* other_spelling(const Names& names, const Rows& rows, const Rows& other,
                            const ResourceAliases& aliases) {
  const Names* found = nullptr;
  for (const auto& [key, row] : other) {
    const bool same = key[0] == names[0] && key[1] == names[1] &&
                      canonical_resource(aliases, key[2]) == canonical_resource(aliases, names[2]);
    if (!same || rows.contains(key)) continue;
    if (found != nullptr) return nullptr;
    found = &key;
  }
  return found;
}

// A pair that the two moments spell differently becomes one row, in the later spelling. A pair that
// has both spellings at one moment stays two rows.
void match_spellings(Rows& before, const Rows& after, const ResourceAliases& aliases) {
  Rows matched;
  for (const auto& [names, row] : before) {
    const Names* later =
        after.contains(names) ? nullptr : other_spelling(names, before, after, aliases);
    // Only if each is the other's only candidate: else two pairs would become one.
    const Names* back = later ? other_spelling(*later, after, before, aliases) : nullptr;
    matched[back != nullptr && *back == names ? *later : names] = row;
  }
  before = std::move(matched);
}

Rows grants_of(const Side& side, const std::string& queue) {
  Rows rows;
  QueueWishes wishes(side.state);
  for (const std::string& name : side.scope.claims) {
    const auto at = side.state.claims.by_name.find(name);
    if (at == side.state.claims.by_name.end()) continue;
    const Claim& claim = at->second;
    for (const Grant& grant : claim.grants) {
      const AssignmentRow& row = grant.row;
      if (!queue.empty() && row.cluster_queue != queue) continue;
      rows[{name, row.cluster_queue, row.flavor, row.resource}] = {
          {"assigned", amount_text(row.resource, row.assigned)},
          {"granted", amount_text(row.resource, grant.granted)},
          {"reason", text_of(grant_reason(side.state, claim, grant, wishes))}};
    }
  }
  return rows;
}

Rows capacity_of(const Side& side) {
  Rows rows;
  for (const std::string& name : side.scope.clusters) {
    const auto at = side.state.clusters.find(name);
    if (at == side.state.clusters.end()) continue;
    for (const auto& [key, value] : at->second.capacity)
      rows[{name, key.flavor, key.resource}] = {
          {"accepted", amount_text(key.resource, value.damped.accepted)},
          {"usable", amount_text(key.resource, value.damped.usable)},
          {"state", capacity_state(at->second, value.damped)}};
  }
  return rows;
}

Rows claims_of(const Side& side) {
  Rows rows;
  for (const std::string& name : side.scope.claims) {
    const auto at = side.state.claims.by_name.find(name);
    if (at == side.state.claims.by_name.end()) continue;
    const Claim& claim = at->second;
    Json& row = rows[{name}];
    row = {{"uid", claim.uid},
           {"generation", claim.generation},
           {"editedSeq", claim.edited_seq.value},
           {"winner", claim.winner},
           {"fault", claim.fault ? text_of(claim.fault->reason) : std::string_view()},
           {"deleting", claim.facts.deleting}};
    for (const auto& [parameter, value] : claim.facts.debounce)
      row["debounce." + parameter] = value;
  }
  return rows;
}

// The clusters of each MultiKueueConfig as observed.
Rows lists_of(const Side& side) {
  Rows rows;
  for (const std::string& name : side.scope.lists) {
    const auto at = side.state.multikueue.lists.find(name);
    if (at != side.state.multikueue.lists.end() && !at->second.names.empty())
      rows[{name}] = at->second.names;
  }
  return rows;
}

// The names in `list` that `other` does not have, in the list's order; either may be null.
Json only_in(const Json& list, const Json& other) {
  Json names = Json::array();
  for (const Json& name : list)
    if (std::find(other.begin(), other.end(), name) == other.end()) names.push_back(name);
  return names;
}

// Adds every leaf of the configuration with its path.
void flatten(const Json& value, const std::string& path, Rows& rows) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, inner] : value.items())
      flatten(inner, path.empty() ? key : path + "." + key, rows);
  } else {
    rows[{path}] = value;
  }
}

Rows configuration_of(const Side& side) {
  Rows rows;
  flatten(to_json(side.state.configuration), "", rows);
  return rows;
}

// The super cluster pool, of which no queue is a part.
bool has_pool(const Side& side) { return side.scope.pool == Scope::Pool::compared; }

Rows super_clusters_of(const Side& side) {
  Rows rows;
  if (!has_pool(side)) return rows;
  for (const auto& [id, cluster] : side.state.pool.clusters) {
    Json& row = rows[{id}];
    row = {{"cluster", cluster.cluster}, {"state", standing_name(standing_of(side.state, id))}};
    for (const auto& [resource, amount] : cluster.accepted)
      row["usable." + resource] = amount_text(resource, amount);
  }
  return rows;
}

Rows namespaces_of(const Side& side) {
  Rows rows;
  if (!has_pool(side)) return rows;
  for (const auto& [tenant, of_tenant] : side.state.pool.tenants)
    for (const auto& [name, of] : of_tenant.namespaces) {
      if (!of.taken_up && !is_in_pool(side.state.configuration, of)) continue;
      const auto slice = slice_of(of);
      rows[{tenant, name}] = {
          {"placements", placements_text(placements_of(of))},
          {"expected", expected_slices(side.state.configuration, of)},
          {"slice", slice ? "cpu " + amount_text("cpu", slice->cpu) + ", memory " +
                                amount_text("memory", slice->memory)
                          : ""},
          {"reason", value_of(of.reason).current}};
    }
  return rows;
}

Rows pods_of_tenants(const Side& side) {
  Rows rows;
  if (!has_pool(side)) return rows;
  for (const auto& [tenant, of_tenant] : side.state.pool.tenants)
    for (const auto& [namespace_, of] : of_tenant.namespaces)
      for (const auto& [name, pod] : of.pods)
        rows[{tenant, namespace_, name}] = {{"superCluster", super_cluster_of(pod).value_or("")},
                                            {"reason", value_of(pod.reason).current}};
  return rows;
}

Json differing(const Rows& from, const Rows& to, const std::vector<std::string>& names) {
  std::set<std::vector<std::string>> keys;
  for (const auto& [key, row] : from) keys.insert(key);
  for (const auto& [key, row] : to) keys.insert(key);
  Json list = Json::array();
  for (const auto& key : keys) {
    const auto was = from.find(key);
    const auto is = to.find(key);
    if (was != from.end() && is != to.end() && was->second == is->second) continue;
    Json row = Json::object();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = key[i];
    row["from"] = was == from.end() ? Json() : was->second;
    row["to"] = is == to.end() ? Json() : is->second;
    list.push_back(std::move(row));
  }
  return list;
}

Json differing_quotas(const Side& from, const Side& to) {
  Rows before = quotas_of(from);
  const Rows after = quotas_of(to);
  match_spellings(before, after, to.state.configuration.resource_aliases);
  return differing(before, after, {"queue", "flavor", "resource"});
}

// One side of a row: null, or the fields that differ.
Json spec_side(const KnownSpec& spec, const std::vector<SpecChange>& changes,
               Json SpecChange::* value) {
  if (spec.presence == KnownSpec::Presence::absent) return nullptr;
  Json fields = Json::object();
  for (const SpecChange& change : changes) fields[text_of(change.place)] = change.*value;
  return fields;
}

// The objects of one kind whose specs differ.
Json differing_specs(const Side& from, const Side& to, const SpecList& of) {
  Json rows = Json::array();
  for (auto at = from.scope.objects.lower_bound({of.kind, "", ""});
       at != from.scope.objects.end() && at->kind == of.kind; ++at) {
    const auto was = held_facts(from.state, std::string(kHub), *at);
    const auto is = held_facts(to.state, std::string(kHub), *at);
    if (was == is) continue;
    const KnownSpec before = spec_in(from.state, *at), after = spec_in(to.state, *at);
    const std::vector<SpecChange> changes = spec_changes(before, after);
    if (changes.empty() && was.has_value() == is.has_value()) continue;
    Json row{{of.name, at->name},
             {"from", spec_side(before, changes, &SpecChange::before)},
             {"to", spec_side(after, changes, &SpecChange::after)}};
    if (!at->namespace_.empty()) row["namespace"] = at->namespace_;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json differing_lists(const Side& from, const Side& to) {
  Json rows = differing(lists_of(from), lists_of(to), {"multiKueueConfig"});
  for (Json& row : rows) {
    row["came"] = only_in(row["to"], row["from"]);
    row["went"] = only_in(row["from"], row["to"]);
  }
  return rows;
}

Result<Json> unseen_of(const AuditSource& source, const Moment& moment, const Scope& scope) {
  AnswerSources rests_on = scope.lists.empty() ? sources_of_every_quota() : sources_of_workers();
  for (const std::string& cluster : scope.clusters)
    add_cluster_source(moment.state, cluster, rests_on);
  if (scope.pool == Scope::Pool::compared)
    for (const auto& [tenant, of] : moment.state.pool.tenants)
      rests_on.members.insert(tenant_source(tenant));
  return unseen_at(source, moment, rests_on);
}

}  // namespace

Result<AuditAnswer> audit_diff(const AuditSource& source, const AuditPosition& earlier,
                               const AuditPosition& later, const std::string& queue) {
  auto before = moment_at(source, earlier);
  if (!before) return before.error();
  auto after = moment_at(source, later);
  if (!after) return after.error();
  if (!queue.empty())
    if (auto known = check_queue_named(after->state, queue); !known)
      if (auto was_known = check_queue_named(before->state, queue); !was_known)
        return known.error();
  const Scope scope = scope_of(before->state, after->state, queue);
  auto unseen = unseen_of(source, *before, scope);
  if (!unseen) return unseen.error();
  const auto later_unseen = unseen_of(source, *after, scope);
  if (!later_unseen) return later_unseen.error();
  join_unseen(*unseen, *later_unseen);
  const Side from{before->state, scope};
  const Side to{after->state, scope};
  AuditAnswer answer{
      {{"kind", "QuotaDiff"},
       {"queue", queue},
       {"unseen", *std::move(unseen)},
       {"from", as_of_json(*before)},
       {"to", as_of_json(*after)},
       {"quotas", differing_quotas(from, to)},
       {"grants", differing(grants_of(from, queue), grants_of(to, queue),
                            {"claim", "queue", "flavor", "resource"})},
       {"capacity",
        differing(capacity_of(from), capacity_of(to), {"cluster", "flavor", "resource"})},
       {"claims", differing(claims_of(from), claims_of(to), {"claim"})},
       {"workers", differing_lists(from, to)},
       {"superClusters", differing(super_clusters_of(from), super_clusters_of(to), {"id"})},
       {"namespaces", differing(namespaces_of(from), namespaces_of(to), {"tenant", "namespace"})},
       {"pods",
        differing(pods_of_tenants(from), pods_of_tenants(to), {"tenant", "namespace", "pod"})},
       {"configuration", differing(configuration_of(from), configuration_of(to), {"key"})},
       {"configurationSeq",
        {{"from", before->state.configuration_seq.value},
         {"to", after->state.configuration_seq.value}}}}};
  if (before->state.seq > after->state.seq)
    answer.document["note"] =
        "the first moment is the later one: what came is shown as what went; exchange the two";
  for (const SpecList& of : kSpecLists) answer.document[of.list] = differing_specs(from, to, of);
  return answer;
}

}  // namespace fairlead
