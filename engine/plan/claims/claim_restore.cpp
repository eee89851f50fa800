#include "engine/plan/claims/claim_restore.h"

#include <algorithm>

#include "engine/fold/claims/claim_status_observation.h"
#include "schema/claim_status.h"

namespace fairlead {

namespace {

std::string part_of(const Json& object, std::string_view name) {
  const auto part = object.find(name);
  if (part == object.end() || part->is_null() || (part->is_structured() && part->empty()))
    return {};
  return to_text(*part);
}

}  // namespace

Digest digest_of_claim_status(const Json& status) {
  const auto conditions = status.value("conditions", Json::array());
  return claim_status_digest([&](std::string_view name) { return part_of(status, name); },
                             [&](std::string_view type) {
                               const auto at = std::find_if(conditions.begin(), conditions.end(),
                                                            [&](const Json& condition) {
                                                              return condition["type"] == type;
                                                            });
                               return at == conditions.end() ? std::string() : to_text(*at);
                             });
}

bool restore_is_due(StateView<const ClaimTables, const WriteTables, const LogPosition> state,
                    const std::string& name) {
  if (!status_is_foreign(state, name)) return false;
  // No status is foreign without a write of ours, so there is one.
  const WriteState& write =
      state.writes.by_key.at({std::string(kHub), {Kind::claim, "", name}, true});
  return !write.last_write || *write.last_write + kStatusRestoreInterval <= state.now;
}

}  // namespace fairlead
