#include "engine/main/service/page_service.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "engine/main/client/http_target.h"
#include "engine/main/client/position.h"
#include "engine/main/service/page_parameters.h"
#include "engine/main/service/page_usage.h"
#include "engine/main/service/proof_run.h"
#include "engine/main/service/what_if_runs.h"
#include "replay/audit/event_changes.h"
#include "replay/audit/event_times.h"
#include "replay/timeline/moments_span.h"
#include "replay/timeline/pool_answers.h"
#include "replay/timeline/suppressed_nodes.h"
#include "replay/timeline/timeline_answers.h"
#include "replay/timeline/timeline_file.h"
#include "replay/timeline/waiting_depth.h"
#include "schema/debounce_parameter.h"

namespace fairlead {

namespace {

// A question folds at most this many events, about half a second of work, so that other questions
// have their turn and the page can show how far it is.
constexpr std::uint64_t kEventsOfQuestion = 250'000;
// One that is only followed must not keep a question waiting.
constexpr std::uint64_t kEventsOfFollowing = 5'000;
constexpr std::size_t kBucketsUnlessAsked = 400;
constexpr std::size_t kPointsUnlessAsked = 2000;

Result<LogTime> time_of(const ReadableLog& log, const std::string& name, const std::string& text,
                        LogTime otherwise) {
  if (text.empty()) return otherwise;
  const auto position = parse_position(log, name, text);
  if (!position) return position.error();
  if (const auto* time = std::get_if<LogTime>(&*position)) return *time;
  const Seq seq = std::clamp(std::get<Seq>(*position), log.first_seq(), log.last_seq());
  EventLookup lookup(log);
  const Event* event = lookup.at(seq);
  return event ? event->log_time : otherwise;
}

Json damage_of(const ReadableLog& log) {
  const std::string damage = log.damage();
  return damage.empty() ? Json() : Json(damage + ". " + kDamageAdvice);
}

Result<std::optional<Seq>> seq_parameter(const PageParameters& parameters) {
  const std::string text = parameters.text("seq");
  if (text.empty()) return std::optional<Seq>();
  const auto seq = parameters.number("seq", SIZE_MAX, 0);
  if (!seq) return seq.error();
  return std::optional(Seq{*seq});
}

// Whether the log has the hash chain `chain` at `seq`, where a group commit ended when the link was
// made: "same", "other", "behind" (it ends earlier) or "pruned".
std::string compare_chain(const ReadableLog& log, Seq seq, const std::string& chain) {
  if (seq > log.last_seq()) return "behind";
  if (next(seq) < log.first_seq()) return "pruned";
  const auto here = log.chain_at(seq);
  return here && here->hex().starts_with(chain) ? "same" : "other";
}

SeriesQuestion question_of(const PageParameters& parameters) {
  return {parameters.text("queue"),        parameters.text("cluster"),
          parameters.text("list"),         parameters.optional("flavor"),
          parameters.optional("resource"), parameters.text("namespace"),
          parameters.text("superCluster"), parameters.text("tenant")};
}

// "[[queue, flavor, resource], ...]".
Result<std::vector<SeriesQuestion>> asked_pairs(const std::string& text) {
  const Json list = read_json(text);
  std::vector<SeriesQuestion> pairs;
  for (const Json& one : list.is_array() ? list : Json::array()) {
    const bool are_texts =
        one.is_array() && one.size() == 3 &&
        std::all_of(one.begin(), one.end(), [](const Json& part) { return part.is_string(); });
    if (are_texts)
      pairs.push_back({.queue = one[0].get<std::string>(),
                       .flavor = one[1].get<std::string>(),
                       .resource = one[2].get<std::string>()});
  }
  if (!pairs.empty() && pairs.size() == list.size() && pairs.size() <= kPageSparksMax) return pairs;
  return Error{ErrorCode::bad_input, "of: expected 1 to " + std::to_string(kPageSparksMax) +
                                         " times [queue, flavor, resource] as JSON"};
}

// The windows that a what-if may change, as they are at the log's end.
Json settings_json(const DebounceSettings& settings) {
  Json list = Json::array();
  for (const DebounceParameter& parameter : kDebounceParameters)
    list.push_back({{"name", parameter.name},
                    {"value", debounce_parameter_text(settings, parameter)},
                    {"most", parameter.duration ? Json() : Json(parameter.number_max)},
                    {"zero", parameter.zero != ZeroValue::refused}});
  return list;
}

Json building_json(const WhatIfProgress& progress) {
  return {{"seq", progress.seq.value}, {"lastSeq", progress.last.value}};
}

// The document of a what-if for the page, with a bounded number of differences.
Json shown_what_if(const WhatIf& result) {
  WhatIf shown = result;
  const std::size_t all = shown.differences.size();
  if (all > kPageDifferencesMax) shown.differences.resize(kPageDifferencesMax);
  Json document = to_json(shown);
  document["differencesLeftOut"] = all - shown.differences.size();
  return document;
}

Result<std::vector<Seq>> seqs_of(std::string_view text) {
  std::vector<Seq> seqs;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    Seq seq;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), seq.value);
    if (error != std::errc{} || end != one.data() + one.size())
      return Error{ErrorCode::bad_input,
                   "seqs: expected numbers with commas, got \"" + std::string(one) + "\""};
    seqs.push_back(seq);
  }
  if (!seqs.empty() && seqs.size() <= kPageChangesMax) return seqs;
  return Error{ErrorCode::bad_input, "seqs: expected 1 to " + std::to_string(kPageChangesMax) +
                                         " numbers, got " + std::to_string(seqs.size())};
}

}  // namespace

