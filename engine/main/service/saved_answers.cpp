#include "engine/main/service/saved_answers.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/time.h"
#include "engine/main/client/http_target.h"

namespace fairlead {

namespace {

constexpr std::size_t kSeqsAtOnce = 500;  // within the bounds of a target and of its answer

using Asked = std::vector<std::pair<std::string_view, std::string>>;

// As ui/list.js asks for them.
std::string decisions_of(const std::string& list) {
  return "kind=PlacementDecision cluster=hub name~" + to_text(Json(list));
}
// As ui/cluster.js does.
std::string nodes_of(const std::string& cluster) {
  return "cluster=" + to_text(Json(cluster)) + " kind=Node";
}

bool is_seq(std::string_view name) { return name.ends_with("seq") || name.ends_with("Seq"); }

// Adds every event that an answer names.
void add_seqs(const Json& answer, std::set<std::uint64_t>& seqs) {
  for (const auto& [name, value] : answer.items())
    if (value.is_structured()) {
      const bool causes =
          answer.is_object() && (name == "because" || name == "causes") && value.is_array();
      for (const Json& one : causes ? value : Json::array())
        if (one.is_number_unsigned()) seqs.insert(one.get<std::uint64_t>());
      add_seqs(value, seqs);
    } else if (answer.is_object() && is_seq(name) && value.is_number_unsigned()) {
      seqs.insert(value.get<std::uint64_t>());
    }
}

std::string pair_name(const std::string& queue, const Json& pair) {
  return queue + " " + pair["flavor"].get<std::string>() + " " +
         pair["resource"].get<std::string>();
}

// Large: one method for each view of the page, and what they fill together.
class Saving {
 public:
  Saving(const QuestionService& questions, const SavedQuestion& question)
      : questions_(questions), queue_(question.queue), namespace_(question.namespace_) {}

  Result<AuditAnswer> all(const SavedQuestion& question);

 private:
  Result<AuditAnswer> ask(std::string_view path, const Asked& parameters) const;
  Result<void> keep(Json& place, std::string_view path, const Asked& parameters) const;
  Result<void> save_span(const SavedQuestion& question);
  Result<void> save_queue();
  Result<void> save_cohorts();
  Result<void> save_waiting();
  Result<void> save_pair(const Json& pair, const Json& history);
  Result<void> save_clusters();
  Result<void> save_list(const std::string& name);
  Result<void> save_pool();
  Result<void> save_namespace();
  Result<void> save_parts_of(const Json& series);
  Result<void> keep_series(const char* kind, const std::string& name);
  Result<void> save_events();
  Result<void> save_changes();
  Result<void> save_proof();
  // Why an object is as it is, at the times of its steps within the span.
  Result<void> save_moments(const std::string& object, std::string_view subject, Json& place,
                            const std::set<std::string>& times, Asked parameters) const;
  std::set<std::string> times_in(const Json& lines, const Json& history) const;
  Asked in_span(Asked parameters) const {
    parameters.emplace_back("from", from_);
    parameters.emplace_back("to", to_);
    return parameters;
  }

