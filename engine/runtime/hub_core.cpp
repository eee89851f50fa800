#include "engine/runtime/hub_core.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/stop_point.h"
#include "engine/fold/evolve.h"
#include "engine/fold/held.h"
#include "engine/runtime/configuration_dra.h"
#include "schema/codec.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

std::map<std::string, std::string> watched_members(const Configuration& configuration) {
  std::map<std::string, std::string> places;
  for (const MemberKubeconfig& member : configuration.member_kubeconfigs)
    places[member.cluster] = member.file + "\n" + member.secret_ref + "\n" + member.cluster_profile;
  return places;
}

void report_gated_mappings(const Configuration& configuration, const Logger& logger) {
  for (const std::string& what : gated_mappings(configuration.dra.device_class_mappings))
    logger({Severity::warn, what, {}});
}

}  // namespace

HubCore::HubCore(EventLog& log, Clock& clock, HubSettings settings, Logger logger)
    : log_(log),
      clock_(clock),
      settings_(std::move(settings)),
      logger_(std::move(logger)),
      core_(CoreSettings{.mode = settings_.mode}),
      awaited_(settings_.hub_kinds),
      snapshots_(settings_.snapshots, log_, settings_.saved_aside_nodes, settings_.stops, logger_) {
}

LogTime HubCore::now() const { return std::max(clock_.now(), state().now); }

Result<void> HubCore::fold_log(const Progress& progress) {
  auto snapshot = newest_of(log_, settings_.snapshots, log_.last_seq());
  if (!snapshot) return snapshot.error();
  State start;
  if (*snapshot) {
    start = std::move((*snapshot)->state);
    snapshots_.begin_with((*snapshot)->info);
  }
  auto state = state_from(log_, std::move(start), log_.last_seq(), progress);
  if (!state) return state.error();
  core_.restore(*std::move(state));
  return {};
}

Result<void> HubCore::start(const Configuration& configuration, const Progress& progress) {
  if (auto folded = fold_log(progress); !folded) return in_context("the log", folded.error());
  epoch_ = Epoch{state().epoch.value + 1};
  const Seq folded = state().seq;
  const Seq snapshot = snapshots_.last();
  const bool changed = state().configuration_seq == Seq{} || state().configuration != configuration;
  std::vector<EventDraft> drafts;
  const auto add = [&](Fact fact) {
    drafts.push_back({std::string(kSelf), Seq{}, std::move(fact)});
  };
  add(EpochStarted{settings_.identity, FAIRLEAD_VERSION, kFoldVersion, kSchemaVersion});
  if (changed) add(ConfigChanged{configuration});
  // Here and below: report() looks at the first event of a commit, which is EpochStarted.
  follow_kinds(configuration);
  core_.propose(std::move(drafts));
  if (auto begun = drive(Input::complete); !begun) return begun.error();
  logger_({Severity::info,
           "epoch started",
           {{"epoch", std::to_string(epoch_.value)},
            {"identity", settings_.identity},
            {"version", FAIRLEAD_VERSION},
            {"folded", std::to_string(folded.value)},
            {"snapshot", std::to_string(snapshot.value)},
            {"configuration", changed ? "changed" : "as before"}}});
  report_gated_mappings(configuration, logger_);
  follow_members();
  lose_unread_kinds();
  return {};
}

// Where a kind came into use, planning waits for its first list, as at the start.
void HubCore::follow_kinds(const Configuration& configuration) {
  awaited_.follow(configuration);
  if (awaited().empty()) return;
  planning_ = false;
  core_.set_planning(Planning::off);
}

// Follows a changed list of members. A member that is connected in another way, or not any more,
// has to be listed again. One that is not watched any more reports nothing from now on: its claims
// keep what they have until lostAfter (observe_members).
void HubCore::follow_members() {
  const auto before = std::exchange(watched_, watched_members(state().configuration));
  for (const auto& [name, access] : before)
    if (const auto is = watched_.find(name); is == watched_.end() || is->second != access)
      core_.reconnected(name);
  for (const auto& [name, cluster] : state().clusters) {
    if (!cluster.reports.unwatched_since || watched_.contains(name)) continue;
    const auto claims = state().claims.of_cluster.find(name);
    if (claims == state().claims.of_cluster.end()) continue;
    for (const std::string& claim : claims->second)
      logger_({Severity::warn,
               "members.kubeconfigs no longer names the cluster of a claim: growth is frozen, and "
               "the hub counts what it has until lostAfter",
               {{"cluster", name},
                {"claim", claim},
                {"since", to_rfc3339(*cluster.reports.unwatched_since)}}});
  }
}

// A tenant whose first list was not taken up yet takes no part: it counts as lost until all its
// streams have listed.
void HubCore::watch_tenants(std::set<SourceName> tenants, const std::vector<SourceName>& fresh) {
  tenants_ = std::move(tenants);
  for (const SourceName& source : fresh) {
    core_.reconnected(source);
    const auto known = state().pool.tenants.find(std::string(tenant_of(source)));
    if (known != state().pool.tenants.end() && known->second.first_seen) continue;
    for (const Kind kind : {Kind::namespace_, Kind::resource_quota, Kind::pod})
      core_.offer({source, StreamLost{kind}});
  }
}

