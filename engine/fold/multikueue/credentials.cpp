#include "engine/fold/multikueue/credentials.h"

#include <algorithm>

#include "engine/fold/cluster_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/multikueue/windows.h"

namespace fairlead {

namespace {

// Kueue connects only through a provider that its own configuration names.
bool may_use(const Configuration& configuration, const ClusterProfileFacts& profile) {
  const auto& allowed = configuration.multikueue.access_providers;
  const auto& offered = profile.access_providers;
  if (allowed.empty()) return !offered.empty();
  return std::any_of(offered.begin(), offered.end(), [&](const std::string& provider) {
    return std::find(allowed.begin(), allowed.end(), provider) != allowed.end();
  });
}

bool profiles_are_served(const MultiKueue& multikueue) {
  const auto crd = multikueue.crds.find("multikueueclusters.kueue.x-k8s.io");
  return crd == multikueue.crds.end() || crd->second.facts.cluster_profile_ref;
}

// An administrator who lists Kueue's providers knows better than an earlier answer of Kueue.
bool profiles_are_off(MultiKueueReader state) {
  return state.multikueue.profiles_off && state.configuration.multikueue.access_providers.empty();
}

// Returns a usable profile that is labelled with the cluster; only if none is labelled so, the
// unlabelled profile of its name.
std::string profile_of(MultiKueueReader state, const std::string& cluster) {
  if (!profiles_are_served(state.multikueue) || profiles_are_off(state)) return "";
  const std::string& namespace_ = state.configuration.kueue_namespace;
  const auto& all = state.multikueue.profiles;
  const auto known = state.clusters.find(cluster);
  if (known == state.clusters.end()) return "";
  const auto& of_cluster = known->second.presence.profiles;
  bool labelled = false;
  for (auto at = of_cluster.lower_bound({namespace_, ""}); at != of_cluster.end(); ++at) {
    if (at->first != namespace_) break;
    const ClusterProfileFacts& facts = all.at(*at).facts;
    if (!facts.labelled) continue;
    labelled = true;
    if (may_use(state.configuration, facts)) return at->second;
  }
  const auto named = all.find({namespace_, cluster});
  const bool usable = !labelled && named != all.end() && !named->second.facts.labelled &&
                      may_use(state.configuration, named->second.facts);
  return usable ? cluster : "";
}

std::string secret_of(MultiKueueReader state, const std::string& cluster) {
  const std::string name = secret_name(state.configuration, cluster);
  const auto at = state.multikueue.secrets.find({state.configuration.kueue_namespace, name});
  if (at == state.multikueue.secrets.end()) return "";
  const auto& keys = at->second.facts.keys;
  return std::find(keys.begin(), keys.end(), kKubeconfigKey) == keys.end() ? "" : name;
}

// Returns the seq of the object that gives the credential; `gone` if there is none.
Seq seq_of(MultiKueueReader state, const Credential& credential, Seq gone) {
  const std::string& namespace_ = state.configuration.kueue_namespace;
  if (!credential.profile.empty())
    // The credential was derived from these objects just before.
    return state.multikueue.profiles.at({namespace_, credential.profile}).seq;
  if (!credential.secret.empty())
    return state.multikueue.secrets.at({namespace_, credential.secret}).seq;
  return gone;
}

// Sets `since` to the moment from which `holds` is true; empty while it is false.
void keep_since(std::optional<LogTime>& since, bool holds, LogTime now) {
  if (!holds)
    since.reset();
  else if (!since)
    since = now;
}

}  // namespace

Credential credential_of(MultiKueueReader state, const std::string& cluster) {
  return {profile_of(state, cluster), secret_of(state, cluster)};
}

bool refresh_credential(MultiKueueRoom state, const std::string& cluster, Seq seq) {
  const auto [at, fresh] = state.multikueue.credentials.try_emplace(cluster);
  CredentialRecord& record = at->second;
  const Credential now = credential_of(state, cluster);
  if (!fresh && now == record.now) return false;
  const bool had = record.now.any();
  const bool had_profile = !record.now.profile.empty();
  if (now.any()) record.lost_since.reset();
  if (had && !now.any()) record.lost_since = state.now;
  keep_since(record.profile_since, !now.profile.empty(), state.now);
  keep_since(record.profile_lost_since, now.profile.empty(), state.now);
  record.now = now;
  record.seq = had_profile && now.profile.empty() && profiles_are_off(state)
                   ? *state.multikueue.profiles_off
                   : seq_of(state, now, seq);
  return true;
}

const CredentialRecord* find_credential(const MultiKueue& multikueue, const std::string& cluster) {
  const auto at = multikueue.credentials.find(cluster);
  return at == multikueue.credentials.end() ? nullptr : &at->second;
}

Credential source_for(MultiKueueReader state, const std::string& worker, const std::string& cluster,
                      LogTime& next) {
  const CredentialRecord* record = find_credential(state.multikueue, cluster);
  if (!record) return {};
  const MultiKueue& all = state.multikueue;
  MembershipWindows windows{};
  bool listed = false;
  for (const auto& [placement, list] : all.lists) {
    if (std::find(list.names.begin(), list.names.end(), worker) == list.names.end()) continue;
    windows = longest(windows, list.windows);
    listed = true;
  }
  const Credential now =
      record->now.profile.empty() ? record->now : Credential{record->now.profile, ""};
  Credential before;
  if (const auto source = all.sources.find(worker); source != all.sources.end())
    before = source->second;
  else if (const auto current = all.clusters.find(worker); listed && current != all.clusters.end())
    before = {current->second.facts.cluster_profile, current->second.facts.secret};
  if (!before.any() || !now.any()) return now.any() ? now : before;
  // Only a change between profile and Secret waits, and only for a worker in a list, so that a
  // credential that blinks does not change the source twice.
  if (!listed || before.profile.empty() == now.profile.empty()) return now;
  if (!before.profile.empty() && profiles_are_off(state)) return now;
  const LogTime change =
      now.profile.empty()
          ? record->profile_lost_since.value_or(state.now) + windows.credential_grace
          : record->profile_since.value_or(state.now) + windows.settle;
  if (change <= state.now) return now;
  next = std::min(next, change);
  return before;
}

}  // namespace fairlead