  const QuestionService& questions_;
  const std::string queue_;
  const std::string namespace_;
  std::set<std::string> changed_;  // seqs
  std::string from_, to_;
  Json saved_ = {{"series", Json::array()},      {"history", Json::object()},
                 {"why", Json::object()},        {"whyNot", Json::object()},
                 {"events", Json::object()},     {"records", Json::object()},
                 {"suppressed", Json::object()}, {"waits", Json::object()},
                 {"waiting", nullptr},           {"depth", nullptr}};
};

// Asks until the log is folded.
Result<AuditAnswer> Saving::ask(std::string_view path, const Asked& parameters) const {
  HttpTarget target{std::string(path), {}};
  for (const auto& [name, value] : parameters) target.add(name, value);
  for (;;) {
    const HttpReply reply = questions_.reply(to_text(target));
    Json answer = read_own_json(reply.body);
    if (reply.status != 200) {
      const auto code = reply.status == 400   ? ErrorCode::bad_input
                        : reply.status == 404 ? ErrorCode::not_found
                                              : ErrorCode::unavailable;
      const std::string why = text_in(answer, "error");
      return Error{code, why.empty() ? reply.body : why};
    }
    if (!answer.contains("building") || answer["building"].is_null())
      return AuditAnswer{std::move(answer)};
  }
}

Result<void> Saving::keep(Json& place, std::string_view path, const Asked& parameters) const {
  auto answer = ask(path, parameters);
  if (!answer) return answer.error();
  place = std::move(answer->document);
  return {};
}

// The span of the overview; of its rows those that the file has more about.
Result<void> Saving::save_span(const SavedQuestion& question) {
  if (auto kept = keep(saved_["log"], "/ui/api/log", {}); !kept) return kept;
  Json& overview = saved_["overview"];
  if (auto kept = keep(overview, "/ui/api/overview",
                       {{"from", question.from}, {"to", question.to}, {"buckets", "400"}});
      !kept)
    return kept;
  from_ = overview["from"];
  to_ = overview["to"];
  const auto is_other = [&](const Json& row) { return row["queue"] != queue_; };
  Json& queues = overview["queues"];
  queues.erase(std::remove_if(queues.begin(), queues.end(), is_other), queues.end());
  const LogTime hour{parse_rfc3339(to_)->ns - hours(1).ns};
  const std::string since = to_rfc3339(std::max(hour, *parse_rfc3339(from_)));
  return keep(saved_["hour"], "/ui/api/overview",
              {{"from", since}, {"to", to_}, {"buckets", "60"}});
}

std::set<std::string> Saving::times_in(const Json& lines, const Json& history) const {
  const LogTime from = *parse_rfc3339(from_), to = *parse_rfc3339(to_);
  std::set<std::pair<LogTime, std::string>> all{{from, from_}, {to, to_}};
  const auto add = [&](const std::string& time) {
    const LogTime at = *parse_rfc3339(time);
    if (at >= from && at <= to) all.emplace(at, time);
  };
  for (const auto& [line, steps] : lines.items())
    for (const Json& step : steps) add(step[0]);
  for (const char* part : {"rows", "settings"})
    for (const Json& row : history.value(part, Json::array())) add(row["time"]);
  std::set<std::string> times;
  std::size_t number = 0;
  for (const auto& [at, time] : all) {
    const std::size_t place = number * kSavedMomentsMax / all.size();
    const std::size_t next = (number + 1) * kSavedMomentsMax / all.size();
    if (all.size() <= kSavedMomentsMax || place != next) times.insert(time);
    ++number;
  }
  return times;
}

Result<void> Saving::save_moments(const std::string& object, std::string_view subject, Json& place,
                                  const std::set<std::string>& times, Asked parameters) const {
  parameters.emplace_back("as-of", "");
  Json& answers = place[object] = Json::object();
  for (const std::string& time : times) {
    parameters.back().second = time;
    auto answer = ask(subject, parameters);
    if (answer)
      answers[time] = std::move(answer->document);
    else if (answer.error().code != ErrorCode::bad_input)  // it did not exist yet
      return answer.error();
  }
  return {};
}

Result<void> Saving::save_pair(const Json& pair, const Json& history) {
  const Asked asked{{"queue", queue_}, {"flavor", pair["flavor"]}, {"resource", pair["resource"]}};
  const auto times = times_in(pair["lines"], history);
  const std::string name = pair_name(queue_, pair);
  if (auto kept = save_moments(name, "/audit/why", saved_["why"], times, asked); !kept) return kept;
  return save_moments(name, "/audit/why-not", saved_["whyNot"], times, asked);
}

Result<void> Saving::save_queue() {
  auto series = ask("/ui/api/series", in_span({{"queue", queue_}}));
  if (!series) return series.error();
  auto history = ask("/audit/history", in_span({{"queue", queue_}}));
  if (!history) return history.error();
  for (const Json& pair : series->document["pairs"])
    if (auto kept = save_pair(pair, history->document); !kept) return kept;
  saved_["series"].push_back(std::move(series->document));
  saved_["history"][queue_] = std::move(history->document);
  return keep(saved_["diff"], "/audit/diff", in_span({}));
}

// Who waits in the queue at the end of the span, each with its intervals, and its depth. A log in
// which no Workload was seen has none of these.
Result<void> Saving::save_waiting() {
  auto list = ask("/audit/waiting", {{"queue", queue_}, {"as-of", to_}});
  if (!list && list.error().code == ErrorCode::not_found) return {};
  if (!list) return list.error();
  std::size_t left = kSavedWaitsMax;
  for (const Json& row : list->document["workloads"]) {
    if (left-- == 0) break;
    const std::string workload =
        row["namespace"].get<std::string>() + "/" + row["name"].get<std::string>();
    if (auto kept =
            keep(saved_["waits"][workload], "/audit/waiting", in_span({{"workload", workload}}));
        !kept)
      return kept;
  }
  saved_["waiting"] = std::move(list->document);
  return keep(saved_["depth"], "/ui/api/waiting", in_span({{"queue", queue_}}));
}

// The Cohorts above the queue.
Result<void> Saving::save_cohorts() {
  Json& rows = saved_["overview"]["cohorts"];
  std::map<std::string, std::string> parents;
  std::string above;
  for (const Json& row : rows) {
    const Json& queues = row["queues"];
    if (std::find(queues.begin(), queues.end(), queue_) != queues.end()) above = row["cohort"];
    if (row["parent"].is_string()) parents[row["cohort"]] = row["parent"];
  }
  std::set<std::string> names;
  while (!above.empty() && names.insert(above).second) above = parents[above];
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](const Json& row) { return !names.contains(row["cohort"]); }),
             rows.end());
  for (const Json& row : rows) {
    const std::string object = "cohort/" + row["cohort"].get<std::string>();
    if (auto kept = keep(saved_["history"][object], "/audit/history", in_span({{"queue", object}}));
        !kept)
      return kept;
  }
  return {};
}

