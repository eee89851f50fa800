#include "replay/whatif/overrides.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/fold/multikueue/windows.h"
#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/shares.h"
#include "schema/debounce_parameter.h"

namespace fairlead {

namespace {

const ObjectKey* object_in(const Event& event) {
  if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) return &seen->key;
  const auto* gone = std::get_if<ObjectGone>(&event.fact);
  return gone ? &gone->key : nullptr;
}

// The Namespace of a tenant that an event may bring into the pool, or take out of it.
std::optional<ObjectKey> namespace_touched(const ObjectKey& object) {
  if (object.kind == Kind::namespace_) return object;
  if (object.kind != Kind::resource_quota) return std::nullopt;
  return ObjectKey{Kind::namespace_, "", object.namespace_};
}

// Decides from the observations alone, because the event is not folded to the end of its moment
// yet: State's `follows` is only set when the moment closes.
bool asks_workers(const State& history, const Queue& queue) {
  const auto& checks = history.multikueue.checks;
  const auto names_placement = [&](const std::string& name) {
    const auto check = checks.find(name);
    return check != checks.end() && check->second.ours && !check->second.placement.empty();
  };
  const auto& names = queue.facts.admission_checks;
  return queue.workers.asked && std::any_of(names.begin(), names.end(), names_placement);
}

}  // namespace

Result<void> Overrides::begin(const State& history) {
  if (history.configuration_seq == Seq{}) return {};
  return compare_configurations(history, nullptr);
}

Result<void> Overrides::consumed(const Event& event, const State& history) {
  if (std::holds_alternative<ConfigChanged>(event.fact))
    return compare_configurations(history, &event);
  const ObjectKey* object = object_in(event);
  if (object == nullptr || actual_ == counterfactual_) return {};
  if (is_tenant(event.source)) {
    if (const auto touched = namespace_touched(*object))
      look_at(Place{event.source, *touched}, history, &event);
    return {};
  }
  if (event.source != kHub) return {};
  if (object->kind == Kind::claim)
    look_at_claims(history, object->name, &event);
  else if (object->kind == Kind::admission_check || object->kind == Kind::cluster_queue ||
           object->kind == Kind::virtual_cluster)
    look_at(*object, history, &event);
  // Whether a queue follows its workers depends on its checks.
  if (object->kind == Kind::admission_check) look_at_queues(history, &event);
  return {};
}

Result<void> Overrides::compare_configurations(const State& history, const Event* event) {
  auto counterfactual = reconfigure_(history.configuration);
  if (!counterfactual) return counterfactual.error();
  actual_ = history.configuration;
  counterfactual_ = *std::move(counterfactual);
  look_at_everything(history, event);
  return {};
}

void Overrides::look_at_everything(const State& history, const Event* event) {
  for (const auto& [name, claim] : history.claims.by_name) {
    if (claim.terms) clusters_[name] = claim.terms->cluster;
    look_at({Kind::claim, "", name}, history, event);
  }
  for (const auto& [name, check] : history.multikueue.checks)
    look_at({Kind::admission_check, "", name}, history, event);
  look_at_queues(history, event);
  look_at_pool(history, event);
}

void Overrides::look_at_pool(const State& history, const Event* event) {
  if (actual_.pool == counterfactual_.pool && open_.empty()) return;
  for (const auto& [id, of] : history.pool.virtual_clusters)
    look_at({Kind::virtual_cluster, id.first, id.second}, history, event);
  for (const auto& [name, tenant] : history.pool.tenants)
    for (const auto& [each, of] : tenant.namespaces)
      look_at(Place{tenant_source(name), {Kind::namespace_, "", each}}, history, event);
}

void Overrides::look_at_queues(const State& history, const Event* event) {
  if (actual_.overbook_percent == counterfactual_.overbook_percent && open_.empty()) return;
  for (const auto& [name, queue] : history.queues.by_name)
    look_at({Kind::cluster_queue, "", name}, history, event);
}

// An edit or the deletion of one claim may put another claim of its cluster in force.
void Overrides::look_at_claims(const State& history, const std::string& name, const Event* event) {
  std::set<std::string> names{name}, clusters;
  if (const auto before = clusters_.find(name); before != clusters_.end())
    clusters.insert(before->second);
  if (const auto at = history.claims.by_name.find(name);
      at != history.claims.by_name.end() && at->second.terms)
    clusters.insert(clusters_[name] = at->second.terms->cluster);
  for (const std::string& cluster : clusters)
    if (const auto at = history.claims.of_cluster.find(cluster);
        at != history.claims.of_cluster.end())
      names.insert(at->second.begin(), at->second.end());
  for (const std::string& each : names) look_at({Kind::claim, "", each}, history, event);
}

void Overrides::look_at(const ObjectKey& object, const State& history, const Event* event) {
  look_at(Place{std::string(kHub), object}, history, event);
}

