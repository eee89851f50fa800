#include "engine/main/client/log_page.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <ostream>
#include <sstream>
#include <tuple>
#include <utility>

#include "engine/base/json.h"
#include "engine/base/printable.h"
#include "engine/main/client/event_filter.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/http_target.h"
#include "engine/main/client/log_place.h"
#include "engine/main/client/position.h"
#include "schema/event_json.h"

namespace fairlead {
namespace {

/// A LogSelection with its positions and names parsed.
struct Filter {
  Seq from{};  ///< 0: the first that is kept
  Seq to{UINT64_MAX};
  std::string kind;
  std::string namespace_;
  std::string name;
  EventFilter where;
  std::size_t last = 0;  ///< 0: all
  std::string note;      ///< which moments the times are that were not written in full

  bool accepts(const Event& event) const {
    const ObjectKey* object = object_of(event.fact);
    if (!name.empty() && (object == nullptr || object->name != name)) return false;
    if (!namespace_.empty() && (object == nullptr || object->namespace_ != namespace_))
      return false;
    return (kind.empty() || is_of_kind(event, kind)) && where.accepts(event);
  }
};

Error bad_flag(const char* flag, const std::string& expected, const std::string& given) {
  return {ErrorCode::bad_input,
          std::string(flag) + ": expected " + expected + ", got \"" + given + "\""};
}

Result<void> add_places(const ReadableLog& log, const LogSelection& selection, Filter& filter) {
  const TimeFrame frame = frame_of(log, selection.zone, selection.now);
  filter.note = note_of({{"--from", selection.from}, {"--to", selection.to}}, frame);
  if (!selection.from.empty()) {
    const auto from = first_event(log, "--from", absolute(selection.from, frame));
    if (!from) return from.error();
    filter.from = *from;
  }
  if (!selection.to.empty()) {
    const auto to = last_event(log, "--to", absolute(selection.to, frame));
    if (!to && to.error().code != ErrorCode::gone) return to.error();
    filter.to = to ? *to : Seq{};  // every event that is kept is later
  }
  auto where = EventFilter::parse(log, selection.where, frame);
  if (!where) return where.error();
  filter.where = *std::move(where);
  if (!filter.where.note().empty())
    filter.note += (filter.note.empty() ? "" : ", ") + filter.where.note();
  filter.from = std::max(filter.from, filter.where.from());
  filter.to = std::min(filter.to, filter.where.to());
  return {};
}

Result<std::size_t> last_of(const std::string& text) {
  std::size_t last = 0;
  if (text.empty()) return last;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), last);
  if (error == std::errc{} && end == text.data() + text.size() && last >= 1 && last <= kLogLastMax)
    return last;
  return bad_flag("--last", "a number from 1 to " + std::to_string(kLogLastMax), text);
}

Result<Filter> understand(const ReadableLog& log, const LogSelection& selection) {
  Filter filter;
  if (auto added = add_places(log, selection, filter); !added) return added.error();
  const auto last = last_of(selection.last);
  if (!last) return last.error();
  filter.last = *last;
  if (!selection.kind.empty() && !is_known_kind(selection.kind))
    return bad_flag("--kind", "a kind (ClusterQueue) or a fact (PatchIntended)", selection.kind);
  filter.kind = selection.kind;
  const std::size_t slash = selection.object.find('/');
  if (slash != std::string::npos) filter.namespace_ = selection.object.substr(0, slash);
  filter.name = slash == std::string::npos ? selection.object : selection.object.substr(slash + 1);
  if (!selection.object.empty() && filter.name.empty())
    return bad_flag("--object", "NAME or NAMESPACE/NAME", selection.object);
  return filter;
}

/// How events are printed.
struct Printing {
  bool raw = false;
  LogOutput output = LogOutput::json;
  TimeZone zone{};            ///< of text
  DescribeEvents describe{};  ///< empty: not at all
};

Printing printing_of(const LogSelection& selection, LogOutput output) {
  Printing printing{selection.raw, output, selection.zone, {}};
  if (output == LogOutput::text) printing.describe = selection.describe;
  return printing;
}

EventWords words_in(const ReadableLog& log, const Printing& printing) {
  return printing.describe ? printing.describe(log) : EventWords{};
}

