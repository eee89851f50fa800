#include "replay/audit/unseen.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "replay/audit/explain_text.h"
#include "replay/audit/last_word.h"
#include "schema/kind.h"

namespace fairlead {

namespace {

// More lines are not printed; the document has them all.
constexpr std::size_t kLinesMax = 8;

struct Stretch {
  const char* what = "";
  std::string source;        ///< empty: all
  std::optional<Kind> kind;  ///< none: all
  std::optional<EventPlace> from;
  std::optional<LogTime> since;  ///< earlier than `from`
  std::optional<EventPlace> to;
};

// The range of an answer: events behind `after` up to `end`, and the time up to `until`.
struct Window {
  Seq after;
  Seq end;
  LogTime until;
};

Json place_json(const std::optional<EventPlace>& place) {
  if (!place) return nullptr;
  return {{"seq", place->seq.value}, {"time", to_rfc3339(place->time)}};
}

std::string place_text(const EventPlace& place) {
  return to_rfc3339(place.time) + " (seq " + std::to_string(place.seq.value) + ")";
}

std::string from_text(const Stretch& stretch) {
  if (!stretch.from) return "before the log's first event";
  if (!stretch.since) return place_text(*stretch.from);
  return to_rfc3339(*stretch.since) + " (noticed at " + place_text(*stretch.from) + ")";
}

std::string span_text(const Stretch& stretch) {
  const std::string to = stretch.to ? place_text(*stretch.to) : "the end of the log";
  return " from " + from_text(stretch) + " to " + to;
}

std::string text_of(const Stretch& stretch) {
  const std::string what = stretch.what;
  if (what == "NoHub")
    return "the log has no event" + span_text(stretch) +
           ", when a hub started: for some or all of that time no hub ran, and what changed then "
           "was not seen before the start";
  if (what == "LogEnded")
    return "the log ends at " + from_text(stretch) +
           ": if a hub ran afterwards it saw no change, if none ran no change could be seen";
  if (what == "NotAvailable")
    return "the ManagedCluster " + stretch.source + " was not Available" + span_text(stretch) +
           ": what changed in that cluster could not be seen";
  const char* const all = is_tenant(stretch.source) ? "all objects" : "all capacity sources";
  const std::string kinds = stretch.kind ? plural_of(*stretch.kind) : all;
  return kinds + " of " + stretch.source + " were silent" + span_text(stretch) +
         ": what changed there could not be seen";
}

Json json_of(const Stretch& stretch) {
  return {{"what", stretch.what},
          {"source", stretch.source.empty() ? Json() : Json(stretch.source)},
          {"kind", stretch.kind ? Json(std::string(info(*stretch.kind).name)) : Json()},
          {"from", place_json(stretch.from)},
          {"since", time_json(stretch.since)},
          {"to", place_json(stretch.to)},
          {"text", text_of(stretch)}};
}

EventPlace place_of(const Event& event) { return {event.seq, event.log_time}; }

// Returns the kind that a sign is about (nullopt: all kinds); nullptr if the event is not a sign of
// a source.
const std::optional<Kind>* kind_of(const Event& event) {
  if (const auto* synced = std::get_if<SourceSynced>(&event.fact)) return &synced->kind;
  if (const auto* stale = std::get_if<SourceStale>(&event.fact)) return &stale->kind;
  if (const auto* lost = std::get_if<SourceLost>(&event.fact)) return &lost->kind;
  return nullptr;
}

bool starts_hub(const Event& event) { return std::holds_alternative<EpochStarted>(event.fact); }

bool ends_absence(const Event& event) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  if (seen == nullptr) return std::holds_alternative<ObjectGone>(event.fact);
  const ConditionStatus available = std::get<ManagedClusterFacts>(seen->facts).available.status;
  return available != ConditionStatus::no && available != ConditionStatus::unknown;
}

bool is_silent(const State& state, Kind kind) {
  if (kind == Kind::cluster_metrics) return state.hub_streams[0] != Liveness::live;
  if (kind == Kind::managed_cluster) return state.hub_streams[1] != Liveness::live;
  return state.silent.contains(kind) || state.multikueue.unreadable.contains(kind);
}

// A search of one log for stretches.
class Search {
 public:
  Search(const AuditSource& source, Window window, Duration stale_after)
      : log_(source.log),
        lookup_(source.log),
        window_(window),
        stale_after_(stale_after),
        hub_now_(source.now) {}

