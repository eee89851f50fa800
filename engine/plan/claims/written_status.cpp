#include "engine/plan/claims/written_status.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/json.h"

namespace fairlead {

namespace {

// The reason of a condition whose message names the orchestrators and no numbers.
constexpr std::string_view kEffectiveQuotas = "EffectiveQuotas";
// The type of a condition whose message names the objects that a deletion waits for and no numbers.
constexpr std::string_view kReleased = "Released";
// The reason of a condition whose message names the contested pairs and no numbers.
constexpr std::string_view kForeignOverwrites = "ForeignOverwrites";
// The type of the condition that follows the quota on its way to hub and member.
constexpr std::string_view kPropagated = "Propagated";

// Condition Valid with warnings: the claim names objects that do not exist, or asks for more than
// the cluster has. Its reason changes with capacity, so it is compared with the patient part.
bool is_warning(std::string_view type, std::string_view status) {
  return type == "Valid" && status == "True";
}

// The reasons of Propagated whose messages name objects, and answers about them, and no numbers.
constexpr std::array<std::string_view, 12> kNaming{
    "Propagated",          "HubRejected",           "BaseQuotaMalformed", "MemberRejected",
    "LocalQueueConflict",  "BindingPolicyConflict", "ClusterNotLabelled", "SpaceRejected",
    "MemberQueueInactive", "WaitingForSpace",       "WriteUnavailable",   "WriteForbidden"};
// Those whose messages name an object, and after it numbers.
constexpr std::array<std::string_view, 2> kNamingFirst{"OwnershipConflict", "MemberDiffers"};

// Returns the part of the message that is compared: the objects that it names. Numbers are not:
// they would change with every flap.
std::string_view telling_part(std::string_view type, std::string_view reason,
                              std::string_view message) {
  if (reason == kEffectiveQuotas || reason == kForeignOverwrites || type == kReleased)
    return message;
  if (type != kPropagated) return {};
  if (std::ranges::find(kNaming, reason) != kNaming.end()) return message;
  if (std::ranges::find(kNamingFirst, reason) != kNamingFirst.end())
    return message.substr(0, message.find(": "));
  return {};
}

// Returns the texts of an object with `count` fields, all texts, in the order of their names.
template <std::size_t count>
std::optional<std::array<std::string, count>> texts_of(const Json& row) {
  std::array<std::string, count> texts;
  if (!row.is_object() || row.size() != count) return std::nullopt;
  std::size_t i = 0;
  for (const Json& field : row) {
    if (!field.is_string()) return std::nullopt;
    texts[i++] = field.get_ref<const std::string&>();
  }
  return texts;
}

bool has_fields(const Json& row, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(),
                     [&](const char* name) { return row.contains(name); });
}

template <std::size_t count>
bool read_rows(const Json& rows, std::initializer_list<const char*> names,
               std::vector<std::array<std::string, count>>& out) {
  if (!rows.is_array()) return false;
  for (const Json& row : rows) {
    auto texts = texts_of<count>(row);
    if (!texts || !has_fields(row, names)) return false;
    out.push_back(*std::move(texts));
  }
  return true;
}

bool read_conditions(const Json& conditions, StatusContent& content) {
  for (const Json& condition : conditions) {
    if (!condition.is_object() || !has_fields(condition, {"type", "status", "reason", "message"}))
      return false;
    add_condition(content, text_in(condition, "type"), text_in(condition, "status"),
                  text_in(condition, "reason"), text_in(condition, "message"));
  }
  return true;
}

std::optional<StatusContent> read_content(const Json& status) {
  StatusContent content;
  const Json& generation = member(status, "observedGeneration");
  if (!generation.is_number_integer()) return std::nullopt;
  content.observed_generation = generation.get<std::int64_t>();
  const bool whole =
      read_rows(list_in(status, "grants"),
                {"assigned", "clusterQueueName", "flavor", "granted", "reason", "resource"},
                content.grants) &&
      read_rows(member(status, "overcommitted"),
                {"clusterQueueName", "flavor", "granted", "resource", "usage"},
                content.overcommitted) &&
      read_conditions(list_in(status, "conditions"), content);
  if (!whole) return std::nullopt;
  for (const Json& row : list_in(status, "capacity"))
    if (text_in(row, "accepted") != "0")
      content.accepted.push_back(
          {text_in(row, "flavor"), text_in(row, "resource"), text_in(row, "accepted")});
  return content;
}

}  // namespace

bool StatusContent::urgently_differs(const StatusContent& other) const {
  return std::tie(observed_generation, grants, overcommitted, conditions) !=
         std::tie(other.observed_generation, other.grants, other.overcommitted, other.conditions);
}

bool StatusContent::patiently_differs(const StatusContent& other) const {
  return std::tie(accepted, warnings) != std::tie(other.accepted, other.warnings);
}

void add_condition(StatusContent& content, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message) {
  const bool warning = is_warning(type, status);
  const std::string_view compared = warning ? std::string_view() : reason;
  const std::string_view telling = telling_part(type, reason, message);
  content.conditions.push_back(
      {std::string(type), std::string(status), std::string(compared), std::string(telling)});
  if (warning) content.warnings.emplace_back(reason);
}

std::optional<WrittenStatus> read_status(const std::string& body) {
  const Json document = read_json(body);
  const Json& status = member(document, "status");
  if (!status.is_object() || status.empty()) return std::nullopt;
  WrittenStatus written;
  written.seq = natural_in(status, "seq").value_or(0);
  written.content = read_content(status);
  for (const Json& row : list_in(status, "capacity"))
    written.capacity.push_back({{text_in(row, "flavor"), text_in(row, "resource")},
                                Quantity::parse(text_in(row, "accepted"))});
  for (const Json& condition : list_in(status, "conditions"))
    written.turns.push_back({text_in(condition, "type"), text_in(condition, "status"),
                             text_in(condition, "lastTransitionTime")});
  return written;
}

void WrittenStatuses::expect(const std::string& claim, const std::string& body,
                             WrittenStatus written) {
#ifndef NDEBUG
  check(written == read_status(body), "a status is kept as it is read");
#endif
  expected_[claim] = {body, std::move(written)};
}

void WrittenStatuses::forget(const std::string& claim) {
  entries_.erase(claim);
  expected_.erase(claim);
}

const std::optional<WrittenStatus>& WrittenStatuses::of(const std::string& claim,
                                                        const std::string& body) {
  Entry& entry = entries_[claim];
  if (entry.body == body) return entry.written;
  if (const auto at = expected_.find(claim); at != expected_.end() && at->second.body == body)
    entry = at->second;
  else
    entry = {body, read_status(body)};
  return entry.written;
}

}  // namespace fairlead
