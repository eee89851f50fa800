#include "replay/waiting/wait_recorder.h"

#include <algorithm>

#include "engine/fold/state.h"

namespace fairlead {

namespace {

// The streams whose silence is the silence of an API server: those that an answer is made of, and
// the Nodes, which every member has. Another kind may stay unread without the rest being silent.
bool shows_silence(std::optional<Kind> kind) {
  return !kind || kind == Kind::workload || kind == Kind::cluster_queue ||
         kind == Kind::local_queue || kind == Kind::node;
}

WaitStretch stretch_of(const WorkloadFacts& workload, LogTime from, const std::string& queue) {
  WaitStretch out;
  out.from = out.seen = from;
  out.reason = wait_reason_of(workload);
  out.cluster_queue = queue;
  if (workload.progress) out.requests = requests_of(workload.progress->requests);
  if (workload.quota_reserved)
    for (const WorkloadCheck& check : workload.checks)
      if (check.state != "Ready") out.checks.push_back(check);
  if (out.reason.of == WaitClass::worker)
    out.workers = workload.cluster_name.empty() ? workload.nominated_clusters
                                                : std::vector{workload.cluster_name};
  return out;
}

// Ends a stretch with what is short then.
void close_stretch(ServerWaits& server, WaitStretch& stretch, LogTime to,
                   std::vector<Shortage> shortage) {
  stretch.to = to;
  if (!stretch.fit) return;
  stretch.shortage = std::move(shortage);
  server.fits.forget(stretch.cluster_queue, *stretch.requests);
}

std::vector<Shortage> shortage_at(const std::map<NamespacedName, std::vector<Shortage>>& shortages,
                                  const NamespacedName& id) {
  const auto at = shortages.find(id);
  return at == shortages.end() ? std::vector<Shortage>() : at->second;
}

NamespacedName local_queue_of(const NamespacedName& id, const WaitHistory& history) {
  return {id.first, history.queue};
}

ClusterQueueFacts facts_of(const Queue& queue) { return queue.facts; }
ClusterQueueFacts facts_of(const MemberQueue& queue) {
  ClusterQueueFacts facts;
  facts.groups = queue.groups;
  facts.effective = queue.effective;
  facts.cohort = queue.cohort;
  facts.reserved = queue.reserved;
  return facts;
}

}  // namespace

// ---- what events say

void WaitRecorder::Changes::add(Change change) {
  const auto [at, is_first] = last.try_emplace(change.id, all.size());
  Change* before = is_first ? nullptr : &all[at->second];
  if (before != nullptr && before->facts && change.facts && before->uid == change.uid) {
    before->facts = std::move(change.facts);
    before->causes.insert(before->causes.end(), change.causes.begin(), change.causes.end());
    return;
  }
  at->second = all.size();
  all.push_back(std::move(change));
}

ServerWaits& WaitRecorder::server_of(const SourceName& source) {
  const auto [at, is_new] = servers_.try_emplace(source);
  if (is_new && !scope_.keeps_ended) at->second.fits.keep_last_steps();
  return at->second;
}

void WaitRecorder::observe(const Event& event, LogTime time) {
  if (time > now_) {
    close_moment();
    now_ = time;
  }
  if (event.source != kSelf) {
    ServerWaits& server = server_of(event.source);
    if (!server.heard) server.heard = now_;
    touched_.insert(event.source);
    if (const auto* seen = std::get_if<ObjectObserved>(&event.fact))
      return note(server, event, *seen);
    if (const auto* gone = std::get_if<ObjectGone>(&event.fact))
      return note_gone(server, event, *gone);
  }
  if (const auto* stale = std::get_if<SourceStale>(&event.fact)) {
    // Of too many objects those that are read count.
    if (stale->cause == StaleCause::too_many) return;
    note_sign(stale->cluster.empty() ? event.source : stale->cluster, event, stale->kind, Seq{});
  } else if (const auto* lost = std::get_if<SourceLost>(&event.fact)) {
    note_sign(lost->cluster.empty() ? event.source : lost->cluster, event, lost->kind, Seq{});
  } else if (const auto* synced = std::get_if<SourceSynced>(&event.fact)) {
    note_sign(synced->cluster.empty() ? event.source : synced->cluster, event, synced->kind,
              event.seq);
  } else if (const auto* intent = std::get_if<PatchIntended>(&event.fact)) {
    writes_.intended(event, *intent);
  } else if (const auto* accepted = std::get_if<PatchAccepted>(&event.fact)) {
    writes_.accepted(*accepted);
  } else if (const auto* changed = std::get_if<ConfigChanged>(&event.fact)) {
    workers_.configure(changed->configuration);
  }
}

// `ended` is the event that ends the silence of the stream; 0: it begins.
void WaitRecorder::note_sign(const SourceName& source, const Event& event, std::optional<Kind> kind,
                             Seq ended) {
  if (!shows_silence(kind) || is_tenant(source)) return;
  ServerWaits& server = server_of(source);
  const bool was_silent = !server.silent.empty();
  if (ended == Seq{}) {
    server.silent.insert(kind);
    if (was_silent) return;
    server.silences.push_back({now_, kForever, event.seq, Seq{}});
    return server.fits.mark(now_);
  }
  if (kind) {
    server.silent.erase(kind);
    server.silent.erase(std::nullopt);
  } else {
    server.silent.clear();
  }
  if (!was_silent || !server.silent.empty()) return;
  server.silences.back().to = now_;
  server.silences.back().ended = ended;
}

void WaitRecorder::note(ServerWaits& server, const Event& event, const ObjectObserved& seen) {
  const std::string& name = seen.key.name;
  const NamespacedName id{seen.key.namespace_, name};
  if (const auto* workload = std::get_if<WorkloadFacts>(&seen.facts)) {
    if (scope_.only && id != *scope_.only) return;
    changes_[event.source].add({id, seen.uid, *workload, false, writes_.of(event, seen)});
  } else if (const auto* queue = std::get_if<ClusterQueueFacts>(&seen.facts)) {
    note_queue(server, event, seen, *queue);
  } else if (const auto* cohort = std::get_if<CohortFacts>(&seen.facts)) {
    server.fits.quotas().set_cohort(name, cohort, {event.seq});
  } else if (const auto* local = std::get_if<LocalQueueFacts>(&seen.facts)) {
    note_local_queue(event.source, id, local->cluster_queue, {event.seq});
  } else if (event.source != kHub) {
    return;
  } else if (const auto* worker = std::get_if<MultiKueueClusterFacts>(&seen.facts)) {
    workers_.observe(name, *worker);
  } else if (const auto* config = std::get_if<MultiKueueConfigFacts>(&seen.facts)) {
    workers_.observe(name, *config);
  }
}

void WaitRecorder::note_queue(ServerWaits& server, const Event& event, const ObjectObserved& seen,
                              const ClusterQueueFacts& queue) {
  const std::vector<Seq> causes = writes_.of(event, seen);
  server.queues.insert(seen.key.name);
  server.fits.quotas().set_queue(seen.key.name, &queue, causes);
  if (scope_.lowered && event.source == kHub)
    scope_.lowered->observe(seen.key.name, queue, {now_, event.seq, causes});
}

void WaitRecorder::note_gone(ServerWaits& server, const Event& event, const ObjectGone& gone) {
  const NamespacedName id{gone.key.namespace_, gone.key.name};
  if (gone.key.kind == Kind::workload) {
    if (scope_.only && id != *scope_.only) return;
    changes_[event.source].add({id, gone.uid, std::nullopt, true, {event.seq}});
  } else if (gone.key.kind == Kind::cluster_queue) {
    server.fits.quotas().set_queue(gone.key.name, nullptr, {event.seq});
  } else if (gone.key.kind == Kind::cohort) {
    server.fits.quotas().set_cohort(gone.key.name, nullptr, {event.seq});
  } else if (gone.key.kind == Kind::local_queue) {
    note_local_queue(event.source, id, "", {event.seq});
  }
}

void WaitRecorder::note_local_queue(const SourceName& source, const NamespacedName& id,
                                    const std::string& cluster_queue,
                                    const std::vector<Seq>& causes) {
  ServerWaits& server = server_of(source);
  std::string& known = server.local_queues[id];
  if (known == cluster_queue) return;
  known = cluster_queue;
  if (const auto waiting = server.waiting_in.find(id); waiting != server.waiting_in.end())
    for (const NamespacedName& workload : waiting->second)
      changes_[source].add({workload, "", std::nullopt, false, causes});
}

static const SeenWorkload& seen_of(const WorkloadRecord& workload) { return workload.seen; }
static const SeenWorkload& seen_of(const SeenWorkload& workload) { return workload; }

void WaitRecorder::begin_with(const State& state) {
  now_ = state.now;
  workers_.configure(state.configuration);
  for (const auto& [name, worker] : state.multikueue.clusters) workers_.observe(name, worker.facts);
  for (const auto& [name, config] : state.multikueue.configs) workers_.observe(name, config.facts);
  const auto add = [this](const SourceName& source, const auto& queues, const auto& cohorts,
                          const auto& local_queues, const auto& workloads) {
    ServerWaits& server = server_of(source);
    server.heard = now_;
    touched_.insert(source);
    for (const auto& [name, queue] : queues) {
      const ClusterQueueFacts facts = facts_of(queue);
      server.queues.insert(name);
      server.fits.quotas().set_queue(name, &facts, {});
    }
    for (const auto& [name, cohort] : cohorts)
      if constexpr (requires { cohort.facts; })
        server.fits.quotas().set_cohort(name, &cohort.facts, {});
      else
        server.fits.quotas().set_cohort(name, &cohort, {});
    for (const auto& [id, local] : local_queues) server.local_queues[id] = local.cluster_queue;
    for (const auto& [id, workload] : workloads)
      if (!scope_.only || id == *scope_.only) {
        const auto seen = seen_of(workload).read();
        changes_[source].add({id, seen->uid, seen->facts, false, {}});
      }
  };
  std::map<std::string, Queue> present;
  for (const auto& [name, queue] : state.queues.by_name)
    if (queue.present) present.emplace(name, queue);
  add(SourceName(kHub), present, state.queues.cohorts, state.queues.local,
      state.multikueue.workloads);
  for (const auto& [name, cluster] : state.clusters)
    if (const ClusterMember& member = cluster.member;
        !member.queues.empty() || !member.local_queues.empty() || !member.workloads.empty())
      add(name, member.queues, member.cohorts, member.local_queues, member.workloads);
}

// ---- the end of a moment

// What is short when a stretch ends is read before the quotas of the moment count, whether requests
// fit after it once they do.
void WaitRecorder::close_moment() {
  for (const SourceName& source : touched_) {
    ServerWaits& server = server_of(source);
    const auto changes = changes_.find(source);
    Shortages shortages;
    if (changes != changes_.end())
      for (const Change& change : changes->second.all)
        if (const auto at = server.workloads.find(change.id); at != server.workloads.end())
          if (Wait* wait = at->second.back().open_wait())
            if (const WaitStretch& open = wait->stretches.back(); open.fit)
              shortages[change.id] = server.fits.shortage(open.cluster_queue, *open.requests);
    server.fits.settle(now_);
    if (changes == changes_.end()) continue;
    for (const Change& change : changes->second.all) apply(server, change, shortages);
  }
  changes_.clear();
  touched_.clear();
}

void WaitRecorder::end(LogTime time) {
  close_moment();
  now_ = std::max(now_, time);
  for (auto& [source, server] : servers_)
    for (auto& [id, histories] : server.workloads)
      if (Wait* wait = histories.empty() ? nullptr : histories.back().open_wait())
        if (WaitStretch& open = wait->stretches.back(); open.fit)
          open.shortage = server.fits.shortage(open.cluster_queue, *open.requests);
}

void WaitRecorder::apply(ServerWaits& server, const Change& change, const Shortages& shortages) {
  std::vector<WaitHistory>& histories = server.workloads[change.id];
  WaitHistory* known =
      histories.empty() || histories.back().gone != kForever ? nullptr : &histories.back();
  const bool is_other =
      known != nullptr && !change.uid.empty() && !known->uid.empty() && known->uid != change.uid;
  if (known != nullptr && (change.is_gone || (is_other && change.facts))) {
    if (change.is_gone && is_other) return;
    close_wait(server, change.id, *known, WaitState::deleted, shortages);
    known->state = WaitState::deleted;
    known->gone = now_;
    known->gone_seq = change.causes.empty() ? Seq{} : change.causes.front();
    known = nullptr;
    if (!scope_.keeps_ended) histories.clear();
  }
  if (change.facts && known == nullptr)
    first_sight(server, change, histories.emplace_back());
  else if (known != nullptr && !change.is_gone)
    follow(server, change, *known, shortages);
  if (histories.empty()) server.workloads.erase(change.id);
}

namespace {

std::string cluster_queue_of(const ServerWaits& server, const NamespacedName& id,
                             const WorkloadFacts& workload) {
  if (!workload.progress) return {};
  if (!workload.progress->cluster_queue.empty()) return workload.progress->cluster_queue;
  const auto at = server.local_queues.find({id.first, workload.progress->queue});
  return at == server.local_queues.end() ? std::string() : at->second;
}

void take_terms(WaitHistory& history, const WorkloadFacts& workload, std::string cluster_queue) {
  history.cluster_queue = std::move(cluster_queue);
  if (!workload.progress) return;
  history.queue = workload.progress->queue;
  history.requests = requests_of(workload.progress->requests);
  history.is_copy = !workload.progress->origin.empty();
}

}  // namespace

void WaitRecorder::open_stretch(ServerWaits& server, Wait& wait, WaitStretch stretch) {
  if (stretch.reason.of == WaitClass::quota && !stretch.cluster_queue.empty() && stretch.requests)
    stretch.fit = server.fits.watch(stretch.cluster_queue, *stretch.requests, now_);
  wait.stretches.push_back(std::move(stretch));
}

// At first sight, and only then, the times that Kueue wrote say since when it waits, and why.
void WaitRecorder::first_sight(ServerWaits& server, const Change& change, WaitHistory& history) {
  const WorkloadFacts& workload = *change.facts;
  history.uid = change.uid;
  history.created = workload.created;
  history.appeared = workload.created.ns > 0 ? std::min(workload.created, now_) : now_;
  history.state = wait_state_of(workload);
  take_terms(history, workload, cluster_queue_of(server, change.id, workload));
  if (history.state != WaitState::waiting) return;
  Wait& wait = history.waits.emplace_back();
  wait.from = history.appeared;
  const std::optional<LogTime> said =
      workload.progress ? workload.progress->quota_since : std::nullopt;
  const LogTime since = said ? std::clamp(*said, wait.from, now_) : wait.from;
  if (since > wait.from) {
    WaitStretch before;
    before.from = before.seen = wait.from;
    before.to = since;
    wait.stretches.push_back(std::move(before));
  }
  WaitStretch stretch = stretch_of(workload, since, history.cluster_queue);
  stretch.seen = now_;
  open_stretch(server, wait, std::move(stretch));
  server.waiting_in[local_queue_of(change.id, history)].insert(change.id);
}

void WaitRecorder::close_wait(ServerWaits& server, const NamespacedName& id, WaitHistory& history,
                              WaitState end, const Shortages& shortages) {
  Wait* wait = history.open_wait();
  if (wait == nullptr) return;
  close_stretch(server, wait->stretches.back(), now_, shortage_at(shortages, id));
  wait->to = now_;
  wait->end = end;
  const auto in_queue = server.waiting_in.find(local_queue_of(id, history));
  in_queue->second.erase(id);
  if (in_queue->second.empty()) server.waiting_in.erase(in_queue);
  if (wait->from == wait->to) history.waits.pop_back();
  if (!scope_.keeps_ended) history.waits.clear();
}

void WaitRecorder::follow(ServerWaits& server, const Change& change, WaitHistory& history,
                          const Shortages& shortages) {
  WaitStretch stretch;
  if (change.facts) {
    const WaitState state = wait_state_of(*change.facts);
    if (state != WaitState::waiting) close_wait(server, change.id, history, state, shortages);
    history.state = state;
    std::string queue = cluster_queue_of(server, change.id, *change.facts);
    // The index of LocalQueues has it under the former name.
    if (history.open_wait() != nullptr && change.facts->progress &&
        change.facts->progress->queue != history.queue) {
      server.waiting_in[local_queue_of(change.id, history)].erase(change.id);
      server.waiting_in[{change.id.first, change.facts->progress->queue}].insert(change.id);
    }
    take_terms(history, *change.facts, std::move(queue));
    if (state != WaitState::waiting) return;
    stretch = stretch_of(*change.facts, now_, history.cluster_queue);
  } else if (Wait* wait = history.open_wait()) {
    const auto at = server.local_queues.find(local_queue_of(change.id, history));
    history.cluster_queue = at == server.local_queues.end() ? std::string() : at->second;
    const WaitStretch& open = wait->stretches.back();
    stretch.from = stretch.seen = now_;
    stretch.reason = open.reason;
    stretch.checks = open.checks;
    stretch.workers = open.workers;
    stretch.requests = open.requests;
    stretch.cluster_queue = history.cluster_queue;
  } else {
    return;
  }
  stretch.causes = change.causes;
  Wait* wait = history.open_wait();
  if (wait == nullptr) {
    wait = &history.waits.emplace_back();
    wait->from = now_;
    server.waiting_in[local_queue_of(change.id, history)].insert(change.id);
    return open_stretch(server, *wait, std::move(stretch));
  }
  WaitStretch& open = wait->stretches.back();
  // What was said at a time is of interest as long as the past may be cut there.
  const bool says_the_same =
      stretch.reason.message == open.reason.message && stretch.checks == open.checks;
  if (stretch.continues(open) && (says_the_same || !scope_.keeps_ended)) {
    open.reason.message = stretch.reason.message;
    open.checks = stretch.checks;
    return;
  }
  close_stretch(server, open, now_, shortage_at(shortages, change.id));
  if (open.from == open.to) wait->stretches.pop_back();
  open_stretch(server, *wait, std::move(stretch));
}

}  // namespace fairlead
