#include "engine/plan/claim_status_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/json.h"
#include "engine/base/object_text.h"
#include "engine/plan/claim_restore.h"
#include "schema/claim_status.h"

namespace fairlead {

namespace {

// Rows of texts as a list of objects with these fields.
template <std::size_t count>
std::string rows_text(const std::vector<std::array<std::string, count>>& rows,
                      const std::array<std::string_view, count>& names) {
  std::vector<std::string> objects;
  for (const auto& row : rows) {
    ObjectText object;
    for (std::size_t i = 0; i < count; ++i) object.text(names[i], row[i]);
    objects.push_back(object.take());
  }
  return list_text(objects);
}

std::string condition_text(const ClaimCondition& condition, std::int64_t generation) {
  return ObjectText()
      .text("lastTransitionTime", condition.since)
      .text("message", condition.message)
      .number("observedGeneration", generation)
      .text("reason", condition.reason)
      .text("status", condition.status)
      .text("type", condition.type)
      .take();
}

// The fields of the status but for its conditions, in the order of their names.
std::map<std::string_view, std::string> fields_of(const ClaimStatus& status) {
  const StatusContent& content = status.content;
  std::map<std::string_view, std::string> fields{
      {"capacity", rows_text<6>(status.capacity,
                                {"accepted", "flavor", "observed", "resource", "state", "usable"})},
      {"grants", rows_text<6>(content.grants, {"assigned", "clusterQueueName", "flavor", "granted",
                                               "reason", "resource"})},
      {"observedGeneration", std::to_string(content.observed_generation)},
      {"overcommitted", rows_text<5>(content.overcommitted, {"clusterQueueName", "flavor",
                                                             "granted", "resource", "usage"})},
      {"seq", std::to_string(status.seq)}};
  // Not as {}: where it had keys that we own, the server makes null of that and refuses it (422).
  if (status.unassigned.empty()) return fields;
  ObjectText left;
  for (const auto& [resource, amount] : status.unassigned) left.text(resource, amount);
  fields["unassigned"] = left.take();
  return fields;
}

}  // namespace

ClaimStatusText text_of(const ClaimStatus& status) {
  std::map<std::string_view, std::string> fields = fields_of(status);
  std::vector<std::string> conditions;
  for (const ClaimCondition& condition : status.conditions)
    conditions.push_back(condition_text(condition, status.content.observed_generation));
  const auto field = [&](std::string_view name) {
    const auto at = fields.find(name);
    return at == fields.end() || at->second == "[]" ? std::string() : at->second;
  };
  const auto condition = [&](std::string_view type) {
    for (std::size_t i = 0; i < conditions.size(); ++i)
      if (status.conditions[i].type == type) return conditions[i];
    return std::string();
  };
  ClaimStatusText told{"", claim_status_digest(field, condition)};
  fields["conditions"] = list_text(conditions);
  ObjectText whole;
  for (const auto& [name, json] : fields) whole.json(name, json);
  told.text = whole.take();
#ifndef NDEBUG  // every test that plans holds it against a tree of the same values
  const Json tree = Json::parse(told.text);
  check(to_text(tree) == told.text, "the text of a status is canonical");
  check(digest_of_claim_status(tree) == told.digest, "the digest of a status is that of its text");
#endif
  return told;
}

std::vector<ClaimGrant> stored_grants(const StatusContent& content) {
  std::vector<ClaimGrant> stored;
  for (const auto& [assigned, queue, flavor, granted, reason, resource] : content.grants)
    stored.push_back({queue, flavor, resource, granted});
  std::sort(stored.begin(), stored.end());
  return stored;
}

ToldStatus told_by(const ClaimStatus& status) {
  ToldStatus told{status.seq, status.content, {}, {}};
  for (const auto& [accepted, flavor, observed, resource, state, usable] : status.capacity)
    told.capacity.push_back({{flavor, resource}, Quantity::parse(accepted)});
  for (const ClaimCondition& condition : status.conditions)
    told.turns.push_back({condition.type, condition.status, condition.since});
  return told;
}

}  // namespace fairlead
