#include "engine/admission/admission_mirror.h"

#include <algorithm>
#include <utility>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/queues/orchestration.h"
#include "engine/fold/queues/queues.h"

namespace fairlead {

namespace {

template <class Names>
FirstNames first_names(const Names& names, const auto& name_of) {
  FirstNames made;
  made.count = names.size();
  for (auto at = names.begin(); at != names.end() && made.first.size() < FirstNames::kNamed; ++at)
    made.first.push_back(name_of(*at));
  return made;
}

FirstNames first_names(const std::set<std::string>& names) {
  return first_names(names, [](const std::string& name) { return name; });
}

FirstNames first_names(const std::map<std::string, std::size_t>& names) {
  return first_names(names, [](const auto& entry) { return entry.first; });
}

PairAmounts pair_amounts(const std::vector<FlavorUsage>& usage, const ResourceAliases& aliases) {
  PairAmounts amounts;
  for (const FlavorUsage& used : usage) {
    Amount& amount = amounts[{used.flavor, canonical_resource(aliases, used.resource)}];
    amount = saturate(Int128{amount} + used.total);
  }
  return amounts;
}

void count_down(std::map<std::string, std::size_t>& counts, const std::string& name) {
  const auto at = counts.find(name);
  if (at != counts.end() && --at->second == 0) counts.erase(at);
}

ClusterEntry cluster_entry(const State& state, const Cluster& cluster) {
  const ResourceAliases& aliases = state.configuration.resource_aliases;
  ClusterEntry entry;
  entry.known = cluster.known && !cluster.presence.detached;
  entry.totals_accepted = cluster.totals_accepted;
  entry.mapped = cluster.mapped;
  for (const auto& [key, value] : cluster.capacity) entry.accepted[key] = value.damped.accepted;
  entry.has_member = has_member(state.configuration, cluster);
  for (const auto& [name, work] : cluster.member.quota_works)
    for (const WorkFeedback& feedback : work.facts.feedback)
      if (entry.has_member && feedback.has_usage)
        entry.usage[feedback.cluster_queue] = pair_amounts(feedback.usage, aliases);
  for (const auto& [name, queue] : cluster.member.queues)
    entry.usage[name] = pair_amounts(queue.usage, aliases);
  return entry;
}

// Whether the entry has what is accepted of the cluster now. Its usage changes by events alone.
bool same_capacity(const State& state, const Cluster& cluster, const ClusterEntry& entry) {
  return entry.known == (cluster.known && !cluster.presence.detached) &&
         entry.totals_accepted == cluster.totals_accepted && entry.mapped == cluster.mapped &&
         entry.has_member == has_member(state.configuration, cluster) &&
         std::equal(entry.accepted.begin(), entry.accepted.end(), cluster.capacity.begin(),
                    cluster.capacity.end(), [](const auto& accepted, const auto& value) {
                      return accepted.first == value.first &&
                             accepted.second == value.second.damped.accepted;
                    });
}

const std::string& cluster_named(const Claim& claim) {
  return claim.terms ? claim.terms->cluster : claim.facts.spec.cluster_name;
}

}  // namespace

// What the two note() see together is every input of every entry:
// - An entry of a claim follows from the claim and from which claims of its cluster are in force;
//   both change only when a claim is observed or goes, and add_competitors() has the others of the
//   cluster. One that is gone is in no dirty set, so claims come by events alone.
// - An entry of a flavor follows from whether the hub has it, which only an event about it changes,
//   and from claims.
// - Of a cluster the usage comes by events: ClusterQueues there, the feedback of its ManifestWork.
//   What was accepted, `mapped` and the rest also change with time alone, when a moment closes: the
//   fold puts the name into `clusters` or `accepted` then. `capacities` is not read, because what
//   nodes offer is in no entry.
// - Of a queue the facts come by events. What the hub wrote, conflicts, orchestrators, automated
//   quota and the following of workers do not: a rule that changes one of them marks the queue.
// - The configuration is in most entries: all are made anew.
void AdmissionMirror::note(std::span<const Event> events) {
  const auto touch = [&](const SourceName& source, const ObjectKey& key) {
    if (source != kHub) {
      if (key.kind == Kind::cluster_queue) clusters_.insert(source);
      return;
    }
    if (key.kind == Kind::claim) claims_.insert(key.name);
    if (key.kind == Kind::cluster_queue) queues_.insert(key.name);
    if (key.kind == Kind::resource_flavor) flavors_.insert(key.name);
    if (key.kind == Kind::managed_cluster) clusters_.insert(key.name);
    if (key.kind == Kind::manifest_work) clusters_.insert(key.namespace_);
  };
  for (const Event& event : events) {
    if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) touch(event.source, seen->key);
    if (const auto* gone = std::get_if<ObjectGone>(&event.fact)) touch(event.source, gone->key);
    if (std::holds_alternative<ConfigChanged>(event.fact)) everything_ = true;
  }
}

