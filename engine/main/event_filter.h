// Which events `fairlead log cat --where` and the page's log show: terms that all have to hold, as
// a person writes them: `kind=Node cluster=c2 name~gpu time>14:00`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/event_log.h"

namespace fairlead {

/// The text about terms in --help.
inline constexpr const char* kWhereHelp =
    "terms that all have to hold, each FIELD OPERATOR VALUE without spaces: kind, cluster, "
    "namespace and name with = != ~ (contains) !~; seq and time with = != < <= > >=. kind is a "
    "kind (Node) or a fact (PatchIntended); time is RFC 3339, -2h, or 14:00 or 14:00:30 in UTC on "
    "the day of the last event. A value with spaces is quoted: name=\"a b\"";

/// The terms of one text, parsed.
class EventFilter {
 public:
  /// Parses terms about `log`; an empty text has none and accepts every event. Fails with
  /// `bad_input`, naming the term and what was expected.
  static Result<EventFilter> parse(const EventLog& log, std::string_view text);

  bool accepts(const Event& event) const;
  /// No event before `from` or behind `to` is accepted: what seq and time allow.
  Seq from() const { return from_; }
  Seq to() const { return to_; }

 private:
  using Test = std::function<bool(const Event&)>;
  Result<void> add(const EventLog& log, std::string_view term);
  Result<void> add_place(const EventLog& log, std::string_view field, std::string_view op,
                         const std::string& value);

  Seq from_{};
  Seq to_{UINT64_MAX};
  std::vector<Test> tests_;
};

/// Whether a word is a kind of Kubernetes (Node) or a fact of ours (PatchIntended).
bool is_known_kind(std::string_view word);
/// Whether the event is such a fact, or about an object of such a kind.
bool is_of_kind(const Event& event, std::string_view word);

}  // namespace fairlead
