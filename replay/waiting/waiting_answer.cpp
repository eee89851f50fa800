// `audit waiting`: why a Workload waited, and who waits.
#include <algorithm>
#include <utility>

#include "replay/audit/audit_moment.h"
#include "replay/audit/audit_span.h"
#include "replay/waiting/cause_words.h"
#include "replay/waiting/wait_walk.h"
#include "replay/waiting/waiting.h"
#include "replay/waiting/waiting_json.h"

namespace fairlead {

namespace {

// What a finished answer is cut to.
struct Cut {
  LogTime from;
  LogTime to = kForever;
  EventSpan events;
};

Result<LogTime> time_of(const ReadableLog& log, const AuditPosition& position) {
  if (const auto* time = std::get_if<LogTime>(&position)) return *time;
  EventLookup lookup(log);
  const Event* event = lookup.at(std::get<Seq>(position));
  if (event) return event->log_time;
  return Error{ErrorCode::bad_input,
               "seq " + std::to_string(std::get<Seq>(position).value) + " is not in the log"};
}

Result<Cut> cut_of(const AuditSource& source, const WaitingQuestion& question, const WaitEnd& end) {
  Cut cut;
  const AuditPosition first = source.log.first_seq();
  const auto span = span_between(source.log, question.from.value_or(first),
                                 question.to.value_or(AuditPosition(end.last)));
  if (!span) return span.error();
  cut.events = {span->begin, std::min(span->end, end.last)};
  if (question.from) {
    const auto time = time_of(source.log, *question.from);
    if (!time) return time.error();
    cut.from = *time;
  }
  if (question.to) {
    const auto time = time_of(source.log, *question.to);
    if (!time) return time.error();
    cut.to = *time;
  }
  return cut;
}

// A wait with its intervals, cut.
struct AnsweredWait {
  LogTime from, to;
  WaitState end = WaitState::waiting;
  std::vector<WaitInterval> intervals;
  WaitInterval begun{};  ///< of a wait that began at the end of the record

  Duration waited() const { return to - from; }
};

std::vector<AnsweredWait> answered(const std::vector<Wait>& waits,
                                   const std::vector<Silence>& silences, LogTime end,
                                   const Cut& cut_to) {
  std::vector<AnsweredWait> out;
  for (const Wait& wait : waits) {
    const bool is_open = wait.to == kForever;
    AnsweredWait one{wait.from, is_open ? end : wait.to, wait.end,
                     intervals_of(wait, silences, end)};
    if (one.to > cut_to.to) one.end = WaitState::waiting;
    const bool is_new = is_open && one.from == one.to;  // it began at the end of the record
    one.from = std::max(one.from, cut_to.from);
    one.to = std::min(one.to, cut_to.to);
    cut(one.intervals, cut_to.from, cut_to.to);
    // Its interval has no length yet, and is in no list of intervals; who lists waits has it.
    if (is_new) one.begun = last_interval(wait, end);
    if (one.from < one.to || (is_new && one.from == one.to)) out.push_back(std::move(one));
  }
  return out;
}

Json intervals_json(const std::vector<WaitInterval>& intervals, std::string_view where,
                    const Requests& requests, CauseWords& words) {
  Json rows = Json::array();
  for (const WaitInterval& one : intervals) {
    Json row = interval_json(one, where);
    row["because"] = words.of(one, requests);
    rows.push_back(std::move(row));
  }
  return rows;
}

const ServerWaits& hub_of(const WaitRecorder& record) {
  static const ServerWaits kNone;
  const auto at = record.servers().find(SourceName(kHub));
  return at == record.servers().end() ? kNone : at->second;
}

Result<std::vector<std::string>> names_in(const AuditSource& source, const WaitEnd& end) {
  auto all = record_waits(source, {}, end);
  if (!all) return all.error();
  std::vector<std::string> names;
  for (const auto& [id, histories] : hub_of(*all).workloads) names.push_back(fairlead::name_of(id));
  return names;
}

Result<AuditAnswer> unknown_workload(const AuditSource& source, const NamespacedName& id,
                                     const WaitEnd& end) {
  const auto names = names_in(source, end);
  if (!names) return names.error();
  return Error{ErrorCode::not_found, "no Workload \"" + fairlead::name_of(id) +
                                         "\" in the log until " + to_rfc3339(end.time) +
                                         "; there are: " + nearby(*names, fairlead::name_of(id))};
}

Result<AuditAnswer> answer_about_one(const AuditSource& source, const WaitingQuestion& question,
                                     const WaitEnd& end, const Cut& cut_to) {
  const NamespacedName& id = *question.workload;
  const auto record = record_waits(source, {id, true, nullptr}, end);
  if (!record) return record.error();
  const ServerWaits& hub = hub_of(*record);
  const auto at = hub.workloads.find(id);
  if (at == hub.workloads.end()) return unknown_workload(source, id, end);
  const WaitHistory& history = at->second.back();
  EventLookup lookup(source.log);
  CauseWords words(lookup);
  Json waits = Json::array(), workers = Json::array();
  Duration waited;
  for (const AnsweredWait& wait : answered(history.waits, hub.silences, end.time, cut_to)) {
    waited.ns += wait.waited().ns;
    waits.push_back(
        {{"from", to_rfc3339(wait.from)},
         {"to", to_rfc3339(wait.to)},
         {"end", std::string(text_of(wait.end))},
         {"waited", seconds_text(wait.waited())},
         {"intervals", intervals_json(wait.intervals, "hub", history.requests, words)}});
  }
  for (WorkerIntervals& worker : worker_intervals(*record, id, history.waits, end.time)) {
    cut(worker.intervals, cut_to.from, cut_to.to);
    workers.push_back(
        {{"cluster", worker.cluster},
         {"intervals", intervals_json(worker.intervals, "worker", history.requests, words)}});
  }
  Json answer{{"kind", "Waiting"},
              {"namespace", id.first},
              {"name", id.second},
              {"uid", history.uid},
              {"queue", history.queue},
              {"clusterQueue", history.cluster_queue},
              {"created", to_rfc3339(history.created)},
              {"asOf", to_rfc3339(end.time)},
              {"state", std::string(text_of(history.state))},
              {"waited", seconds_text(waited)},
              {"waits", std::move(waits)},
              {"workers", std::move(workers)}};
  if (auto added = add_span(source.log, cut_to.events.begin, cut_to.events.end, answer); !added)
    return added.error();
  return AuditAnswer{std::move(answer)};
}

struct ListRow {
  const NamespacedName* id = nullptr;
  const WaitHistory* history = nullptr;
  AnsweredWait wait;

