// MultiKueueClusters and the MultiKueueConfig that lists them.
#include <algorithm>

#include "engine/fold/multikueue/credentials.h"
#include "engine/fold/multikueue/multikueue_close.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/multikueue/multikueue.h"

namespace fairlead {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

PatchIntended intent_for(const State& state, Verb verb, Kind kind, const std::string& name) {
  return hub_intent(verb, {kind, "", name}, kueue_version(state));
}

// Directs the intent at the observed object. An apply is forced, because Fairlead owns the object
// even if another writer changed it last.
template <class F>
void aim_at(PatchIntended& intent, const Observed<F>& current) {
  intent.version = current.version;
  intent.uid = current.uid;
  intent.resource_version = current.resource_version;
  intent.force = intent.verb == Verb::apply;
}

Json marked_body(const PatchIntended& intent, const OwnerMark& mark) {
  Json body = object_head(intent.target.kind, intent.version, "", intent.target.name, intent.uid,
                          intent.resource_version);
  body["metadata"]["labels"] = {{"app.kubernetes.io/managed-by", "fairlead"}};
  body["metadata"]["annotations"] = {{"fairlead.io/owner", mark.owner}};
  return body;
}

Json source_json(const Credential& source, const std::string& version) {
  Json json = source.profile.empty()
                  ? Json{{"kubeConfig", {{"location", source.secret}, {"locationType", "Secret"}}}}
                  : Json{{"clusterProfileRef", {{"name", source.profile}}}};
  return version == "v1beta1" ? json : Json{{"clusterSource", std::move(json)}};
}

std::string credential_text(const Credential& source) {
  if (!source.profile.empty()) return "ClusterProfile " + source.profile;
  return source.secret.empty() ? "no credential" : "Secret " + source.secret;
}

const std::vector<std::string>& wanted_names(const WorkerList& list) {
  return list.wish ? *list.wish : list.names;
}

// Whether the MultiKueueCluster exists, is ours and has no pending write.
bool exists(const State& state, const std::string& name) {
  const auto at = state.multikueue.clusters.find(name);
  return at != state.multikueue.clusters.end() && at->second.facts.mark.ours() &&
         !write_pending(state.writes, {kHub, Kind::multikueue_cluster, "", name, false});
}

bool was_refused(const WriteTables& writes, const std::string& name) {
  return refusal_of(writes, {Kind::multikueue_cluster, "", name});
}

std::string list_text(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) text += (text.size() > 1 ? ", " : "") + name;
  return text + "]";
}

void remove_config(const State& state, const std::string& placement, const WorkerList& list,
                   std::vector<PatchIntended>& proposals) {
  const auto at = state.multikueue.configs.find(placement);
  if (at == state.multikueue.configs.end() || at->second.facts.deleting ||
      !is_own_config(state, placement))
    return;
  for (const auto& checks :
       {checks_of(state.multikueue, placement), leaving_checks_of(state, placement)})
    for (const CheckRecord* check : checks)
      // Active becomes False before the config goes.
      if (check->seen.facts.active.status == ConditionStatus::yes) return;
  PatchIntended intent = intent_for(state, Verb::remove, Kind::multikueue_config, placement);
  aim_at(intent, at->second);
  intent.reason = {
      "multikueue/" + list.rule, deciding(list.causes),
      list.use == ListUse::none ? "no AdmissionCheck uses it" : "nothing is selected any more"};
  add(proposed(state, Rank::release, std::move(intent)), proposals);
}

}  // namespace