// Queues are noted as they are marked. Clusters are compared first, because a queue that changes
// marks all clusters around it.
void AdmissionMirror::note(const State& state, const DirtySet& dirty) {
  everything_ = everything_ || dirty.everything;
  if (everything_) return;
  queues_.insert(dirty.queues.begin(), dirty.queues.end());
  for (const auto* names : {&dirty.clusters, &dirty.accepted})
    for (const std::string& name : *names) {
      const auto at = state.clusters.find(name);
      const ClusterEntry* entry = last_.clusters.find(name);
      if (at == state.clusters.end() ? entry != nullptr
                                     : !entry || !same_capacity(state, at->second, *entry))
        clusters_.insert(name);
    }
}

void AdmissionMirror::note_all(const State& state) {
  last_.terms = std::make_shared<AdmissionTerms>(admission_terms(state.configuration));
  const auto add = [](std::set<std::string>& names, const auto& map) {
    for (const auto& entry : map) names.insert(entry.first);
  };
  add(claims_, state.claims.by_name);
  add(claims_, counted_);
  add(clusters_, state.clusters);
  add(queues_, state.queues.by_name);
  add(queues_, of_queue_);
  add(flavors_, state.flavors.by_name);
  add(flavors_, of_flavor_);
}

void AdmissionMirror::count_out(const std::string& name) {
  const auto at = counted_.find(name);
  if (at == counted_.end()) return;
  const Counted& was = at->second;
  if (const auto holder = in_force_.find(was.cluster);
      holder != in_force_.end() && holder->second == name) {
    in_force_.erase(holder);
    clusters_.insert(was.cluster);
  }
  for (const AssignmentRow& row : was.rows) {
    queues_.insert(row.cluster_queue);
    flavors_.insert(row.flavor);
    count_down(of_flavor_[row.flavor], name);
    QueueClaims& queue = of_queue_[row.cluster_queue];
    count_down(queue.claims, name);
    const auto pair = queue.pairs.find({row.flavor, row.resource});
    // count_in() has made the entry, and a claim names a pair once: understand() refuses a second.
    pair->second.claims.erase(name);
    if (was.in_force) --pair->second.in_force;
    if (pair->second.claims.empty()) queue.pairs.erase(pair);
    if (queue.claims.empty()) of_queue_.erase(row.cluster_queue);
    if (of_flavor_[row.flavor].empty()) of_flavor_.erase(row.flavor);
  }
  counted_.erase(at);
}

void AdmissionMirror::count_in(const State& state, const std::string& name) {
  const auto at = state.claims.by_name.find(name);
  if (at == state.claims.by_name.end() || at->second.facts.deleting) return;
  const Claim& claim = at->second;
  Counted& counted = counted_[name];
  counted.cluster = cluster_named(claim);
  counted.in_force = claim.winner;
  if (claim.terms) counted.rows = claim.terms->rows;
  if (claim.winner) {
    in_force_[counted.cluster] = name;
    clusters_.insert(counted.cluster);
  }
  for (const AssignmentRow& row : counted.rows) {
    queues_.insert(row.cluster_queue);
    flavors_.insert(row.flavor);
    ++of_flavor_[row.flavor][name];
    QueueClaims& queue = of_queue_[row.cluster_queue];
    ++queue.claims[name];
    PairClaims& pair = queue.pairs[{row.flavor, row.resource}];
    pair.claims.insert(name);
    if (claim.winner) ++pair.in_force;
  }
}

// A claim that came, changed or went may have decided which other claim of its cluster is in force.
void AdmissionMirror::add_competitors(const State& state) {
  std::set<std::string> around;
  for (const std::string& name : claims_) {
    if (const auto was = counted_.find(name); was != counted_.end())
      around.insert(was->second.cluster);
    if (const auto is = state.claims.by_name.find(name); is != state.claims.by_name.end())
      around.insert(cluster_named(is->second));
  }
  for (const std::string& cluster : around)
    if (const auto claims = state.claims.of_cluster.find(cluster);
        claims != state.claims.of_cluster.end())
      claims_.insert(claims->second.begin(), claims->second.end());
}

// First all that was, then all that is: a claim that takes a cluster over must not be counted out
// by the one that had it.
void AdmissionMirror::recount_claims(const State& state) {
  add_competitors(state);
  for (const std::string& name : claims_) count_out(name);
  for (const std::string& name : claims_) count_in(state, name);
}