  // Finds silences of these kinds of a source; of all its kinds if `kinds` is empty.
  Result<void> silences(const std::string& source, const std::set<Kind>& kinds);
  // Finds the stretches in which no hub ran.
  Result<void> stops();
  // The same right after the window, which ends between two events or behind the last.
  void stop_behind();
  // Finds the stretches in which a ManagedCluster was not Available.
  Result<void> absences(const std::string& cluster);
  // Adds that a ManagedCluster has not been Available since `since`, at the end of the window.
  Result<void> unavailable(const std::string& cluster, LogTime since);
  // Adds a silence that began with an event that was pruned.
  void silent_from_the_start(const std::string& source, Kind kind);

  Json rows();

 private:
  void note_sign(const Event& event, const std::optional<Kind>& kind);
  void keep(Stretch stretch);
  std::optional<LogTime> heard_last(const Stretch& stretch);

  const ReadableLog& log_;
  EventLookup lookup_;
  const Window window_;
  const Duration stale_after_;
  const std::optional<LogTime> hub_now_;
  std::vector<Stretch> open_;  ///< of the source being searched
  std::vector<Stretch> found_;
};

Result<void> Search::silences(const std::string& source, const std::set<Kind>& kinds) {
  auto signs = log_.signs(source);
  if (!signs) return signs.error();
  lookup_.expect(*signs);
  open_.clear();
  for (const Seq seq : *signs) {
    const Event* event = lookup_.at(seq);
    const auto* kind = event ? kind_of(*event) : nullptr;
    if (kind == nullptr || (*kind && !kinds.empty() && !kinds.contains(**kind))) continue;
    note_sign(*event, *kind);
  }
  for (Stretch& stretch : std::exchange(open_, {})) keep(std::move(stretch));
  return {};
}

// A sign without a kind is one of every kind.
void Search::note_sign(const Event& event, const std::optional<Kind>& kind) {
  // A second sign of a silence that lasts, such as lost after stale, begins none.
  const auto same = [&](const Stretch& stretch) { return stretch.kind == kind; };
  if (!std::holds_alternative<SourceSynced>(event.fact)) {
    if (std::none_of(open_.begin(), open_.end(), same))
      open_.push_back({"Silent", event.source, kind, place_of(event), {}, {}});
    return;
  }
  for (Stretch& stretch : open_)
    if (!kind || !stretch.kind || stretch.kind == kind) {
      stretch.to = place_of(event);
      keep(stretch);
    }
  std::erase_if(open_, [](const Stretch& stretch) { return stretch.to.has_value(); });
}

// Keeps the stretch if it overlaps the window. A silence that is noticed later counts too: it may
// have begun up to staleAfter before.
void Search::keep(Stretch stretch) {
  if (stretch.to && stretch.to->seq <= window_.after) return;
  const bool begun = stretch.from->seq <= window_.end;
  if (!begun && stretch.from->time.ns - stale_after_.ns >= window_.until.ns) return;
  stretch.since = heard_last(stretch);
  if (begun || (stretch.since && *stretch.since < window_.until))
    found_.push_back(std::move(stretch));
}

// Returns when a silence began that was noticed later.
std::optional<LogTime> Search::heard_last(const Stretch& stretch) {
  const Event* noticed = lookup_.at(stretch.from->seq);
  if (!stretch.kind || !noticed || !std::holds_alternative<SourceStale>(noticed->fact))
    return std::nullopt;
  const LogTime heard = last_word_of(lookup_, stretch.source, *stretch.kind,
                                     {noticed->seq, noticed->log_time}, stale_after_);
  return heard < noticed->log_time ? std::optional(heard) : std::nullopt;
}

Result<void> Search::stops() {
  auto starts = log_.signs(kSelf);
  if (!starts) return starts.error();
  for (const Seq start : *starts) {
    // A seq is at least 1. The start that begins the log is not a gap, and is skipped below.
    const Seq last{start.value - 1};
    if (start <= log_.first_seq() || start <= window_.after || last > window_.end) continue;
    const Event* before = lookup_.at(last);
    const Event* after = lookup_.at(start);
    if (before == nullptr || after == nullptr || !starts_hub(*after)) continue;
    if (last < window_.end || before->log_time < window_.until)
      found_.push_back({"NoHub", "", {}, place_of(*before), {}, place_of(*after)});
  }
  return {};
}

void Search::stop_behind() {
  const Event* before = lookup_.at(window_.end);
  if (before == nullptr || window_.until <= before->log_time) return;
  const bool ended = window_.end == log_.last_seq();
  // The hub that answers has been there until now, and appended nothing because nothing changed.
  if (ended && hub_now_ && window_.until <= *hub_now_) return;
  if (ended) return found_.push_back({"LogEnded", "", {}, place_of(*before), {}, {}});
  const Event* after = lookup_.at(next(window_.end));
  if (after != nullptr && starts_hub(*after))
    found_.push_back({"NoHub", "", {}, place_of(*before), {}, place_of(*after)});
}

Result<void> Search::unavailable(const std::string& cluster, LogTime since) {
  auto seqs = log_.history(kHub, {Kind::managed_cluster, "", cluster});
  if (!seqs) return seqs.error();
  Stretch stretch{"NotAvailable", cluster, Kind::managed_cluster, {}, {}, {}};
  for (const Seq seq : *seqs) {
    const Event* event = lookup_.at(seq);
    if (event == nullptr || event->log_time < since) continue;
    if (!stretch.from && seq <= window_.end) stretch.from = place_of(*event);
    if (seq <= window_.end || !ends_absence(*event)) continue;
    stretch.to = place_of(*event);
    break;
  }
  found_.push_back(std::move(stretch));
  return {};
}

Result<void> Search::absences(const std::string& cluster) {
  auto seqs = log_.history(kHub, {Kind::managed_cluster, "", cluster});
  if (!seqs) return seqs.error();
  std::optional<Stretch> absence;
  for (const Seq seq : *seqs) {
    const Event* event = lookup_.at(seq);
    if (event == nullptr) continue;
    if (!ends_absence(*event)) {
      if (!absence)
        absence = {"NotAvailable", cluster, Kind::managed_cluster, place_of(*event), {}, {}};
    } else if (absence) {
      absence->to = place_of(*event);
      keep(*std::exchange(absence, {}));
    }
  }
  if (absence) keep(*std::move(absence));
  return {};
}

void Search::silent_from_the_start(const std::string& source, Kind kind) {
  const auto same = [&](const Stretch& stretch) {
    return stretch.source == source && (!stretch.kind || stretch.kind == kind);
  };
  if (std::none_of(found_.begin(), found_.end(), same))
    found_.push_back({"Silent", source, kind, {}, {}, {}});
}

Json Search::rows() {
  std::vector<std::pair<Seq, std::size_t>> order;
  for (const Stretch& stretch : found_)
    order.emplace_back(stretch.from ? stretch.from->seq : Seq{}, order.size());
  std::sort(order.begin(), order.end());
  Json rows = Json::array();
  for (const auto& [begin, place] : order) rows.push_back(json_of(found_[place]));
  return rows;
}

// Those on which quotas rest. That a member's queues or Workloads were silent is what the answers
// about Workloads and use say themselves.
std::set<Kind> capacity_kinds_of_members() {
  std::set<Kind> kinds;
  for (const KindInfo& row : kKinds)
    if (row.has(kIsOfMember) && !has_noted_silence(row.kind)) kinds.insert(row.kind);
  return kinds;
}

Result<void> look_at_sources(Search& search, const AnswerSources& sources) {
  if (auto done = search.silences(std::string(kHub), sources.hub_kinds); !done) return done;
  for (const std::string& member : sources.members)
    if (auto done = search.silences(
            member, is_tenant(member) ? std::set<Kind>{} : capacity_kinds_of_members());
        !done)
      return done;
  return {};
}

// For a pruned log: adds what State holds to be silent although the event that began it is pruned.
void look_at_state(Search& search, const State& state, const AnswerSources& sources) {
  for (const Kind kind : sources.hub_kinds)
    if (is_silent(state, kind)) search.silent_from_the_start(std::string(kHub), kind);
  for (const std::string& member : sources.members)
    if (const auto at = state.clusters.find(member);
        at != state.clusters.end() && at->second.reports.liveness[0] != Liveness::live)
      search.silent_from_the_start(member, Kind::node);
}

Result<void> look_at_absences(Search& search, const State& state, const AnswerSources& sources) {
  for (const std::string& cluster : sources.reported_by_hub)
    if (const auto& since = state.clusters.at(cluster).reports.unavailable_since)
      if (auto done = search.unavailable(cluster, *since); !done) return done;
  return {};
}

}  // namespace