void print_event(const Event& event, const std::optional<std::string>& raw,
                 const Printing& printing, const EventWords& words, std::ostream& out) {
  if (printing.output == LogOutput::json) {
    Json line = to_json(event);
    if (raw) {
      Json object = read_json(*raw);
      line["raw"] = object.is_discarded() ? Json(*raw) : std::move(object);
    }
    out << to_text(line) << '\n';
    return;
  }
  out << event.seq.value << ' ' << to_text(event.log_time, printing.zone) << ' '
      << printable(event.source) << ' ' << fact_name(event.fact);
  if (const ObjectKey* object = object_of(event.fact))
    out << ' ' << info(object->kind).name << ' '
        << printable(object->namespace_.empty() ? object->name
                                                : object->namespace_ + "/" + object->name);
  if (const std::string changed = words.of ? words.of(event) : ""; !changed.empty())
    out << ": " << printable(changed);
  out << '\n';
  if (raw) out << "  " << printable(*raw) << '\n';
}

enum class Extent : std::uint8_t { page, all };

Result<void> print_accepted(const ReadableLog& log, const Event& event, const Printing& printing,
                            const EventWords& words, std::ostream& out) {
  std::optional<std::string> object;
  if (printing.raw) {
    auto raw = log.raw(event.seq);
    if (!raw) return raw.error();
    object = *std::move(raw);
  }
  print_event(event, object, printing, words, out);
  return {};
}

/// Prints until the selection or the page ends. Returns where the next page begins, if there is
/// one.
Result<std::optional<Seq>> print_page(const ReadableLog& log, const Filter& filter,
                                      const Printing& printing, Extent extent, std::ostream& out) {
  const auto reader = log.read(filter.from);
  if (!reader) return reader.error();
  const EventWords words = words_in(log, printing);
  for (std::uint64_t seen = 0; out; ++seen) {
    const auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event || (*event)->seq > filter.to) return std::nullopt;
    if (extent == Extent::page &&
        (seen == kLogPageEventsMax || std::streamoff{out.tellp()} >= kLogPageBytesMax))
      return (*event)->seq;
    if (!filter.accepts(**event)) {
      if (words.passed) words.passed(**event);
      continue;
    }
    if (auto printed = print_accepted(log, **event, printing, words, out); !printed)
      return printed.error();
  }
  return std::nullopt;
}

/// The newest of the selected events, found from the end of the log backwards.
class NewestEvents {
 public:
  NewestEvents(const ReadableLog& log, const Filter& filter, const Printing& printing)
      : log_(log), filter_(filter), printing_(printing) {}

  /// Reads back until there are filter.last of them, or the selection or the page ends.
  Result<void> read(Extent extent) {
    const Seq begin = std::max(filter_.from, log_.first_seq());
    end_ = next(std::min(filter_.to, log_.last_seq()));
    while (end_ > begin && lines_.size() < filter_.last) {
      if (extent == Extent::page && (seen_ >= kLogPageEventsMax || bytes_ >= kLogPageBytesMax))
        return {};
      const Seq from{std::max(begin.value, end_.value - std::min(end_.value, kStretch))};
      if (auto read = read_stretch(from); !read) return read;
    }
    if (end_ <= begin) end_ = {};
    return {};
  }
  void print(std::ostream& out) const {
    for (const std::string& line : lines_) out << line;
  }
  std::size_t count() const { return lines_.size(); }
  /// The event before which older ones may be selected; 0: there are none.
  Seq end() const { return end_; }

 private:
  static constexpr std::uint64_t kStretch = 4096;

  // Reads the events from `from` up to end_ and keeps the newest of them.
  Result<void> read_stretch(Seq from) {
    const auto reader = log_.read(from);
    if (!reader) return reader.error();
    std::deque<Event> found;
    for (Seq seq = from; seq < end_; seq = next(seq), ++seen_) {
      auto event = (*reader)->next();
      if (!event) return event.error();
      if (!*event) break;
      if (!filter_.accepts(**event)) continue;
      found.push_back(*std::move(*event));
      if (found.size() > filter_.last - lines_.size()) found.pop_front();
    }
    end_ = from;
    for (auto event = found.rbegin(); event != found.rend(); ++event) {
      std::ostringstream line;
      // Not in their order, so each with words of its own.
      const EventWords words = words_in(log_, printing_);
      if (auto printed = print_accepted(log_, *event, printing_, words, line); !printed)
        return printed;
      lines_.push_front(std::move(line).str());
      bytes_ += static_cast<std::int64_t>(lines_.front().size());
      if (lines_.size() == filter_.last) end_ = event->seq;
    }
    return {};
  }