// A hub that only records reads no claims and no capacity but that of Nodes. What State holds of
// them is from an earlier run and is observed no more, so their streams count as lost: answers of
// the audit that rest on them say so.
void HubCore::lose_unread_kinds() {
  if (!state().configuration.record) return;
  const std::string hub(kHub);
  for (const Kind kind : {Kind::claim, Kind::cluster_metrics, Kind::managed_cluster})
    if (!held_objects(state(), hub, kind).empty()) core_.offer({hub, StreamLost{kind}});
}

void HubCore::offer(WatchFact fact) {
  if (fact.source != kHub && !watched_.contains(fact.source) && !tenants_.contains(fact.source))
    return;
  if (fact.source == kHub) awaited_.note(fact);
  core_.offer(std::move(fact));
}

void HubCore::answer(WriteAnswer answer) { core_.answer(std::move(answer)); }

void HubCore::absent(Kind kind) {
  if (!awaited().contains(kind)) return;
  logger_({Severity::warn,
           "not served by the hub: waiting for its CRD",
           {{"kind", std::string(info(kind).name)}}});
  offer({std::string(kHub), ListCompleted{kind, ""}});
}

void HubCore::note(std::vector<AdmissionDecided> notes) {
  std::vector<EventDraft> drafts;
  drafts.reserve(notes.size());
  for (AdmissionDecided& note : notes)
    drafts.push_back({std::string(kSelf), Seq{}, std::move(note)});
  core_.propose(std::move(drafts));
}

// Called when all events are durable and no moment is open.
void HubCore::publish_view() {
  if (settings_.admission == nullptr) return;
  settings_.admission->publish(state(), planning_ ? ViewState::synced : ViewState::unsynced);
}

Result<void> HubCore::reconfigure(const Configuration& configuration) {
  if (!core_.configure(configuration)) {
    logger_({Severity::info, "configuration read again: nothing changed", {}});
    return {};
  }
  // Proposals are appended in turn, before all that was offered: notes of the webhook may be first.
  while (!(state().configuration == configuration)) {
    Append next = core_.ready(clock_.now(), Input::more_pending).append;
    check(!next.drafts.empty(), "a proposed configuration comes into force");
    if (auto done = append(std::move(next)); !done) return done;
  }
  return {};
}

Result<HubEffects> HubCore::step(Input input) {
  awaited_.resolve(state().configuration, logger_);
  return drive(input);
}

// Called when all that was listed is in the log. Returns whether planning begins now.
Result<bool> HubCore::begin_planning() {
  if (planning_ || !awaited().empty()) return false;
  if (auto flushed = flush(); !flushed) return flushed.error();
  planning_ = true;
  core_.set_planning(Planning::on);
  logger_({Severity::info,
           state().configuration.record ? "the hub is synced: recording, nothing is written"
                                        : "the hub is synced: planning",
           {{"seq", std::to_string(state().seq.value)}}});
  return true;
}