// The clusters that the answers about the queue name.
Result<void> Saving::save_clusters() {
  std::set<std::string> names;
  for (const auto& [object, answers] : saved_["why"].items())
    for (const auto& [time, why] : answers.items())
      for (const char* part : {"grants", "workers"})
        for (const Json& row : why.value(part, Json::array())) names.insert(row["cluster"]);
  for (const std::string& name : names) {
    auto series = ask("/ui/api/series", in_span({{"cluster", name}}));
    if (!series && series.error().code == ErrorCode::bad_input) continue;  // it was never seen
    if (!series) return series.error();
    saved_["series"].push_back(std::move(series->document));
    if (auto kept =
            keep(saved_["suppressed"][name], "/ui/api/suppressed", in_span({{"cluster", name}}));
        !kept)
      return kept;
    Json& events = saved_["events"][nodes_of(name)];
    if (auto kept =
            keep(events, "/log/cat", {{"where", nodes_of(name)}, {"to", to_}, {"last", "100"}});
        !kept)
      return kept;
  }
  Json& rows = saved_["overview"]["clusters"];
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](const Json& row) { return !names.contains(row["cluster"]); }),
             rows.end());
  return {};
}

Result<void> Saving::save_list(const std::string& name) {
  const std::string object = "multikueueconfig/" + name;
  auto series = ask("/ui/api/series", in_span({{"list", name}}));
  if (!series) return series.error();
  auto history = ask("/audit/history", in_span({{"queue", object}}));
  if (!history) return history.error();
  Json lines = Json::object();
  for (const Json& worker : series->document["workers"])
    for (const auto& [line, steps] : worker["lines"].items())
      lines[worker["multiKueueCluster"].get<std::string>() + line] = steps;
  const auto times = times_in(lines, history->document);
  if (auto kept = save_moments(object, "/audit/why", saved_["why"], times, {{"queue", object}});
      !kept)
    return kept;
  saved_["series"].push_back(std::move(series->document));
  saved_["history"][object] = std::move(history->document);
  return keep(saved_["events"][decisions_of(name)], "/log/cat",
              in_span({{"where", decisions_of(name)}, {"last", "1000"}}));
}

// A series of the pool; what never was has none.
Result<void> Saving::keep_series(const char* kind, const std::string& name) {
  auto series = ask("/ui/api/series", in_span({{kind, name}}));
  if (!series && series.error().code == ErrorCode::bad_input) return {};
  if (!series) return series.error();
  saved_["series"].push_back(std::move(series->document));
  return {};
}

// The tenant of the namespace, and the super clusters where it has or had slices or pods.
Result<void> Saving::save_parts_of(const Json& series) {
  if (auto kept = keep_series("tenant", namespace_.substr(0, namespace_.find('/'))); !kept)
    return kept;
  for (const Json& share : series["shares"])
    if (share["id"] != "")
      if (auto kept = keep_series("superCluster", share["id"]); !kept) return kept;
  return {};
}

Result<void> Saving::save_namespace() {
  const Asked asked{{"namespace", namespace_}};
  auto series = ask("/ui/api/series", in_span(asked));
  if (!series) return series.error();
  auto history = ask("/audit/history", in_span(asked));
  if (!history) return history.error();
  Json lines = Json::object();
  for (const Json& share : series->document["shares"])
    for (const auto& [line, steps] : share["lines"].items())
      lines[share["id"].get<std::string>() + " " + line] = steps;
  const auto times = times_in(lines, history->document);
  if (auto kept = save_moments(namespace_, "/audit/why", saved_["why"], times, asked); !kept)
    return kept;
  Json& pods = saved_["pods"];
  if (auto kept = keep(pods, "/ui/api/pool", asked); !kept) return kept;
  std::size_t left = kSavedPodsMax;
  for (const Json& row : pods["pods"]) {
    if (left-- == 0) break;
    const std::string pod = namespace_ + "/" + row["pod"].get<std::string>();
    if (auto kept = save_moments(pod, "/audit/why", saved_["why"], {to_}, {{"pod", pod}}); !kept)
      return kept;
  }
  if (auto kept = save_parts_of(series->document); !kept) return kept;
  saved_["series"].push_back(std::move(series->document));
  saved_["history"][namespace_] = std::move(history->document);
  return {};
}