  const ReadableLog& log_;
  const Filter& filter_;
  const Printing printing_;
  std::deque<std::string> lines_;  // ascending
  std::int64_t bytes_ = 0;
  std::uint64_t seen_ = 0;
  Seq end_;
};

std::string spelled(Seq seq) { return "seq:" + std::to_string(seq.value); }

Result<void> add_newest(const ReadableLog& log, const Filter& filter, const Printing& printing,
                        Json& page) {
  NewestEvents newest(log, filter, printing);
  if (auto read = newest.read(Extent::page); !read) return read;
  std::ostringstream text;
  newest.print(text);
  page["text"] = std::move(text).str();
  page["events"] = newest.count();
  if (newest.end() > std::max(filter.from, log.first_seq()))
    page["next"] = {{"from", spelled(filter.from)}, {"to", spelled({newest.end().value - 1})}};
  return {};
}

Result<void> add_oldest(const ReadableLog& log, const Filter& filter, const Printing& printing,
                        Json& page) {
  std::ostringstream text;
  const auto next = print_page(log, filter, printing, Extent::page, text);
  if (!next) return next.error();
  page["text"] = std::move(text).str();
  if (*next) page["next"] = {{"from", spelled(**next)}, {"to", spelled(filter.to)}};
  return {};
}

Result<std::string> answer_cat(const ReadableLog& log, const LogSelection& selection,
                               LogOutput output) {
  auto filter = understand(log, selection);
  if (!filter) return filter.error();
  filter->to = std::min(filter->to, log.last_seq());
  Json page{{"exit", kDone}, {"end", log.last_seq().value}};
  if (!filter->note.empty()) page["note"] = filter->note;
  const Printing printing = printing_of(selection, output);
  auto added = filter->last > 0 ? add_newest(log, *filter, printing, page)
                                : add_oldest(log, *filter, printing, page);
  if (!added) return added.error();
  return to_text(page);
}

Result<std::string> answer_stat(const ReadableLog& log, LogOutput output,
                                const std::optional<ReplicationReport>& replication) {
  std::ostringstream text;
  const auto exit_code = print_stat(log, output, text, {}, replication);
  if (!exit_code) return exit_code.error();
  return to_text(Json{{"text", std::move(text).str()}, {"exit", *exit_code}});
}

constexpr std::array<std::pair<std::string_view, std::string LogSelection::*>, 6> kSelectors{
    {{"from", &LogSelection::from},
     {"to", &LogSelection::to},
     {"kind", &LogSelection::kind},
     {"object", &LogSelection::object},
     {"where", &LogSelection::where},
     {"last", &LogSelection::last}}};

/// One page as a hub answers it.
struct LogPage {
  std::string text;
  int exit_code = kDone;
  std::size_t events = 0;                                   ///< of a selection with `last`
  std::optional<std::pair<std::string, std::string>> next;  ///< from, to
  std::string note{};                                       ///< for a person (note_on_times)
  std::optional<Seq> end{};                                 ///< of the log
};

/// Reads a page; nullopt if the answer is not a hub's.
std::optional<LogPage> read_page(const std::string& answer) {
  const Json document = read_json(answer);
  const auto exit_code = natural_in(document, "exit");
  // Any other exit code of a hub is an error, which has no page.
  if (!member(document, "text").is_string() || !exit_code || *exit_code > kAnswerIsNo)
    return std::nullopt;
  const auto events = natural_in(document, "events");
  if (!events && document.contains("events")) return std::nullopt;
  LogPage page{text_in(document, "text"), static_cast<int>(*exit_code), events.value_or(0), {}};
  page.note = text_in(document, "note");
  if (const auto end = natural_in(document, "end")) page.end = Seq{*end};
  if (!document.contains("next")) return page;
  const Json& next = member(document, "next");
  page.next.emplace(text_in(next, "from"), text_in(next, "to"));
  if (page.next->first.empty() || page.next->second.empty()) return std::nullopt;
  return page;
}

/// The question that a target asks about the log.
struct LogQuestion {
  std::string subject;
  LogSelection selection;
  LogOutput output = LogOutput::json;
};