AnswerSources sources_of_every_quota() {
  AnswerSources sources;
  for (const KindInfo& row : kKinds)
    if (is_of_every_quota(row.kind)) sources.hub_kinds.insert(row.kind);
  return sources;
}

AnswerSources sources_of_workers() {
  AnswerSources sources = sources_of_every_quota();
  for (const KindInfo& row : kKinds)
    if (is_of_multikueue_path(row.kind)) sources.hub_kinds.insert(row.kind);
  return sources;
}

AnswerSources sources_of_tenant(const std::string& tenant) {
  return {{tenant_source(tenant)}, {Kind::virtual_cluster}, {}};
}

AnswerSources sources_of_placements(const State& state, const std::string& tenant) {
  AnswerSources sources = sources_of_tenant(tenant);
  for (const auto& [id, cluster] : state.pool.clusters)
    add_cluster_source(state, cluster.cluster, sources);
  return sources;
}

void add_cluster_source(const State& state, const std::string& name, AnswerSources& sources) {
  const auto at = state.clusters.find(name);
  if (at == state.clusters.end()) return;
  const CapacitySource source = at->second.source.value_or(CapacitySource::nodes);
  if (source == CapacitySource::nodes) {
    sources.members.insert(name);
    return;
  }
  sources.hub_kinds.insert(source == CapacitySource::cluster_metrics ? Kind::cluster_metrics
                                                                     : Kind::managed_cluster);
  sources.reported_by_hub.insert(name);
}

