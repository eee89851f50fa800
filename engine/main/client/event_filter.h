// Which events `fairlead log cat --where` and the page's log show, as a person writes it:
// `kind=Node (cluster=c2 or name~/^gpu-[0-9]+$/) time>14:00 NotReady`.
//
//   any   = all { "or" all }                 one of them holds
//   all   = one { one }                      each of them holds
//   one   = "(" any ")" | FIELD OPERATOR VALUE | TEXT | /PATTERN/
//
// A text or a pattern alone is searched in the whole event, as `log cat -o json` prints it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/event_log.h"
#include "engine/main/client/time_text.h"

namespace fairlead {

/// The text about terms in --help.
inline constexpr const char* kWhereHelp =
    "terms that all have to hold, or of several joined by \"or\" one; parentheses group. A term is "
    "FIELD OPERATOR VALUE without spaces: kind, cluster, namespace and name with = != ~ (contains) "
    "!~; seq and time with = != < <= > >=. kind is a kind (Node) or a fact (PatchIntended); time "
    "is "
    "as --from has it. Behind ~ and !~ /PATTERN/ is a regular expression (RE2): "
    "name~/^gpu-[0-9]+$/. A word or /PATTERN/ alone is searched in the whole event, a word in "
    "either "
    "case. What has spaces is quoted: name=\"a b\", \"not ready\"";

/// The terms of one text, parsed.
class EventFilter {
 public:
  /// Parses terms about `log`, with times in `frame`; an empty text has none and accepts every
  /// event. Fails with `bad_input`, naming the term and what was expected.
  static Result<EventFilter> parse(const ReadableLog& log, std::string_view text,
                                   const TimeFrame& frame);
  static Result<EventFilter> parse(const ReadableLog& log, std::string_view text);

  bool accepts(const Event& event) const;
  /// No event before `from` or behind `to` is accepted: what seq and time allow.
  Seq from() const { return terms_.from; }
  Seq to() const { return terms_.to; }
  /// Which moments its times are that were not written in full (position.h); may be empty.
  const std::string& note() const { return note_; }

  /// Returns `text` with the zone's offset behind each time that has none.
  static std::string with_offsets(const std::string& text, const TimeFrame& frame);

 private:
  using Test = std::function<bool(const Event&)>;
  /// What holds of events from `from` to `to` that pass each test.
  struct Terms {
    Seq from{};
    Seq to{UINT64_MAX};
    std::vector<Test> tests{};

    bool hold(const Event& event) const;
    void add(Terms more);
  };
  class Parser;

  Terms terms_;
  std::string note_;
};

/// Whether a word is a kind of Kubernetes (Node) or a fact of ours (PatchIntended).
bool is_known_kind(std::string_view word);
/// Whether the event is such a fact, or about an object of such a kind.
bool is_of_kind(const Event& event, std::string_view word);

}  // namespace fairlead