Result<void> parse_parameter(LogQuestion& question, const std::string& name,
                             const std::string& value) {
  for (const auto& [known, member] : kSelectors)
    if (name == known) {
      question.selection.*member = value;
      return {};
    }
  if (name == "raw" && (value == "true" || value == "false")) {
    question.selection.raw = value == "true";
    return {};
  }
  if (name == "output" && (value == "text" || value == "json")) {
    question.output = value == "text" ? LogOutput::text : LogOutput::json;
    return {};
  }
  return Error{
      ErrorCode::bad_input,
      "unknown parameter \"" + name + "=" + value +
          "\"; known: from, to, kind, object, where, last, raw=true|false, output=text|json"};
}

Result<LogQuestion> log_question(std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return target.error();
  LogQuestion question{target->path.substr(kLogPath.size()), {}, LogOutput::json};
  for (const auto& [name, value] : target->parameters)
    if (auto parsed = parse_parameter(question, name, value); !parsed) return parsed.error();
  return question;
}

}  // namespace

Result<std::string> note_on_times(const ReadableLog& log, const LogSelection& selection) {
  const auto filter = understand(log, selection);
  if (!filter) return filter.error();
  return filter->note;
}

Result<void> print_events(const ReadableLog& log, const LogSelection& selection, LogOutput output,
                          std::ostream& out) {
  const auto filter = understand(log, selection);
  if (!filter) return filter.error();
  const Printing printing = printing_of(selection, output);
  if (filter->last > 0) {
    NewestEvents newest(log, *filter, printing);
    if (auto read = newest.read(Extent::all); !read) return read;
    newest.print(out);
    return {};
  }
  const auto printed = print_page(log, *filter, printing, Extent::all, out);
  if (!printed) return printed.error();
  return {};
}

Result<std::string> answer_log_target(const ReadableLog& log, std::string_view target,
                                      std::optional<LogTime> now, const DescribeEvents& describe,
                                      const std::optional<ReplicationReport>& replication) {
  auto question = log_question(target);
  if (!question) return question.error();
  question->selection.now = now;
  question->selection.describe = describe;
  if (question->subject == "stat") return answer_stat(log, question->output, replication);
  if (question->subject == "position") {
    if (replication) return to_text(position_json(replication->place));
    return Error{ErrorCode::bad_input, "the log is not replicated: it has no position"};
  }
  if (question->subject == "cat") return answer_cat(log, question->selection, question->output);
  return Error{ErrorCode::bad_input,
               "expected stat, cat, position or export, got \"" + question->subject + "\""};
}

Result<HubPrinted> print_from_hub(const AskHub& ask, const char* subject,
                                  const LogSelection& selection, LogOutput output,
                                  std::ostream& out, std::ostream& err) {
  LogSelection page = selection;
  const TimeFrame here = frame_here(selection.zone);
  page.from = with_offset(page.from, here);
  page.to = with_offset(page.to, here);
  page.where = EventFilter::with_offsets(page.where, here);
  std::deque<std::string> newest;  // of a selection with `last`, whose pages come newest first
  const auto wanted = last_of(selection.last);
  if (!wanted) return wanted.error();
  std::string noted;
  std::optional<Seq> end;
  for (std::size_t events = 0;;) {
    HttpTarget target{std::string(kLogPath) + subject, {}};
    for (const auto& [name, member] : kSelectors) target.add(name, page.*member);
    if (page.raw) target.add("raw", "true");
    target.add("output", output == LogOutput::json ? "json" : "text");
    const auto answer = ask(to_text(target));
    if (!answer) return answer.error();
    auto printed = read_page(*answer);
    if (printed) printed->text = printable_lines(printed->text);
    if (printed && output == LogOutput::text)
      printed->text = in_zone(printed->text, selection.zone);
    if (!printed)
      return Error{ErrorCode::unavailable,
                   "the server answered something else than a page of a log"};
    // The pages of one answer have the same note.
    if (printed->note != std::exchange(noted, printed->note) && !printed->note.empty())
      err << "fairlead log: " << printable(printed->note) << '\n';
    if (!end) end = printed->end;
    events += printed->events;
    const bool whole = *wanted > 0 && events >= *wanted;
    if (*wanted > 0)
      newest.push_front(std::move(printed->text));
    else
      out << printed->text;
    if (printed->next && !whole && out) {
      if (*printed->next == std::pair(page.from, page.to))
        return Error{ErrorCode::unavailable, "the server gives the same page again and again"};
      std::tie(page.from, page.to) = *printed->next;
      if (*wanted > 0) page.last = std::to_string(*wanted - events);
      continue;
    }
    for (const std::string& text : newest) out << text;
    return HubPrinted{printed->exit_code, end};
  }
}

}  // namespace fairlead