struct PageService::Parts {
  // Begins with what was saved beside the log, if that can be used.
  void load(const ServedLog& served) {
    if (std::exchange(loaded, true) || served.option != kDataOption) return;
    auto saved = saved_timeline(served.path, *served.log, served.snapshots.get());
    if (!saved) return;
    timeline = *std::move(saved);
    saved_seq = timeline.seq();
  }
  // Whether the log is at its end. What is before damage is shown, so that is an end and no error.
  Result<bool> judged(const Result<bool>& ended) {
    const bool damaged = !ended && ended.error().code == ErrorCode::corrupt;
    fault = damaged ? ended.error().message : "";
    if (!ended && !damaged) return ended.error();
    return damaged || *ended;
  }
  // Folds on, as far as one question does.
  Result<void> fold(const ServedLog& served) {
    load(served);
    const auto ended =
        judged(timeline.advance(*served.log, served.snapshots.get(), kEventsOfQuestion));
    if (!ended) return ended.error();
    return {};
  }
  // "building" of an answer.
  Json building(const ServedLog& served) const {
    const Seq last = served.log->last_seq();
    if (timeline.seq() >= last || !fault.empty()) return nullptr;
    return {{"seq", timeline.seq().value}, {"lastSeq", last.value}};
  }
  // "damage" of an answer: what was met while folding, or when the log was opened.
  Json damage(const ServedLog& served) const {
    return fault.empty() ? damage_of(*served.log) : Json(fault + ". " + kDamageAdvice);
  }
  Result<TimelineSpan> span_of(const ReadableLog& log, const PageParameters& parameters) const {
    const auto from = time_of(log, "from", parameters.text("from"), timeline.begin());
    if (!from) return from.error();
    const auto to = time_of(log, "to", parameters.text("to"), log.last_time());
    if (!to) return to.error();
    if (*from <= *to) return TimelineSpan{*from, *to};
    return Error{ErrorCode::bad_input,
                 "to (" + to_rfc3339(*to) + ") is before from (" + to_rfc3339(*from) + ")"};
  }
  Result<std::string> log(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> changes(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> overview(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> series(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> sparks(const ServedLog& served, const PageParameters& parameters);
  void refine_span(const ServedLog& served, const SeriesQuestion& question,
                   const TimelineSpan& span, std::size_t points, Json& series);
  Result<std::string> pool(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> suppressed(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> waiting(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> usage(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> proof_report(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> what_if_answer(const ServedLog& served, const PageParameters& parameters);
  Result<std::string> what_if_document(const ServedLog& served, const PageParameters& parameters);
  const ResourceAliases& aliases() const { return timeline.state().configuration.resource_aliases; }

  Timeline timeline;
  // The last span for which reduced series were folded anew, and its values.
  struct {
    Digest chain;  // of the log then
    LogTime from, to;
    std::optional<ValueSeries> values;
  } exact;
  // The depth of the queues, of the log as it was then: reading it anew takes a walk over the log.
  struct {
    Digest chain;
    std::optional<WaitingDepth> of_queues;
  } depth;
  bool loaded = false;  // or found to be missing
  Seq saved_seq;        // how far the saved index is
  std::string fault;    // what kept the last question from folding on; empty: nothing
  ProofRun proof;
  WhatIfRuns what_ifs;
};

Result<std::string> PageService::Parts::log(const ServedLog& served,
                                            const PageParameters& parameters) {
  const auto seq = seq_parameter(parameters);
  if (!seq) return seq.error();
  const ReadableLog& log = *served.log;
  const bool empty = log.last_seq() == Seq{};
  Json answer{{"kind", "Log"},
              {"first_seq", log.first_seq().value},
              {"last_seq", log.last_seq().value},
              {"last_time", empty ? Json() : Json(to_rfc3339(log.last_time()))},
              {"chain", log.chain().hex()},
              {"damage", damage_of(log)},
              {"place", {served.option, served.path}},
              {"program_version", FAIRLEAD_VERSION},
              {"link", nullptr}};
  if (*seq) answer["link"] = compare_chain(log, **seq, parameters.text("chain"));
  return to_text(answer);
}

// What these events changed, and when; an event is left out if neither is known.
Result<std::string> PageService::Parts::changes(const ServedLog& served,
                                                const PageParameters& parameters) {
  const std::string timed = parameters.text("times");
  if (!timed.empty() && timed != "true")
    return Error{ErrorCode::bad_input, "times: expected true, got \"" + timed + "\""};
  const auto seqs = seqs_of(parameters.text("seqs"));
  if (!seqs) return seqs.error();
  EventLookup lookup(*served.log);
  lookup.expect(*seqs);
  EventChanges changes(lookup);
  EventTimes times(lookup, changes);
  Json answer{{"kind", "Changes"}, {"changes", Json::object()}};
  if (!timed.empty()) answer["times"] = Json::object();
  for (const Seq seq : *seqs) {
    const std::string name = std::to_string(seq.value);
    if (Json words = changes.json_of(lookup.at(seq)); !words.is_null())
      answer["changes"][name] = std::move(words);
    if (timed.empty()) continue;
    if (Json when = times.json_of(lookup.at(seq)); !when.is_null())
      answer["times"][name] = std::move(when);
  }
  return to_text(answer);
}

Result<std::string> PageService::Parts::overview(const ServedLog& served,
                                                 const PageParameters& parameters) {
  const auto buckets = parameters.number("buckets", kPageBucketsMax, kBucketsUnlessAsked);
  if (!buckets) return buckets.error();
  const std::string whole = parameters.text("span");
  if (!whole.empty() && whole != "all")
    return Error{ErrorCode::bad_input, "span: expected all, got \"" + whole + "\""};
  const bool asked = !parameters.text("from").empty() || !parameters.text("to").empty();
  if (auto folded = fold(served); !folded) return folded.error();
  auto span = span_of(*served.log, parameters);
  if (!span) return span.error();
  if (!asked && whole.empty()) *span = span_of_moments(timeline, *span);
  Json answer = overview_answer(timeline, *span, *buckets);
  answer["building"] = building(served);
  answer["begin"] = to_rfc3339(timeline.begin());
  answer["damage"] = damage(served);
  return to_text(answer);
}

Result<std::string> PageService::Parts::series(const ServedLog& served,
                                               const PageParameters& parameters) {
  const auto points = parameters.number("points", kPagePointsMax, kPointsUnlessAsked);
  if (!points) return points.error();
  if (auto folded = fold(served); !folded) return folded.error();
  const auto span = span_of(*served.log, parameters);
  if (!span) return span.error();
  auto answer =
      series_answer(timeline.values(), aliases(), question_of(parameters), *span, *points);
  if (!answer) return answer.error();
  if (is_reduced(answer->document))
    refine_span(served, question_of(parameters), *span, *points, answer->document);
  answer->document["building"] = building(served);
  answer->document["damage"] = damage(served);
  return to_text(answer->document);
}

// Small charts in one answer. What a Timeline left out of their series stays left out.
Result<std::string> PageService::Parts::sparks(const ServedLog& served,
                                               const PageParameters& parameters) {
  const auto points = parameters.number("points", kPagePointsMax, kPointsUnlessAsked);
  if (!points) return points.error();
  const auto asked = asked_pairs(parameters.text("of"));
  if (!asked) return asked.error();
  if (auto folded = fold(served); !folded) return folded.error();
  const auto span = span_of(*served.log, parameters);
  if (!span) return span.error();
  Json rows = Json::array();
  for (const SeriesQuestion& question : *asked) {
    auto answer = series_answer(timeline.values(), aliases(), question, *span, *points);
    rows.push_back(answer ? std::move(answer->document) : Json());
  }
  return to_text(
      Json{{"kind", "Sparks"}, {"series", std::move(rows)}, {"building", building(served)}});
}

Result<std::string> PageService::Parts::pool(const ServedLog& served,
                                             const PageParameters& parameters) {
  if (auto folded = fold(served); !folded) return folded.error();
  auto answer = pool_answer(
      timeline.state(),
      {parameters.text("tenant"), parameters.text("namespace"), parameters.text("superCluster")});
  if (!answer) return answer.error();
  answer->document["building"] = building(served);
  answer->document["damage"] = damage(served);
  return to_text(answer->document);
}

Result<std::string> PageService::Parts::suppressed(const ServedLog& served,
                                                   const PageParameters& parameters) {
  if (auto folded = fold(served); !folded) return folded.error();
  const std::string cluster = parameters.text("cluster");
  const auto span = span_of(*served.log, parameters);
  if (!span) return span.error();
  const auto known = series_answer(timeline.values(), aliases(), {.cluster = cluster}, *span, 1);
  if (!known) return known.error();
  auto answer = suppressed_nodes(*served.log, served.snapshots.get(), cluster, *span);
  if (!answer) return answer.error();
  answer->document["building"] = building(served);
  return to_text(answer->document);
}

Result<std::string> PageService::Parts::waiting(const ServedLog& served,
                                                const PageParameters& parameters) {
  if (auto folded = fold(served); !folded) return folded.error();
  const auto span = span_of(*served.log, parameters);
  if (!span) return span.error();
  const auto points = parameters.number("points", kPagePointsMax, kPointsUnlessAsked);
  if (!points) return points.error();
  const Digest chain = served.log->chain();
  if (!depth.of_queues || depth.chain != chain) {
    auto read = waiting_depth({*served.log, served.snapshots.get()});
    if (!read) return read.error();
    depth = {chain, *std::move(read)};
  }
  Json answer = waiting_depth_json(*depth.of_queues, parameters.text("queue"), *span, *points);
  answer["building"] = building(served);
  return to_text(answer);
}

Result<std::string> PageService::Parts::usage(const ServedLog& served,
                                              const PageParameters& parameters) {
  return page_usage(served, {.from = parameters.text("from"),
                             .to = parameters.text("to"),
                             .by = parameters.optional("by").value_or("queue"),
                             .every = parameters.text("every")});
}

// Folds the events of a short span anew, where too many steps were left out before. What cannot be
// folded stays as it is, and says that it is reduced.
void PageService::Parts::refine_span(const ServedLog& served, const SeriesQuestion& question,
                                     const TimelineSpan& span, std::size_t points, Json& series) {
  const Digest chain = served.log->chain();
  if (!exact.values || exact.chain != chain || exact.from != span.from || exact.to != span.to) {
    auto values = exact_values(*served.log, served.snapshots.get(), span.from, span.to);
    if (!values || !*values) return;
    exact = {chain, span.from, span.to, std::move(*values)};
  }
  const auto answer = series_answer(*exact.values, aliases(), question, span, points);
  if (answer) refine(series, answer->document);
}

Result<std::string> PageService::Parts::proof_report(const ServedLog& served,
                                                     const PageParameters& parameters) {
  const std::string begin = parameters.text("begin");
  if (!begin.empty() && begin != "true")
    return Error{ErrorCode::bad_input, "begin: expected true, got \"" + begin + "\""};
  if (!begin.empty()) proof.begin(served);
  return to_text(proof.report());
}

Result<std::string> PageService::Parts::what_if_document(const ServedLog& served,
                                                         const PageParameters& parameters) {
  const auto progress = what_ifs.ask(served, what_if_question(parameters.target()));
  if (!progress) return progress.error();
  if (progress->finished) return to_text(to_json(progress->finished->result));
  return to_text(Json{{"building", building_json(*progress)}});
}

Result<std::string> PageService::Parts::what_if_answer(const ServedLog& served,
                                                       const PageParameters& parameters) {
  const WhatIfQuestion question = what_if_question(parameters.target());
  const auto points = parameters.number("points", kPagePointsMax, kPointsUnlessAsked);
  if (!points) return points.error();
  if (auto folded = fold(served); !folded) return folded.error();
  Json answer{{"kind", "PageWhatIf"},
              {"settings", settings_json(timeline.state().configuration.debounce)},
              {"whatIf", nullptr},
              {"series", nullptr},
              {"building", building(served)}};
  if (!answer["building"].is_null() || question.configuration.settings.empty())
    return to_text(answer);
  const auto progress = what_ifs.ask(served, question);
  if (!progress) return progress.error();
  if (!progress->finished) {
    answer["building"] = building_json(*progress);
    return to_text(answer);
  }
  const WhatIf& result = progress->finished->result;
  answer["whatIf"] = shown_what_if(result);
  if (parameters.text("queue").empty()) return to_text(answer);
  auto series = series_answer(*progress->finished->values, aliases(), question_of(parameters),
                              {result.first_time, result.last_time}, *points);
  if (!series) return series.error();
  answer["series"] = std::move(series->document);
  return to_text(answer);
}

Result<bool> PageService::follow(const ServedLog& served) {
  if (!parts_->loaded) return true;
  return parts_->judged(
      parts_->timeline.follow(*served.log, served.snapshots.get(), kEventsOfFollowing));
}

Result<void> PageService::save_index(const ServedLog& served, std::uint64_t events_min) {
  const Seq seq = parts_->timeline.contents().seq;
  if (seq.value < parts_->saved_seq.value + events_min) return {};
  parts_->saved_seq = seq;  // also if that fails: a full disk is not asked again at every event
  const auto saved = save_timeline(parts_->timeline, served.path);
  return saved ? Result<void>() : saved.error();
}

PageService::PageService() : parts_(std::make_unique<Parts>()) {}
PageService::~PageService() = default;

Result<std::string> PageService::answer(const ServedLog& served, std::string_view text) {
  struct Row {
    std::string_view name;  // behind kPageApiPath
    std::vector<std::string_view> parameters;
    Result<std::string> (Parts::*answer)(const ServedLog&, const PageParameters&);
  };
  static const std::vector<Row> kQuestions{
      {"log", {"seq", "chain"}, &Parts::log},
      {"overview", {"span", "from", "to", "buckets"}, &Parts::overview},
      {"series",
       {"queue", "cluster", "list", "namespace", "superCluster", "tenant", "flavor", "resource",
        "from", "to", "points"},
       &Parts::series},
      {"sparks", {"of", "from", "to", "points"}, &Parts::sparks},
      {"pool", {"namespace", "superCluster", "tenant"}, &Parts::pool},
      {"suppressed", {"cluster", "from", "to"}, &Parts::suppressed},
      {"waiting", {"queue", "from", "to", "points"}, &Parts::waiting},
      {"usage", {"by", "every", "from", "to"}, &Parts::usage},
      {"changes", {"seqs", "times"}, &Parts::changes},
      {"proof", {"begin"}, &Parts::proof_report},
      {"whatif",
       {"set", "from", "to", "queue", "flavor", "resource", "points"},
       &Parts::what_if_answer}};
  static const Row kWhatIf{"", {"set", "from", "to"}, &Parts::what_if_document};
  const auto target = parse_target(text);
  if (!target) return target.error();
  const Row* asked = target->path == kWhatIfPath ? &kWhatIf : nullptr;
  std::string known;
  for (const Row& question : kQuestions) {
    if (target->path == std::string(kPageApiPath).append(question.name)) asked = &question;
    known.append(known.empty() ? "" : ", ").append(question.name);
  }
  if (asked == nullptr)
    return Error{ErrorCode::bad_input, "expected " + known + ", got \"" +
                                           target->path.substr(kPageApiPath.size()) + "\""};
  const auto parameters = PageParameters::of(*target, asked->parameters);
  if (!parameters) return parameters.error();
  return (parts_.get()->*asked->answer)(served, *parameters);
}

}  // namespace fairlead
