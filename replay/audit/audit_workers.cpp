// `audit why multikueueconfig/NAME` and `audit history multikueueconfig/NAME`: the members of a
// worker list with the reasons, and every change of the list.
#include <algorithm>
#include <set>

#include "engine/fold/multikueue/credentials.h"
#include "engine/fold/multikueue/multikueue_close.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/queue_changes.h"
#include "replay/audit/unseen.h"
#include "replay/beginning.h"

namespace fairlead {

namespace {

Json places(EventLookup& events, const std::vector<Seq>& seqs) {
  Json list = Json::array();
  for (const Seq seq : std::set(seqs.begin(), seqs.end())) list.push_back(events.place(seq));
  return list;
}

// Describes the verdict of the membership rule on a name.
std::string in_words(const Worker& worker) {
  switch (worker.standing) {
    case Standing::member: return worker.listed ? "selected, a member" : "not selected";
    case Standing::leaving: return "not selected, leaves when it has been absent for moveWindow";
    case Standing::held:
      return "not selected, leaves when no Workload holds it or after drainTimeout";
    case Standing::kept:
      return "not selected, kept: the list would be empty and no other may come yet";
    case Standing::frozen:
      return "the list is frozen: nothing is selected or the Placement is gone";
    case Standing::entering: return "selected, enters now";
    case Standing::waits_settle: return "selected, enters when one newcomer has been so for settle";
    case Standing::waits_move:
      return "selected, enters when it has been so for moveWindow: a member leaves";
    case Standing::waits_place: return "selected, enters when there is a place in the list";
    case Standing::waits_copies:
      return "selected, enters 60 s after what ran there when it left is over";
    case Standing::left: return worker.listed ? "not selected, goes now" : "not selected";
  }
  return "";
}

std::string left_out_in_words(LeftOut why) {
  switch (why) {
    case LeftOut::credentials_missing: return "no credential";
    case LeftOut::name_taken: return "a MultiKueueCluster of its name has another owner";
    case LeftOut::name_invalid: return "its MultiKueueCluster would have no valid name";
    case LeftOut::no: break;
  }
  return "";
}

Json holders(const State& state, const std::string& placement, const std::string& worker) {
  Json list = Json::array();
  const auto on = state.multikueue.workloads_on.find(worker);
  if (on == state.multikueue.workloads_on.end()) return list;
  for (const NamespacedName& id : on->second) {
    const auto seen = state.multikueue.workloads.at(id).seen.read();
    if (holds(state, placement, seen->facts))
      list.push_back({{"workload", name_of(id)}, {"seq", seen->seq.value}});
  }
  return list;
}

Json credential_json(const State& state, const std::string& cluster, EventLookup& events) {
  const CredentialRecord* record = find_credential(state.multikueue, cluster);
  if (!record) return nullptr;
  return {{"clusterProfile", record->now.profile},
          {"secret", record->now.secret},
          {"lostSince", time_json(record->lost_since)},
          {"event", events.place(record->seq)}};
}

Json running_json(const WorkerList& list, const std::string& worker) {
  const auto at = list.running.find(worker);
  if (at == list.running.end()) return nullptr;
  Json workloads = Json::array();
  for (const auto& [id, uid] : at->second.workloads) workloads.push_back(name_of(id));
  const auto over = at->second.over_since;
  return {{"workloads", std::move(workloads)},
          {"overSince", time_json(over)},
          {"until", time_json(over ? std::optional(*over + kCopiesGone) : std::nullopt)},
          {"seq", at->second.seq.value}};
}

// Returns until when a member counts as selected without a credential; nullopt if no deadline ends
// that.
std::optional<LogTime> credential_grace_end(const State& state, const Worker& worker,
                                            const MembershipWindows& windows) {
  const CredentialRecord* record = find_credential(state.multikueue, worker.cluster);
  if (!record || record->now.any() || !record->lost_since) return std::nullopt;
  if (state.multikueue.unreadable.contains(Kind::secret)) return std::nullopt;
  return *record->lost_since + windows.credential_grace;
}

// When the windows that concern a name are over; none for a name that is neither listed nor
// selected.
Json windows_json(const State& state, const Worker& worker, const MembershipWindows& windows) {
  Json ends = Json::object();
  if (worker.selected && worker.listed)
    if (const auto end = credential_grace_end(state, worker, windows))
      ends["credentialGrace"] = to_rfc3339(*end);
  if (worker.selected == worker.listed) return ends;
  if (worker.selected) ends["settle"] = to_rfc3339(worker.since + windows.settle);
  ends["moveWindow"] = to_rfc3339(worker.since + windows.move_window);
  if (!worker.selected) ends["drainTimeout"] = to_rfc3339(worker.since + windows.drain_timeout);
  return ends;
}

Json worker_json(const State& state, const std::string& placement, const WorkerList& list,
                 const std::string& name, const Worker& worker, EventLookup& events) {
  return {{"multiKueueCluster", name},
          {"cluster", worker.cluster},
          {"listed", worker.listed},
          {"decided", worker.decided},
          {"selected", worker.selected},
          {"since", to_rfc3339(worker.since)},
          {"because", places(events, worker.causes)},
          {"leftOut", left_out_in_words(worker.left_out)},
          {"standing", in_words(worker)},
          {"rank", worker.rank ? Json(static_cast<std::int64_t>(*worker.rank)) : Json()},
          {"windowsEnd", windows_json(state, worker, list.windows)},
          {"credential", credential_json(state, worker.cluster, events)},
          {"heldBy", holders(state, placement, name)},
          {"runningCopies", running_json(list, name)}};
}

Json check_json(const std::string& name, const CheckRecord& check) {
  Json json{{"admissionCheck", name},
            {"active", std::string(text_of(check.active.status)) + " " + check.active.reason},
            {"message", check.active.message},
            {"allClustersUsed", std::string(text_of(check.used.status)) + " " + check.used.reason},
            {"seq", check.seen.seq.value}};
  if (check.dispatcher.given())
    json["dispatcherReady"] =
        std::string(text_of(check.dispatcher.status)) + " " + check.dispatcher.reason;
  return json;
}

Json checks_json(const State& state, const std::string& placement) {
  Json list = Json::array();
  for (const auto& [name, check] : state.multikueue.checks)
    if (check.ours && check.placement == placement) list.push_back(check_json(name, check));
  return list;
}

Json windows_of_list(const MembershipWindows& windows) {
  return {{"settle", to_go_duration(windows.settle)},
          {"moveWindow", to_go_duration(windows.move_window)},
          {"drainTimeout", to_go_duration(windows.drain_timeout)},
          {"emptyGrace", to_go_duration(windows.empty_grace)},
          {"credentialGrace", to_go_duration(windows.credential_grace)}};
}

// When a wholly frozen list will be given up: after emptyGrace or, while a Workload holds one of
// its workers, after drainTimeout.
Json list_windows_json(const State& state, const std::string& placement, const WorkerList& list) {
  Json ends = Json::object();
  if (!list.frozen_since || list.use != ListUse::live) return ends;
  ends["emptyGrace"] = to_rfc3339(*list.frozen_since + list.windows.empty_grace);
  if (std::any_of(list.names.begin(), list.names.end(),
                  [&](const std::string& name) { return is_held(state, placement, name); }))
    ends["drainTimeout"] = to_rfc3339(*list.frozen_since + list.windows.drain_timeout);
  return ends;
}

const char* use_in_words(ListUse use) {
  switch (use) {
    case ListUse::none: return "no AdmissionCheck uses it";
    case ListUse::live: return "an AdmissionCheck uses it";
    case ListUse::kept:
      return "left as it is: parameters turned bad, or what must be seen cannot be read";
  }
  return "";
}

Error unknown_list(const State& state, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [placement, list] : state.multikueue.lists) known.push_back(placement);
  return {ErrorCode::bad_input,
          "no worker list \"" + name + "\" at that moment; there are: " + nearby(known, name)};
}

// ---- history ----

std::vector<std::string> names_in(const Facts& facts) {
  return std::get<MultiKueueConfigFacts>(facts).clusters;
}

Json intent_json(const Event& event, const PatchIntended& intent) {
  return {{"writer", "fairlead"},
          {"rule", intent.reason.rule},
          {"text", intent.reason.text},
          {"because", seqs_json(intent.reason.because)},
          {"intent", event.seq.value}};
}

// Whether the change to `now` is what `intent` asked for.
bool is_of(const PatchIntended& intent, const std::vector<std::string>& now) {
  if (intent.verb == Verb::remove) return now.empty();
  return intent.expected && names_in(*intent.expected) == now;
}

// Returns the list after an event; nullopt if the event does not observe it.
std::optional<std::vector<std::string>> list_after(const Event& event) {
  if (std::holds_alternative<ObjectGone>(event.fact)) return std::vector<std::string>{};
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  return seen ? std::optional(names_in(seen->facts)) : std::nullopt;
}

// The list before the first event about it that the log keeps.
struct ListBefore {
  std::optional<std::vector<std::string>> names;  ///< nullopt: not known
  std::vector<std::string> written;               ///< by us, perhaps not observed yet
};

Result<ListBefore> list_before(const AuditSource& source, const std::string& placement, Seq first) {
  if (source.log.first_seq() <= Seq{1}) return ListBefore{std::vector<std::string>(), {}};
  const auto state = state_for_pruned(source.log, source.snapshots, first);
  if (!state) return state.error();
  if (!*state) return ListBefore{};
  ListBefore before{std::vector<std::string>(), {}};
  const MultiKueue& workers = (*state)->multikueue;
  if (const auto config = workers.configs.find(placement); config != workers.configs.end())
    before.names = config->second.facts.clusters;
  if (const auto list = workers.lists.find(placement); list != workers.lists.end())
    before.written = list->second.written;
  return before;
}

Result<void> check_list_named(const AuditSource& source, const std::string& placement) {
  const auto moment = moment_at(source, last_seq_of(source));
  if (!moment) return moment.error();
  if (moment->state.multikueue.lists.contains(placement)) return {};
  return unknown_list(moment->state, placement);
}

}  // namespace

