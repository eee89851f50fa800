#include "engine/runtime/replica.h"

#include <algorithm>
#include <utility>

namespace fairlead {

Replica::Replica(EventLog& log, Clock& clock, HubSettings settings, Logger logger)
    : log_(log),
      clock_(clock),
      settings_(std::move(settings)),
      logger_(std::move(logger)),
      snapshots_(settings_.snapshots, log_, settings_.saved_aside_nodes, settings_.stops,
                 settings_.now, logger_) {
  restart({});
}

LogTime Replica::now() const { return std::max(clock_.now(), state().now); }

// Begins with `state`, and with nothing queued, planned or sent.
void Replica::restart(State state) {
  CoreSettings settings;
  settings.mode = settings_.mode;
  settings.watching = Watching::by_state;
  settings.facts_max = settings_.facts_max;
  core_ = std::make_unique<Core>(settings);
  core_->restore(std::move(state));
}

Result<void> Replica::fold(const Progress& progress) {
  constexpr const char* kWhere = "the log";
  auto snapshot = newest_of(log_, settings_.snapshots, log_.last_seq());
  if (!snapshot) return in_context(kWhere, snapshot.error());
  State start;
  if (*snapshot) {
    start = std::move((*snapshot)->state);
    snapshots_.begin_with((*snapshot)->info);
  }
  auto state = state_from(log_, std::move(start), log_.last_seq(), progress);
  if (!state) return in_context(kWhere, state.error());
  core_->restore(*std::move(state));
  return {};
}

Result<void> Replica::follow(Seq last, ViewState view) {
  std::unique_ptr<EventReader> reader;
  if (state().seq < last) {
    auto begun = log_.read(next(state().seq));
    if (!begun) return begun.error();
    reader = *std::move(begun);
  }
  while (state().seq < last) {
    auto event = reader->next();
    if (!event) return event.error();
    if (!*event) break;
    const std::span<const Event> learned(&**event, 1);
    if (settings_.admission != nullptr) settings_.admission->note(learned);
    core_->learned(learned);
    if (const auto* checkpoint = std::get_if<Checkpoint>(&(*event)->fact)) {
      snapshots_.noted(*checkpoint);
      continue;
    }
    // At the end of a commit alone. The Checkpoint is the leader's to log.
    if (!snapshots_.is_due(state())) continue;
    if (const auto chain = log_.chain_at(state().seq))
      (void)snapshots_.take(state(), *chain, HubSnapshots::Saving::aside);
  }
  (void)snapshots_.collect(state());
  publish_view(view);
  return show_present([] { return Result<void>(); });
}

// Called when all events are durable; and where the hub is synced, no moment is open.
void Replica::publish_view(ViewState view) {
  if (settings_.admission != nullptr) settings_.admission->publish(state(), view);
}

Result<void> Replica::show_present(const std::function<Result<void>()>& flush) {
  if (settings_.present == nullptr) return {};
  return settings_.present->show(*core_, core_->synced() ? Planning::on : Planning::off, flush);
}

HubStats Replica::stats() {
  HubStats stats = stats_;
  stats.snapshots = snapshots_.taken();
  stats.ingest = core_->ingest_counts();
  stats.seq = log_.last_seq();
  stats.epoch = state().epoch;
  stats.log_time = log_.last_time();
  stats.awaited = core_->awaited();
  stats.planning = core_->synced();
  stats.writes_waiting = core_->unsent();
  stats.writes_under_way = core_->under_way();
  stats.deadlines = state().deadlines.all().size();
  stats.clusters = state().clusters.size();
  stats.claims = state().claims.by_name.size();
  stats.queues = state().queues.by_name.size();
  stats.tenants = state().pool.tenants.size();
  stats.workloads = state().multikueue.workloads.size();
  for (const auto& [name, cluster] : state().clusters)
    stats.workloads += cluster.member.workloads.size();
  stats.claim_counts = census_.of(state(), now());
  stats.pool_counts = pool_census_.of(state(), now());
  stats.dispatch_counts = dispatch_census_.of(state(), now());
  stats.queue_use = use_census_.of(state(), now());
  stats.queue_counts = queue_census_.of(state(), now());
  return stats;
}

}  // namespace fairlead