void add_sources(const State& state, const std::string& queue, AnswerSources& sources) {
  if (const auto claims = state.claims.of_queue.find(queue); claims != state.claims.of_queue.end())
    for (const std::string& claim : claims->second)
      add_cluster_source(state, state.claims.by_name.at(claim).terms->cluster, sources);
  if (const auto at = state.queues.by_name.find(queue); at != state.queues.by_name.end())
    for (const auto& [cluster, share] : at->second.workers.shares)
      add_cluster_source(state, cluster, sources);
}

Result<Json> unseen_at(const AuditSource& source, const Moment& moment,
                       const AnswerSources& sources) {
  const State& state = moment.state;
  Search search(source, {state.seq, state.seq, moment.asked},
                state.configuration.debounce.stale_after);
  search.stop_behind();
  if (auto done = look_at_sources(search, sources); !done) return done.error();
  look_at_state(search, state, sources);
  if (auto done = look_at_absences(search, state, sources); !done) return done.error();
  return Result<Json>(boost::system::in_place_value, search.rows());
}

Result<void> add_unseen(const AuditSource& source, const PairAtMoment& at, Json& answer) {
  AnswerSources rests_on = sources_of_every_quota();
  add_sources(at.state(), at.pair.queue, rests_on);
  auto unseen = unseen_at(source, at.moment, rests_on);
  if (!unseen) return unseen.error();
  answer["unseen"] = *std::move(unseen);
  return {};
}

Result<Json> unseen_between(const AuditSource& source, const AskedSpan& span,
                            const AnswerSources& sources) {
  const Seq after{span.begin.value == 0 ? 0 : span.begin.value - 1};
  const auto stale_after = stale_after_at(source.log, span.end);
  if (!stale_after) return stale_after.error();
  Search search(source, {after, span.end, span.to}, *stale_after);
  if (auto done = search.stops(); !done) return done.error();
  if (span.end == source.log.last_seq()) search.stop_behind();
  if (auto done = look_at_sources(search, sources); !done) return done.error();
  for (const std::string& cluster : sources.reported_by_hub)
    if (auto done = search.absences(cluster); !done) return done.error();
  return Result<Json>(boost::system::in_place_value, search.rows());
}

Result<Json> unseen_of_all(const AuditSource& source, const AskedSpan& span, const State& at_end) {
  AnswerSources sources =
      at_end.multikueue.lists.empty() ? sources_of_every_quota() : sources_of_workers();
  for (const auto& [name, cluster] : at_end.clusters) add_cluster_source(at_end, name, sources);
  for (const auto& [name, tenant] : at_end.pool.tenants)
    sources.members.insert(tenant_source(name));
  return unseen_between(source, span, sources);
}

void join_unseen(Json& rows, const Json& more) {
  for (const Json& row : more)
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
}

std::string unseen_text(const Json& document) {
  if (!document.contains("unseen")) return "";
  const Json& rows = document["unseen"];
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), kLinesMax); ++i)
    text += "not seen: " + cell(rows[i]["text"]) + "\n";
  if (rows.size() > kLinesMax)
    text += "not seen: " + std::to_string(rows.size() - kLinesMax) +
            " more stretches, which -o json names\n";
  return text;
}

}  // namespace fairlead