Result<AuditAnswer> audit_why_workers(const AuditSource& source, const std::string& placement,
                                      const std::string& cluster, const AuditPosition& as_of) {
  auto moment = moment_at(source, as_of);
  if (!moment) return moment.error();
  const State& state = moment->state;
  const auto at = state.multikueue.lists.find(placement);
  if (at == state.multikueue.lists.end()) return unknown_list(state, placement);
  const WorkerList& list = at->second;
  auto unseen = unseen_at(source, *moment, sources_of_workers());
  if (!unseen) return unseen.error();
  EventLookup events(source.log);
  Json workers = Json::array();
  std::vector<std::string> known;
  for (const auto& [name, worker] : list.workers) {
    known.push_back(worker.cluster.empty() ? name : worker.cluster);
    if (cluster.empty() || cluster == name || cluster == worker.cluster)
      workers.push_back(worker_json(state, placement, list, name, worker, events));
  }
  if (!cluster.empty() && workers.empty())
    return Error{ErrorCode::bad_input, "no cluster \"" + cluster +
                                           "\" in the decisions or the list of " + placement +
                                           "; there are: " + nearby(known, cluster)};
  return AuditAnswer{{{"kind", "WorkersWhy"},
                      {"asOf", as_of_json(*moment)},
                      {"configuration", configuration_json(state)},
                      {"unseen", *std::move(unseen)},
                      {"multiKueueConfig", placement},
                      {"list", list.names},
                      {"wish", list.wish ? Json(*list.wish) : Json()},
                      {"use", use_in_words(list.use)},
                      {"foreign", list.foreign},
                      {"frozenSince", time_json(list.frozen_since)},
                      {"windowsEnd", list_windows_json(state, placement, list)},
                      {"windows", windows_of_list(list.windows)},
                      {"checks", checks_json(state, placement)},
                      {"workers", std::move(workers)}}};
}

