#include "engine/fold/multikueue/check_observation.h"

#include "engine/base/json.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

// Returns the condition in our write; absent if there is none.
ConditionFacts written(const Json& conditions, const char* type) {
  for (const Json& condition : conditions)
    if (text_in(condition, "type") == type)
      return {parse_word<ConditionStatus>(text_in(condition, "status"))
                  .value_or(ConditionStatus::unknown),
              text_in(condition, "reason"),
              static_cast<std::int64_t>(natural_in(condition, "observedGeneration").value_or(0))};
  return {};
}

}  // namespace

bool check_status_is_foreign(StateView<const MultiKueue, const WriteTables> state,
                             const std::string& name) {
  const auto check = state.multikueue.checks.find(name);
  const WriteState* write = status_write_of(state.writes, {Kind::admission_check, "", name});
  if (check == state.multikueue.checks.end() || !write || write->outstanding || write->awaits() ||
      write->status().body.empty())
    return false;
  const Json body = read_json(write->status().body);
  if (!body.is_object()) return false;
  const Json& conditions = list_in(member(body, "status"), "conditions");
  const AdmissionCheckFacts& seen = check->second.seen.facts;
  return seen.active != written(conditions, "Active") ||
         seen.all_clusters_used != written(conditions, "AllClustersUsed") ||
         seen.dispatcher_ready != written(conditions, "DispatcherReady");
}

}  // namespace fairlead
