#include "engine/ingest/ingest.h"

#include <algorithm>

#include "engine/base/resource_version.h"
#include "engine/fold/held.h"
#include "engine/fold/multikueue/finished_workloads.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/writes/record.h"
#include "engine/ingest/comparison.h"

namespace fairlead {

namespace {

template <class Map, class Key>
const typename Map::mapped_type* find(const Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

// The last logged version of a ClusterQueue or claim of the hub; empty if there is none.
std::string_view logged_version(const State& state, const ObjectKey& key) {
  if (key.kind != Kind::cluster_queue && key.kind != Kind::claim) return "";
  const auto known = held(state, std::string(kHub), key);
  return known ? known->resource_version : "";
}

// Whether a stream of a tenant counts as silent.
bool is_silent(const State& state, const SourceName& source, Kind kind) {
  const PoolTenant* const tenant = find(state.pool.tenants, std::string(tenant_of(source)));
  return tenant && tenant->silent.contains(kind);
}

// Whether an event that the stream is alive would change State: the stream counted as silent or
// lost, or a hold waits for a second observation.
bool sign_matters(const State& state, const SourceName& source, Kind kind) {
  if (is_tenant(source)) return is_silent(state, source, kind);
  if (kind == Kind::config_map) return state.pool.unlearnt.contains(source);
  if (source != kHub && has_noted_silence(kind)) {
    const Cluster* at = find(state.clusters, source);
    const bool first = kind == Kind::workload && (!at || !at->member.workloads_listed);
    return first || (at && at->member.silent.contains(kind));
  }
  if (kind == Kind::node) {
    const Cluster* at = find(state.clusters, source);
    return source != kHub && (!at || !at->reports.nodes_known || at->hold ||
                              at->reports.liveness[0] != Liveness::live);
  }
  if (kind == Kind::resource_slice) {
    const Cluster* at = find(state.clusters, source);
    return source != kHub && at && (at->hold || at->device_capacity.stream != Liveness::live);
  }
  if (source == kHub && state.silent.contains(kind)) return true;
  if (source == kHub && is_of_multikueue_path(kind))
    return state.multikueue.unreadable.contains(kind);
  if (source == kHub && is_of_every_quota(kind)) return false;
  if (source != kHub || (kind != Kind::cluster_metrics && kind != Kind::managed_cluster))
    return false;
  if (state.hub_streams[kind == Kind::cluster_metrics ? 0 : 1] != Liveness::live) return true;
  return std::any_of(state.clusters.begin(), state.clusters.end(),
                     [](const auto& entry) { return entry.second.hold; });
}

Liveness liveness_at(const State& state, const SourceName& source, Kind kind) {
  if (kind == Kind::node || kind == Kind::resource_slice) {
    const Cluster* at = find(state.clusters, source);
    if (!at) return Liveness::live;
    return kind == Kind::node ? at->reports.liveness[0] : at->device_capacity.stream;
  }
  return state.hub_streams[kind == Kind::cluster_metrics ? 0 : 1];
}

ObjectObserved observed(const ObjectSeen& seen, const Digest& raw_digest) {
  return {seen.key,   seen.version, seen.uid, seen.resource_version, seen.generation, seen.facts,
          raw_digest, seen.writers, seen.read};
}

// Whether the Pod of a super cluster was made for a tenant's Pod that asks for no devices: then no
// claim of it will replace a reservation. A syncer keeps the names of Pods.
bool asks_for_no_devices(const State& state, const SourceName& source, const ObjectSeen& seen) {
  const auto space = state.pool.super_namespaces.find({source, seen.key.namespace_});
  if (space == state.pool.super_namespaces.end()) return false;
  const NamespaceFacts& of = space->second.seen.facts;
  const PoolPod* const pod = find_pod(state.pool, {of.tenant, of.tenant_namespace, seen.key.name});
  return pod && pod->seen.uid == std::get<PodFacts>(seen.facts).origin().tenant_uid &&
         !pod->seen.facts.devices;
}

// Whether a member's object is ignored: a namespace that was made for no tenant, or a Pod whose
// claims decide nothing here.
bool is_foreign(const State& state, const SourceName& source, const ObjectSeen& seen) {
  if (is_tenant(source)) return false;
  if (seen.key.kind == Kind::pod) {
    const PodOrigin& origin = std::get<PodFacts>(seen.facts).origin();
    if (!origin.workload.empty() && !origin.pod_set.empty()) return false;
    return origin.tenant_uid.empty() || asks_for_no_devices(state, source, seen);
  }
  return seen.key.kind == Kind::namespace_ && std::get<NamespaceFacts>(seen.facts).tenant.empty();
}

bool is_capacity_source(const SourceName& source, Kind kind) {
  return source == kHub ? kind == Kind::cluster_metrics || kind == Kind::managed_cluster
                        : kind == Kind::node || kind == Kind::resource_slice;
}

// Returns what counts a report that a stream is stale or lost and that changes nothing; nullptr for
// one that is logged.
std::uint64_t IngestCounts::* silence_is_dropped(const State& state, const SourceName& source,
                                                 Kind kind, Liveness liveness) {
  const auto dropped_if = [](bool known) { return known ? &IngestCounts::unchanged : nullptr; };
  const bool lost = liveness == Liveness::lost;
  if (source == kHub && is_of_multikueue_path(kind)) {
    if (!lost) return dropped_if(!is_silence_noted(kind) || state.silent.contains(kind));
    return dropped_if(state.multikueue.unreadable.contains(kind));
  }
  if (source == kHub && is_of_every_quota(kind)) return dropped_if(state.silent.contains(kind));
  if (is_tenant(source)) {
    if (!state.pool.tenants.contains(std::string(tenant_of(source)))) return &IngestCounts::foreign;
    if (is_of_devices(kind)) return &IngestCounts::unchanged;
    return dropped_if(is_silent(state, source, kind));
  }
  if (source != kHub && kind == Kind::config_map)
    return dropped_if(!lost || state.pool.unlearnt.contains(source) ||
                      state.pool.learnt.contains(source));
  if (source != kHub && has_noted_silence(kind)) {
    const Cluster* at = find(state.clusters, source);
    const bool read = at && (kind != Kind::workload || at->member.workloads_listed);
    return dropped_if(!read || at->member.silent.contains(kind));
  }
  if (!is_capacity_source(source, kind)) return &IngestCounts::foreign;
  return dropped_if(liveness_at(state, source, kind) == liveness);
}

}  // namespace

bool Ingest::is_older(const SourceName& source, const ObjectKey& key, const std::string& uid,
                      const std::string& resource_version, ReportedBy by) {
  Version& newest = newest_.find_or_make(source, key);
  if (newest.uid == uid && is_lower_version(resource_version, newest.resource_version)) {
    // The answer to a write came before the stream: the version is new to the stream all the same.
    if (by == ReportedBy::stream && !is_lower_version(resource_version, newest.streamed))
      newest.streamed = PackedVersion(resource_version);
    return true;
  }
  if (by == ReportedBy::stream)
    newest.streamed = PackedVersion(resource_version);
  else if (newest.uid != uid)
    newest.streamed = {};
  newest.uid = PackedUid(uid);
  newest.resource_version = PackedVersion(resource_version);
  if (by == ReportedBy::answer)
    answered_.insert({source, key});
  else if (!answered_.empty())
    answered_.erase({source, key});
  return false;
}

// Called before the version is compared. After a restore of the store its versions start lower, so
// the version that was known of the object must not make the current one look old. During the first
// list a version lower than the logged one shows that the store was restored while no hub ran.
void Ingest::note_version(const State& state, const SourceName& source, const ObjectSeen& seen) {
  const bool first_list = source == kHub && !listed_.contains({source, seen.key.kind});
  if (!first_list && !seen.went_back) return;
  if (seen.went_back) newest_.erase(source, seen.key);
  if (first_list && !newest_.find(source, seen.key) &&
      is_lower_version(seen.resource_version, logged_version(state, seen.key)))
    behind_log_.insert({source, seen.key.kind});
}

// Whether the list proves that results of our writes are lost, because the store was restored: the
// fold must then stop waiting to observe them. A bookmark counts as a list without items.
bool Ingest::shows_loss(const State& state, const SourceName& source, const ListCompleted& list) {
  const std::pair stream{source, list.kind};
  const bool went_back = behind_log_.erase(stream) > 0 || list.went_back;
  // A write that awaited its observation before the first list was answered before that list was
  // requested, so the list must contain its result.
  const bool first = !list.resource_version.empty() && listed_.insert(stream).second;
  const ListCompleted listed{list.kind, list.resource_version, went_back || first};
  // In every case, so not in the expression below. awaits_in_vain() reads of a version only
  // `streamed`, which this leaves as it is.
  const bool forgot = forget_answers(source, listed);
  return awaits_in_vain(state, source, listed) || forgot || went_back;
}

// Forgets versions that only answers named and that the stream has passed without reporting them.
// Returns whether there were any.
bool Ingest::forget_answers(const SourceName& source, const ListCompleted& listed) {
  bool any = false;
  auto at = answered_.lower_bound({source, ObjectKey{listed.kind, "", ""}});
  while (at != answered_.end() && at->first == source && at->second.kind == listed.kind) {
    Version& newest = *newest_.find(source, at->second);
    const bool passed = listed.went_back ||
                        includes_version(listed.resource_version, newest.resource_version.text());
    if (passed) newest.resource_version = PackedVersion(newest.streamed.text());
    any = any || passed;
    at = passed ? answered_.erase(at) : std::next(at);
  }
  return any;
}

bool Ingest::awaits_in_vain(const State& state, const SourceName& source,
                            const ListCompleted& listed) const {
  const auto in_vain = [&](const WriteKey& key, const WriteState& write) {
    const auto* newest = newest_.find(source, key.object);
    // The draft that logs it as gone is in this batch and not folded yet.
    if (!newest && held(state, source, key.object)) return false;
    if (write.awaits_end) return newest && listed.went_back;
    if (newest && !is_lower_version(newest->streamed.text(), write.awaited_version)) return false;
    return listed.went_back || includes_version(listed.resource_version, write.awaited_version);
  };
  for (auto at = state.writes.by_key.lower_bound({source, {listed.kind, "", ""}, false});
       at != state.writes.by_key.end() && at->first.cluster == source &&
       at->first.object.kind == listed.kind;
       ++at)
    if (at->second.awaits() && in_vain(at->first, at->second)) return true;
  return false;
}

// An observation of a claim that changes nothing is dropped, and so is the status that our write
// under way makes, which State does not have until the answer comes.
void Ingest::note_dropped_status(const State& state, const ObjectSeen& seen) {
  const auto& facts = std::get<ClaimFacts>(seen.facts);
  if (facts.status_digest == state.claims.by_name.at(seen.key.name).facts.status_digest)
    dropped_statuses_.erase(seen.key.name);
  else
    dropped_statuses_[seen.key.name] = {facts.status_digest, facts.status_grants};
}

// Whether State takes up a Workload that it does not hold. All drafts of a batch are compared with
// one State, so those before it in the batch take room, too.
bool Ingest::has_room(const State& state, const SourceName& source, const WorkloadFacts& workload) {
  if (room_of_ != state.seq) drafted_.clear();
  room_of_ = state.seq;
  auto room = static_cast<std::size_t>(state.configuration.workloads.max);
  // Those that finished make room, but for one that finished itself.
  if (!workload.finished) room += count_finished(state, source);
  std::size_t& drafted = drafted_[source];
  if (held_workloads(state, source) + drafted >= room) return false;
  ++drafted;
  return true;
}

// Makes the draft of one fact of `source`: an overload for each sort of fact.
struct Ingest::Drafting {
  Ingest& ingest;
  const State& state;
  const SourceName& source;