void emit_workers(const State& state, const std::string& placement,
                  std::vector<PatchIntended>& proposals) {
  const auto at = state.multikueue.lists.find(placement);
  if (at == state.multikueue.lists.end()) return;
  const WorkerList& list = at->second;
  if (list.use != ListUse::live || !list.foreign.empty() || list.dissolve) return;
  for (const std::string& name : wanted_names(list)) {
    const auto worker = list.workers.find(name);
    if (worker == list.workers.end() || worker->second.cluster.empty() ||
        !worker->second.usable_name)
      continue;
    const std::string& cluster = worker->second.cluster;
    // A name of another naming profile (multikueue.profile) only stays until it leaves the list.
    if (worker_name(state.configuration, placement, cluster) != name) continue;
    const bool added_by_hand = worker->second.listed && !worker->second.selected &&
                               !state.multikueue.clusters.contains(name) &&
                               !state.multikueue.sources.contains(name);
    if (added_by_hand) continue;
    LogTime never = kForever;
    const Credential source = source_for(state, name, cluster, never);
    if (!source.any()) continue;
    MultiKueueClusterFacts facts;
    facts.secret = source.secret;
    facts.cluster_profile = source.profile;
    facts.mark = worker_mark(state.configuration, placement, cluster);
    // Not forced until one was observed (aim_at): what another writer creates meanwhile conflicts
    // (docs/decisions/0027-ownership-on-the-multikueue-path.md).
    PatchIntended intent = intent_for(state, Verb::apply, Kind::multikueue_cluster, name);
    std::string before = "no MultiKueueCluster";
    if (const auto seen = state.multikueue.clusters.find(name);
        seen != state.multikueue.clusters.end()) {
      const MultiKueueClusterFacts& now = seen->second.facts;
      if (now.deleting) continue;
      if (now.mark == facts.mark && now.secret == facts.secret &&
          now.cluster_profile == facts.cluster_profile)
        continue;
      aim_at(intent, seen->second);
      facts.active = now.active;
      before = credential_text({now.cluster_profile, now.secret});
    }
    Json body = marked_body(intent, facts.mark);
    body["spec"] = source_json(source, intent.version);
    intent.body = to_text(body);
    const CredentialRecord* credential = find_credential(state.multikueue, cluster);
    std::vector<Seq> causes = worker->second.causes;
    if (credential) causes.push_back(credential->seq);
    intent.reason = {"multikueue/cluster", deciding(std::move(causes)),
                     "cluster " + cluster + ": " + before + " -> " + credential_text(source)};
    intent.expected = std::move(facts);
    add(proposed(state, Rank::worker, std::move(intent), Pacing::at_once), proposals);
  }
}

void emit_worker_removals(const State& state, const std::set<std::string>& names,
                          std::vector<PatchIntended>& proposals) {
  if (names.empty()) return;
  // By what configs have and by what lists want: a config that is about to name the cluster needs
  // it as much as one that still does.
  std::set<std::string> needed;
  for (const auto& [name, config] : state.multikueue.configs)
    needed.insert(config.facts.clusters.begin(), config.facts.clusters.end());
  for (const auto& [placement, list] : state.multikueue.lists)
    if (list.wish) needed.insert(list.wish->begin(), list.wish->end());
  for (const std::string& name : names) {
    const auto at = state.multikueue.clusters.find(name);
    if (at == state.multikueue.clusters.end() || !at->second.facts.mark.ours() ||
        at->second.facts.deleting || needed.contains(name))
      continue;
    PatchIntended intent = intent_for(state, Verb::remove, Kind::multikueue_cluster, name);
    aim_at(intent, at->second);
    intent.reason = {"multikueue/cluster-unused", deciding({at->second.seq}),
                     "no MultiKueueConfig names it"};
    add(proposed(state, Rank::release, std::move(intent)), proposals);
  }
}

void emit_worker_list(const State& state, const std::string& placement,
                      std::vector<PatchIntended>& proposals) {
  const auto at = state.multikueue.lists.find(placement);
  if (at == state.multikueue.lists.end()) return;
  const WorkerList& list = at->second;
  if (list.dissolve) return remove_config(state, placement, list, proposals);
  if (!list.wish) return;
  MultiKueueConfigFacts facts;
  for (const std::string& name : *list.wish) {
    if (!exists(state, name) && !contains(list.names, name)) {
      // One cluster that the API server refuses must not keep the others out of the list.
      if (was_refused(state.writes, name)) continue;
      return;  // its MultiKueueCluster must be observed first
    }
    facts.clusters.push_back(name);
  }
  // Kueue's CRD requires at least one name.
  if (facts.clusters.empty()) return;
  facts.mark = config_mark(placement);
  PatchIntended intent = intent_for(state, Verb::apply, Kind::multikueue_config, placement);
  if (const auto config = state.multikueue.configs.find(placement);
      config != state.multikueue.configs.end()) {
    const MultiKueueConfigFacts& now = config->second.facts;
    if (now.deleting || (now.clusters == facts.clusters && now.mark == facts.mark)) return;
    facts.quota_management = now.quota_management;
    aim_at(intent, config->second);
  }
  Json body = marked_body(intent, facts.mark);
  body["spec"] = {{"clusters", facts.clusters}};
  intent.body = to_text(body);
  intent.reason = {"multikueue/" + list.rule, deciding(list.causes),
                   "Placement " + state.configuration.kueue_namespace + "/" + placement + ": " +
                       list_text(list.names) + " -> " + list_text(facts.clusters)};
  intent.expected = std::move(facts);
  add(proposed(state, Rank::worker_list, std::move(intent), Pacing::at_once), proposals);
}

}  // namespace fairlead