Result<AuditAnswer> audit_history_workers(const AuditSource& source, const std::string& placement,
                                          Seq from, Seq to) {
  const ObjectKey key{Kind::multikueue_config, "", placement};
  auto seqs = source.log.history(kHub, key);
  if (!seqs) return seqs.error();
  if (seqs->empty())
    if (auto known = check_list_named(source, placement); !known) return known.error();
  std::erase_if(*seqs, [&](Seq seq) { return seq < source.log.first_seq(); });
  const auto list = list_before(source, placement, seqs->empty() ? Seq{} : seqs->front());
  if (!list) return list.error();
  EventLookup events(source.log);
  Json rows = Json::array();
  std::optional<std::vector<std::string>> before = list->names;
  std::optional<Event> intended;  // the newest write of ours
  for (const Seq seq : *seqs) {
    if (seq > to) break;
    const Event* event = events.at(seq);
    if (!event) continue;
    if (std::holds_alternative<PatchIntended>(event->fact)) intended = *event;
    const auto now = list_after(*event);
    if (!now || now == before) continue;
    const auto* intent = intended ? &std::get<PatchIntended>(intended->fact) : nullptr;
    const bool ours = intent != nullptr && is_of(*intent, *now);
    if (!ours && (!before || (seq == seqs->front() && *now == list->written))) {
      before = now;  // the first observation after a pruning is not a change
      continue;
    }
    Json row{{"seq", seq.value},
             {"time", to_rfc3339(event->log_time)},
             {"old", before ? Json(*before) : Json()},
             {"new", *now},
             {"writer", "foreign"}};
    if (ours) row.update(intent_json(*intended, *intent));
    before = now;
    if (seq >= from) rows.push_back(std::move(row));
  }
  return AuditAnswer{{{"kind", "WorkersHistory"},
                      {"multiKueueConfig", placement},
                      {"from", {{"seq", from.value}}},
                      {"to", {{"seq", to.value}}},
                      {"rows", std::move(rows)}}};
}

}  // namespace fairlead