  static std::nullopt_t drop(std::uint64_t& count) {
    ++count;
    return std::nullopt;
  }
  EventDraft log(Fact what) const {
    ++counts().logged;
    return EventDraft{source, Seq{}, std::move(what)};
  }
  IngestCounts& counts() const { return ingest.counts_; }

  std::optional<EventDraft> operator()(const ObjectSeen& seen) const {
    // An object that State holds may have become foreign by an edit: State forgets it. One that
    // State does not hold is dropped as unchanged.
    if (is_foreign(state, source, seen))
      return (*this)(ObjectMissing{seen.key, seen.uid, seen.resource_version});
    if (!is_read_from(source, seen.key.kind)) return drop(counts().foreign);
    ingest.note_version(state, source, seen);
    if (ingest.is_older(source, seen.key, seen.uid, seen.resource_version, ReportedBy::stream))
      return drop(counts().older);
    if (is_unchanged(state, source, seen) && !awaits_observation(state.writes, source, seen.key)) {
      if (seen.key.kind == Kind::claim) ingest.note_dropped_status(state, seen);
      return drop(counts().unchanged);
    }
    if (seen.key.kind == Kind::claim) ingest.dropped_statuses_.erase(seen.key.name);
    if (seen.key.kind == Kind::workload && !held(state, source, seen.key))
      if (const auto reason = not_taken_up(std::get<WorkloadFacts>(seen.facts)))
        return drop(counts().*reason);
    // Not before: making the stored form costs more than the comparisons, at which most facts end.
    std::string raw = seen.raw.kept();
    EventDraft draft = log(observed(seen, raw.empty() ? Digest{} : sha256(raw)));
    draft.raw = std::move(raw);
    return draft;
  }
  // For a Workload that State does not hold. Returns nullptr if it is logged, else the counter of
  // the reason. One that finished before the time that State keeps is not logged: State would
  // forget it at once, and the next list would log it again. One that may have devices or claims
  // is logged all the same, so that they are ended.
  std::uint64_t IngestCounts::* not_taken_up(const WorkloadFacts& workload) const {
    const auto& progress = workload.progress;
    if (workload.finished && workload.pod_sets.empty() && progress && progress->finished_at &&
        is_past(state, *progress->finished_at))
      return &IngestCounts::unchanged;
    return ingest.has_room(state, source, workload) ? nullptr : &IngestCounts::beyond_max;
  }
  std::optional<EventDraft> operator()(const ObjectUnchanged& same) const {
    if (!is_read_from(source, same.key.kind)) return drop(counts().foreign);
    if (ingest.is_older(source, same.key, same.uid, same.resource_version, ReportedBy::stream))
      return drop(counts().older);
    if (!awaits_observation(state.writes, source, same.key)) return drop(counts().unchanged);
    // Our write was observed although it changed no facts: the fold awaits that observation.
    const auto known = held(state, source, same.key);
    auto facts = held_facts(state, source, same.key);
    if (!facts) return drop(counts().unchanged);
    if (auto* claim = std::get_if<ClaimFacts>(&*facts))
      if (const auto dropped = ingest.dropped_statuses_.extract(same.key.name); !dropped.empty()) {
        claim->status_digest = dropped.mapped().digest;
        claim->status_grants = dropped.mapped().grants;
      }
    return log(ObjectObserved{same.key, same.version, same.uid, same.resource_version,
                              known->generation, *std::move(facts), Digest{}});
  }
  std::optional<EventDraft> operator()(const ObjectMissing& missing) const {
    ingest.newest_.erase(source, missing.key);
    ingest.answered_.erase({source, missing.key});
    if (missing.key.kind == Kind::claim) ingest.dropped_statuses_.erase(missing.key.name);
    if (!is_read_from(source, missing.key.kind)) return drop(counts().foreign);
    if (!held(state, source, missing.key)) return drop(counts().unchanged);
    return log(ObjectGone{missing.key, missing.uid, missing.resource_version});
  }
  std::optional<EventDraft> operator()(const ListCompleted& list) const {
    if (!ingest.shows_loss(state, source, list) && !sign_matters(state, source, list.kind))
      return drop(counts().unchanged);
    return log(SourceSynced{list.kind, "", list.resource_version});
  }
  // A bookmark lists nothing. It shows the end of waiting for what the stream has passed, as a list
  // does; any other is a sign of life alone.
  std::optional<EventDraft> operator()(const StreamAlive& alive) const {
    const bool passed = ingest.shows_loss(state, source, {alive.kind, alive.resource_version});
    if (!passed && !sign_matters(state, source, alive.kind)) return drop(counts().unchanged);
    return log(SourceSynced{alive.kind, "", passed ? alive.resource_version : std::string()});
  }
  std::optional<EventDraft> operator()(const StreamStale& stale) const {
    if (const auto reason = silence_is_dropped(state, source, stale.kind, liveness_of(stale.cause)))
      return drop(counts().*reason);
    return log(SourceStale{stale.kind, "", stale.cause});
  }
  std::optional<EventDraft> operator()(const StreamLost& lost) const {
    if (const auto reason = silence_is_dropped(state, source, lost.kind, Liveness::lost))
      return drop(counts().*reason);
    return log(SourceLost{lost.kind, ""});
  }
};

std::optional<EventDraft> Ingest::draft(const State& state, const WatchFact& fact) {
  return std::visit(Drafting{*this, state, fact.source}, fact.said);
}

void Ingest::wrote(const SourceName& source, const ObjectKey& key, const std::string& uid,
                   const std::string& resource_version) {
  const Version* newest = newest_.find(source, key);
  if (!resource_version.empty() && newest && newest->uid == uid)
    is_older(source, key, uid, resource_version, ReportedBy::answer);
}

std::string Ingest::newest_version(const SourceName& source, const ObjectKey& key) const {
  const auto* version = newest_.find(source, key);
  return version ? version->resource_version.text() : "";
}

std::optional<WatchFact> Ingest::observed_since(const SourceName& source, const ObjectKey& key,
                                                const std::string& version,
                                                const std::string& before) const {
  const auto* newest = newest_.find(source, key);
  if (!newest || newest->streamed.empty() || newest->streamed == before) return std::nullopt;
  if (is_lower_version(newest->streamed.text(), before)) return std::nullopt;
  return WatchFact{source,
                   ObjectUnchanged{key, version, newest->uid.text(), newest->streamed.text()}};
}

}  // namespace fairlead
