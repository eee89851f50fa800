#include "engine/runtime/claim_census.h"

#include "engine/base/json.h"
#include "engine/fold/writes/record.h"

namespace fairlead {

const ClaimCensus::Entry& ClaimCensus::read(const std::string& claim, const std::string& body) {
  Entry& entry = entries_[claim];
  if (entry.body == body) return entry;
  entry = {body, {}, 0};
  const Json object = read_json(body);
  const Json& status = member(object, "status");
  for (const Json& condition : list_in(status, "conditions"))
    entry.conditions[text_in(condition, "type")] = text_in(condition, "status");
  entry.overcommitted = list_in(status, "overcommitted").size();
  return entry;
}

const ClaimCounts& ClaimCensus::of(const State& state, LogTime now) {
  if (now < due_) return counts_;
  due_ = now + kCensusInterval;
  counts_ = {};
  std::erase_if(entries_,
                [&](const auto& entry) { return !state.claims.by_name.contains(entry.first); });
  for (const auto& [name, claim] : state.claims.by_name) {
    const WriteState* write = find_write(state.writes, {kHub, Kind::claim, "", name, true});
    if (!write || write->status().body.empty()) continue;
    const Entry& entry = read(name, write->status().body);
    for (const auto& condition : entry.conditions) ++counts_.conditions[condition];
    counts_.overcommitted_pairs += entry.overcommitted;
  }
  return counts_;
}

}  // namespace fairlead