  friend bool operator<(const ListRow& a, const ListRow& b) {
    if (a.wait.waited() != b.wait.waited()) return a.wait.waited() > b.wait.waited();
    return *a.id < *b.id;
  }
};

Json list_row(const ListRow& row) {
  const WaitInterval& last =
      row.wait.intervals.empty() ? row.wait.begun : row.wait.intervals.back();
  return {{"namespace", row.id->first},
          {"name", row.id->second},
          {"uid", row.history->uid},
          {"clusterQueue", row.history->cluster_queue},
          {"class", std::string(text_of(last.reason.of))},
          {"reason", last.reason.reason},
          {"fit", fit_json(last.fit)},
          {"since", to_rfc3339(row.wait.from)},
          {"waited", seconds_text(row.wait.waited())},
          {"shortage", shortage_json(last.shortage)}};
}

Result<AuditAnswer> answer_about_all(const AuditSource& source, const WaitingQuestion& question,
                                     const WaitEnd& end, const Cut& cut_to) {
  const auto record = record_waits(source, {std::nullopt, false, nullptr}, end);
  if (!record) return record.error();
  const ServerWaits& hub = hub_of(*record);
  const std::string& queue = question.cluster_queue;
  std::vector<ListRow> rows;
  for (const auto& [id, histories] : hub.workloads) {
    const WaitHistory& history = histories.back();
    if (history.state != WaitState::waiting) continue;
    if (!queue.empty() && history.cluster_queue != queue) continue;
    for (AnsweredWait& wait : answered(history.waits, hub.silences, end.time, cut_to))
      rows.push_back({&id, &history, std::move(wait)});
  }
  // A LocalQueue may name a ClusterQueue that does not exist: what waits in it is known.
  if (!queue.empty() && rows.empty() && !hub.queues.contains(queue))
    return Error{ErrorCode::not_found,
                 "no ClusterQueue \"" + queue + "\" in the log until " + to_rfc3339(end.time) +
                     "; there are: " + nearby({hub.queues.begin(), hub.queues.end()}, queue)};
  std::sort(rows.begin(), rows.end());
  Json workloads = Json::array();
  for (const ListRow& row : rows) workloads.push_back(list_row(row));
  return AuditAnswer{{{"kind", "WaitingList"},
                      {"queue", queue},
                      {"asOf", to_rfc3339(end.time)},
                      {"workloads", std::move(workloads)}}};
}

}  // namespace

Result<AuditAnswer> audit_waiting(const AuditSource& source, const WaitingQuestion& question) {
  const auto end = wait_end(source, question.as_of);
  if (!end) return end.error();
  const auto cut_to = cut_of(source, question, *end);
  if (!cut_to) return cut_to.error();
  return question.workload ? answer_about_one(source, question, *end, *cut_to)
                           : answer_about_all(source, question, *end, *cut_to);
}

Json without_words(Json document) {
  const std::string kind = text_in(document, "kind");
  if (kind != "Waiting" && kind != "WaitingList" && kind != "BlockedBy") return document;
  document.erase("kind");
  for (const char* part : {"waits", "workers"})
    if (document.contains(part))
      for (Json& one : document[part])
        for (Json& interval : one["intervals"]) interval.erase("because");
  return document;
}

}  // namespace fairlead