Result<HubEffects> HubCore::drive(Input input) {
  if (auto checkpoint = snapshots_.collect(state())) core_.propose(*std::move(checkpoint));
  HubEffects effects;
  const auto show_present = [this]() -> Result<void> {
    if (settings_.present == nullptr) return {};
    return settings_.present->show(core_, planning_ ? Planning::on : Planning::off,
                                   [this] { return flush(); });
  };
  for (;;) {
    Ready ready = core_.ready(clock_.now(), input);
    if (!ready.append.drafts.empty()) {
      if (auto done = append(std::move(ready.append)); !done) return done.error();
      continue;
    }
    const auto add = [](auto& all, auto& more) {
      std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    add(effects.requests, ready.send);
    add(effects.recommendations, ready.recommendations);
    add(effects.notices, ready.notices);
    stats_.recommendations += ready.recommendations.size();
    if (ready.closed && settings_.admission != nullptr)
      settings_.admission->note(state(), core_.dirty());
    if (ready.closed)
      if (auto shown = show_present(); !shown) return shown.error();
    if (ready.flush != Seq{})
      if (auto flushed = flush(); !flushed) return flushed.error();
    if (!ready.idle()) continue;
    const auto planning_begins = begin_planning();
    if (!planning_begins) return planning_begins.error();
    if (*planning_begins) continue;
    if (input == Input::complete) publish_view();
    if (auto shown = show_present(); !shown) return shown.error();
    return effects;
  }
}

Result<void> HubCore::append(Append append) {
  if (append.origin == Origin::outcomes) stop_point("answer.before_log");
  auto events = commit(append);
  if (!events && events.error().code == ErrorCode::bad_input && append.divisible) {
    drop_if_too_large(std::move(append.drafts), events.error());
    return {};
  }
  if (!events) {
    core_.failed();
    return events.error();
  }
  if (settings_.admission != nullptr) settings_.admission->note(*events);
  core_.appended(*events, append.durability);
  if (append.origin == Origin::outcomes) stop_point("answer.after_log");
  report(*events, append.origin);
  // A Checkpoint notes a snapshot, and is no reason for the next.
  const bool noted = std::holds_alternative<Checkpoint>(events->front().fact);
  return !noted && snapshots_.is_due(state()) ? take_snapshot(HubSnapshots::Saving::aside)
                                              : Result<void>();
}

// Leaves the drafts as they are if the log refuses them.
Result<std::vector<Event>> HubCore::commit(Append& append) {
  const auto began = std::chrono::steady_clock::now();
  auto events = log_.append(std::move(append.drafts), append.time, epoch_, append.durability);
  const Duration took{std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count()};
  if (!events) return events;
  stats_.append.add(took);
  return events;
}

void HubCore::drop_if_too_large(std::vector<EventDraft>&& drafts, const Error& refusal) {
  const auto dropped = core_.refused(std::move(drafts));
  if (!dropped) return;
  ++stats_.oversized;
  const ObjectKey* key = object_of(dropped->fact);
  logger_({Severity::error,
           "an object is too large for the log and is ignored",
           {{"source", dropped->source},
            {"object", key ? name_of(*key) : ""},
            {"why", refusal.message}}});
}

// Counts the events that were logged, and logs the lines about them.
void HubCore::report(const std::vector<Event>& events, Origin origin) {
  switch (origin) {
    case Origin::facts: return;
    case Origin::timer: ++stats_.timers; return;
    case Origin::intents:
      stats_.intents += events.size();
      for (const Event& event : events) writes_.intended(event);
      return;
    case Origin::outcomes:
      for (const Event& event : events) logger_(writes_.outcome(event, stats_));
      return;
    case Origin::proposal: break;
  }
  // The events are folded already: State has the new configuration.
  const Event& first = events.front();
  if (!std::holds_alternative<ConfigChanged>(first.fact)) return;
  logger_({Severity::info, "configuration changed", {{"seq", std::to_string(first.seq.value)}}});
  report_gated_mappings(state().configuration, logger_);
  follow_kinds(state().configuration);
  follow_members();
  lose_unread_kinds();
}

Result<void> HubCore::flush() {
  const auto began = std::chrono::steady_clock::now();
  auto flushed = log_.wait_durable();
  stats_.append.add({std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count()});
  if (flushed)
    core_.durable(log_.last_seq());
  else
    core_.failed();
  return flushed;
}

void HubCore::lose_notice() {
  if (stats_.notices_lost++ == 0)
    logger_({Severity::warn, "an Event could not be sent: too many wait", {}});
}

// Called right after a commit, so that State is exactly what the log folds to up to there. The log
// is flushed first: a snapshot of events that a crash loses would belong to no log.
Result<void> HubCore::take_snapshot(HubSnapshots::Saving saving) {
  if (auto flushed = flush(); !flushed) return flushed;
  if (auto checkpoint = snapshots_.take(state(), saving)) core_.propose(*std::move(checkpoint));
  return {};
}

Result<void> HubCore::give_up() {
  snapshots_.wind_down();
  core_.wind_down();
  if (auto answered = drive(Input::complete); !answered) return answered.error();
  const bool none = core_.unsent() + core_.under_way() == 0;
  core_.give_up("the hub stopped");
  if (auto given_up = drive(Input::complete); !given_up) return given_up.error();
  if (!snapshots_.last_pays(state())) return {};
  // State has closed the moment, which the log does not show before an event of a later time: with
  // one, State is again what the log folds to, as a snapshot has to be.
  if (none) {
    core_.propose(TimerFired{now()});
    if (auto fired = drive(Input::complete); !fired) return fired.error();
  }
  if (auto saved = take_snapshot(HubSnapshots::Saving::here); !saved) return saved;
  if (auto noted = drive(Input::complete); !noted) return noted.error();
  return {};
}

HubStats HubCore::stats() {
  HubStats stats = stats_;
  stats.snapshots = snapshots_.taken();
  stats.ingest = core_.ingest_counts();
  stats.seq = log_.last_seq();
  stats.epoch = epoch_;
  stats.log_time = log_.last_time();
  stats.awaited = awaited();
  stats.planning = awaited().empty();
  stats.writes_waiting = core_.unsent();
  stats.writes_under_way = core_.under_way();
  stats.deadlines = state().deadlines.all().size();
  stats.clusters = state().clusters.size();
  stats.claims = state().claims.by_name.size();
  stats.queues = state().queues.by_name.size();
  stats.tenants = state().pool.tenants.size();
  stats.claim_counts = census_.of(state(), now());
  stats.pool_counts = pool_census_.of(state(), now());
  stats.dispatch_counts = dispatch_census_.of(state(), now());
  return stats;
}

}  // namespace fairlead