void Overrides::look_at(const Place& place, const State& history, const Event* event) {
  const Names now = of_object(place, history);
  const auto known = open_.find(place);
  if (now.empty() && known == open_.end()) return;
  auto& open = open_[place];
  const auto is_same = [&](const Override& at) {
    const auto named = now.find(at.setting);
    return named != now.end() && named->second == std::pair(at.annotation, at.value);
  };
  std::erase_if(open, [&](const auto& entry) {
    Override& at = found_[entry.second];
    if (is_same(at)) return false;
    if (event) at.until = event->seq, at.to = event->log_time;
    return true;
  });
  for (const auto& [setting, annotation] : now) {
    if (!open.emplace(setting, found_.size()).second) continue;
    found_.push_back(
        {setting, place.first, place.second, annotation.first, annotation.second, {}, {}, {}, {}});
    if (event) found_.back().since = event->seq, found_.back().from = event->log_time;
  }
  if (open.empty()) open_.erase(place);
}

Overrides::Names Overrides::of_object(const Place& place, const State& history) const {
  const ObjectKey& object = place.second;
  if (object.kind == Kind::namespace_) return of_tenant_namespace(history, place);
  if (object.kind == Kind::virtual_cluster) return of_virtual_cluster(history, object);
  if (object.kind == Kind::claim) return of_claim(history, object.name);
  if (object.kind == Kind::admission_check) return of_check(history, object.name);
  return of_queue(history, object.name);
}

Overrides::Names Overrides::of_claim(const State& history, const std::string& name) const {
  Names names;
  const auto at = history.claims.by_name.find(name);
  if (at == history.claims.by_name.end() || !at->second.winner) return names;
  for (const auto& [parameter, value] : at->second.facts.debounce) {
    const DebounceParameter* known = find_debounce_parameter(parameter);
    DebounceSettings probe;
    std::string why_not;
    if (known == nullptr || !set_debounce_parameter(probe, parameter, value, why_not)) continue;
    if (debounce_parameter_text(actual_.debounce, *known) !=
        debounce_parameter_text(counterfactual_.debounce, *known))
      names["debounce." + parameter] = {"fairlead.io/debounce." + parameter, value};
  }
  return names;
}

// A malformed annotation overrides nothing: the setting follows the configuration.
Overrides::Names Overrides::of_check(const State& history, const std::string& name) const {
  Names names;
  const auto at = history.multikueue.checks.find(name);
  if (at == history.multikueue.checks.end() || !at->second.ours) return names;
  const AdmissionCheckFacts& facts = at->second.seen.facts;
  for (const auto& [setting, value] : facts.settings) {
    AdmissionCheckFacts only;
    only.settings = {{setting, value}};
    // An annotation overrides the setting if with it alone the window is the same under both
    // configurations.
    if (window_named(configured_windows(actual_), setting) !=
            window_named(configured_windows(counterfactual_), setting) &&
        window_named(windows_of(actual_, only), setting) ==
            window_named(windows_of(counterfactual_, only), setting))
      names["multikueue." + setting] = {"fairlead.io/multikueue." + setting, value};
  }
  return names;
}

Overrides::Names Overrides::of_queue(const State& history, const std::string& name) const {
  const auto at = history.queues.by_name.find(name);
  if (at == history.queues.by_name.end() || !at->second.present ||
      !asks_workers(history, at->second) ||
      actual_.overbook_percent == counterfactual_.overbook_percent)
    return {};
  const WorkerQuotaTerms& terms = at->second.facts.worker_quota;
  // A malformed percentage is not in force.
  const bool given = terms.percent == std::to_string(at->second.workers.percent);
  return {{"capacity.overbookPercent",
           {given ? "fairlead.io/quota-percent" : "fairlead.io/quota-from",
            given ? terms.percent : terms.from}}};
}

Overrides::Names Overrides::of_tenant_namespace(const State& history, const Place& place) const {
  const std::string tenant(tenant_of(place.first));
  const PoolNamespace* const of = find_namespace(history.pool, {tenant, place.second.name});
  if (!of || !of->seen || !is_in_pool(history.configuration, *of) ||
      actual_.pool.policy == counterfactual_.pool.policy)
    return {};
  const auto policy = own_policy_of(of->seen->facts);
  if (!policy) return {};
  return {{"pool.policy", {"fairlead.io/pool-policy", std::string(text_of(*policy))}}};
}

Overrides::Names Overrides::of_virtual_cluster(const State& history,
                                               const ObjectKey& object) const {
  const auto at = history.pool.virtual_clusters.find({object.namespace_, object.name});
  if (at == history.pool.virtual_clusters.end() ||
      actual_.pool.tenant_limit == counterfactual_.pool.tenant_limit)
    return {};
  const auto& limit = at->second.seen.facts.pool_limit;
  if (!limit || !read_limit(*limit)) return {};
  return {{"pool.tenantLimit", {"fairlead.io/pool-limit", *limit}}};
}

}  // namespace fairlead