Result<void> Saving::save_pool() {
  saved_["pool"] = nullptr;
  if (!saved_["overview"]["pool"].is_null())
    if (auto kept = keep(saved_["pool"], "/ui/api/pool", {}); !kept) return kept;
  return namespace_.empty() ? Result<void>() : save_namespace();
}

// The newest events of the span, and the records of those that an answer names.
Result<void> Saving::save_events() {
  Json& newest = saved_["events"][""];
  if (auto kept = keep(newest, "/log/cat", in_span({{"last", std::to_string(kSavedEventsMax)}}));
      !kept)
    return kept;
  std::set<std::uint64_t> seqs;
  for (const char* part : {"why", "whyNot", "history", "waits"}) add_seqs(saved_[part], seqs);
  for (auto seq = seqs.rbegin(); seq != seqs.rend() && saved_["records"].size() < kSavedRecordsMax;
       ++seq) {
    const std::string place = "seq:" + std::to_string(*seq);
    auto answer = ask("/log/cat", {{"from", place}, {"to", place}, {"raw", "true"}});
    if (answer) saved_["records"][std::to_string(*seq)] = answer->document["text"];
  }
  for (const auto& [seq, record] : saved_["records"].items()) changed_.insert(seq);
  return save_changes();
}

// What the events changed that the file shows: a part of them at a time.
Result<void> Saving::save_changes() {
  Json& all = saved_["changes"] = Json::object();
  Json& times = saved_["times"] = Json::object();
  std::istringstream lines(saved_["events"][""]["text"].get<std::string>());
  for (std::string line; std::getline(lines, line);)
    if (const Json event = read_own_json(line); event.contains("seq"))
      changed_.insert(std::to_string(event["seq"].get<std::uint64_t>()));
  std::string seqs;
  std::size_t count = 0;
  for (auto seq = changed_.begin(); seq != changed_.end(); ++count) {
    seqs += (seqs.empty() ? "" : ",") + *seq++;
    if (count % kSeqsAtOnce != kSeqsAtOnce - 1 && seq != changed_.end()) continue;
    auto answer = ask("/ui/api/changes", {{"seqs", std::exchange(seqs, {})}, {"times", "true"}});
    if (!answer) return answer.error();
    all.update(answer->document["changes"]);
    times.update(answer->document["times"]);
  }
  return {};
}

Result<void> Saving::save_proof() {
  Json& proof = saved_["proof"];
  if (auto begun = keep(proof, "/ui/api/proof", {{"begin", "true"}}); !begun) return begun;
  while (proof["state"] == "running") {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (auto kept = keep(proof, "/ui/api/proof", {}); !kept) return kept;
  }
  return {};
}

Result<AuditAnswer> Saving::all(const SavedQuestion& question) {
  if (auto kept = save_span(question); !kept) return kept.error();
  if (!queue_.empty()) {
    if (auto kept = save_queue(); !kept) return kept.error();
    if (auto kept = save_cohorts(); !kept) return kept.error();
    if (auto kept = save_waiting(); !kept) return kept.error();
  } else {
    saved_["overview"]["cohorts"] = Json::array();
    if (auto kept = keep(saved_["diff"], "/audit/diff", in_span({})); !kept) return kept.error();
  }
  if (auto kept = save_clusters(); !kept) return kept.error();
  Json& lists = saved_["overview"]["lists"];
  if (lists.size() > kSavedListsMax) lists.erase(lists.begin() + kSavedListsMax, lists.end());
  for (const Json& list : lists)
    if (auto kept = save_list(list["list"]); !kept) return kept.error();
  if (auto kept = save_pool(); !kept) return kept.error();
  if (auto kept = save_events(); !kept) return kept.error();
  if (auto kept = save_proof(); !kept) return kept.error();
  saved_["queue"] = queue_;
  saved_["namespace"] = namespace_;
  saved_["from"] = from_;
  saved_["to"] = to_;
  return AuditAnswer{std::move(saved_)};
}

}  // namespace

Result<AuditAnswer> saved_answers(const QuestionService& questions, const SavedQuestion& question) {
  return Saving(questions, question).all(question);
}

}  // namespace fairlead
