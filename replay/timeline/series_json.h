// Steps of series as JSON. Internal to the timeline's answers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/quantity.h"
#include "replay/audit/audit_moment.h"
#include "replay/timeline/timeline_answers.h"

namespace fairlead {

/// null of kNoValue.
inline Json amount_json(const std::string& resource, Int128 value) {
  return value == kNoValue ? Json() : Json(amount_text(resource, value));
}
/// null of a what-if's, which is in no log.
inline Json seq_json(Seq seq) { return seq == Seq{} ? Json() : Json(seq.value); }

/// Returns the steps of one line (Step in ui/page_answers.d.ts), as amounts of `resource`.
Json steps_json(const StepSeries& series, const TimelineSpan& span, std::size_t points,
                const std::string& resource);

/// Returns {name: steps} of all lines.
template <class Lines, class Names>
Json lines_json(const Lines& lines, const Names& names, const TimelineSpan& span,
                std::size_t points, const std::string& resource) {
  Json json = Json::object();
  for (std::size_t i = 0; i < lines.size(); ++i)
    json[std::string(names[i])] = steps_json(lines[i], span, points, resource);
  return json;
}

template <class Lines>
bool any_reduced(const Lines& lines) {
  return std::any_of(lines.begin(), lines.end(),
                     [](const StepSeries& series) { return series.reduced(); });
}

/// Returns the entry called `name`; fails with `bad_input` and what there is instead.
template <class Map>
Result<const typename Map::mapped_type*> find_named(const Map& map, const char* what,
                                                    const std::string& name) {
  if (const auto at = map.find(name); at != map.end()) return &at->second;
  std::vector<std::string> names;
  for (const auto& [known, value] : map) names.push_back(known);
  return Error{ErrorCode::bad_input, std::string("no ") + what + " was ever called \"" + name +
                                         "\" in this log; known: " + nearby(names, name)};
}

}  // namespace fairlead