SharedMap<ClaimEntry>::Changes AdmissionMirror::claim_changes(const State& state) const {
  SharedMap<ClaimEntry>::Changes changes;
  for (const std::string& name : claims_) {
    auto& entry = changes[name];
    const auto at = state.claims.by_name.find(name);
    if (at == state.claims.by_name.end()) continue;
    const Claim& claim = at->second;
    entry =
        std::make_shared<ClaimEntry>(ClaimEntry{cluster_named(claim), claim.winner, claim.terms});
  }
  return changes;
}

SharedMap<ClusterEntry>::Changes AdmissionMirror::cluster_changes(const State& state) const {
  SharedMap<ClusterEntry>::Changes changes;
  for (const std::string& name : clusters_) {
    auto& entry = changes[name];
    const auto at = state.clusters.find(name);
    const auto claim = in_force_.find(name);
    if (at == state.clusters.end() && claim == in_force_.end()) continue;
    auto made = std::make_shared<ClusterEntry>();
    if (at != state.clusters.end()) *made = cluster_entry(state, at->second);
    if (claim != in_force_.end()) made->claim = claim->second;
    entry = std::move(made);
  }
  return changes;
}

std::shared_ptr<const QueueEntry> AdmissionMirror::queue_entry(const State& state,
                                                               const std::string& name) const {
  const auto at = state.queues.by_name.find(name);
  const auto claims = of_queue_.find(name);
  const bool present = at != state.queues.by_name.end() && at->second.present;
  if (!present && claims == of_queue_.end()) return nullptr;
  auto entry = std::make_shared<QueueEntry>();
  entry->present = present;
  if (claims != of_queue_.end()) {
    entry->claims = first_names(claims->second.claims);
    for (const auto& [pair, of_pair] : claims->second.pairs)
      entry->pairs[pair] = {first_names(of_pair.claims), of_pair.in_force, std::nullopt};
  }
  if (!present) return entry;
  const Queue& queue = at->second;
  entry->set_back = !state.configuration.record && !quota_automated(state.multikueue, queue) &&
                    !orchestration_of(state.queues, queue) &&
                    (!queue.workers.follows || queue.workers.known);
  entry->follows_workers = queue.workers.follows;
  entry->contested = queue.contested;
  entry->usage = pair_amounts(queue.facts.usage, state.configuration.resource_aliases);
  for (auto& [pair, of_pair] : entry->pairs)
    if (const auto written = queue.written.find(pair); written != queue.written.end())
      of_pair.quota = written->second;
  return entry;
}

SharedMap<QueueEntry>::Changes AdmissionMirror::queue_changes(const State& state) const {
  SharedMap<QueueEntry>::Changes changes;
  for (const std::string& name : queues_) changes[name] = queue_entry(state, name);
  return changes;
}

SharedMap<FlavorEntry>::Changes AdmissionMirror::flavor_changes(const State& state) const {
  SharedMap<FlavorEntry>::Changes changes;
  for (const std::string& name : flavors_) {
    auto& entry = changes[name];
    const bool present = flavor_exists(state.flavors, name);
    const auto claims = of_flavor_.find(name);
    if (!present && claims == of_flavor_.end()) continue;
    entry = std::make_shared<FlavorEntry>(FlavorEntry{
        present, claims == of_flavor_.end() ? FirstNames{} : first_names(claims->second)});
  }
  return changes;
}

bool AdmissionMirror::is_current() const {
  return !everything_ && clusters_.empty() && claims_.empty() && queues_.empty() &&
         flavors_.empty();
}

std::shared_ptr<const AdmissionView> AdmissionMirror::next(const State& state, ViewState synced) {
  if (synced == ViewState::unsynced) {
    everything_ = true;  // what was noted meanwhile was not kept
    auto view = std::make_shared<AdmissionView>();
    view->terms = std::make_shared<AdmissionTerms>(admission_terms(state.configuration));
    return view;
  }
  // Most steps of the hub change nothing that a view has: then readers keep the one that they hold.
  if (made_ && is_current()) return made_;
  last_.state = synced;
  if (std::exchange(everything_, false)) note_all(state);
  recount_claims(state);
  last_.claims = last_.claims.with(claim_changes(state));
  last_.clusters = last_.clusters.with(cluster_changes(state));
  last_.queues = last_.queues.with(queue_changes(state));
  last_.flavors = last_.flavors.with(flavor_changes(state));
  for (auto* dirty : {&clusters_, &claims_, &queues_, &flavors_}) dirty->clear();
  made_ = std::make_shared<const AdmissionView>(last_);
  return made_;
}

AdmissionView view_of(const State& state) {
  return *AdmissionMirror().next(state, ViewState::synced);
}

}  // namespace fairlead
