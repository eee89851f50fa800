#include "replay/proposals.h"

#include <algorithm>

#include "engine/admission/admission_mirror.h"
#include "engine/fold/held.h"
#include "replay/table.h"

namespace fairlead {

namespace {

constexpr std::string_view kAnnotations = "fairlead.io/";
using NamedAnnotations = std::map<std::string, std::string>;

Json member_of(const Json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && at != object.end() ? *at : Json();
}

NamedAnnotations annotations_in(const Json& object) {
  NamedAnnotations annotations;
  const Json all = member_of(member_of(object, "metadata"), "annotations");
  if (!all.is_object()) return annotations;
  for (const auto& [name, value] : all.items())
    if (name.starts_with(kAnnotations) && value.is_string())
      annotations[name.substr(kAnnotations.size())] = value.get<std::string>();
  return annotations;
}

// Those that the facts keep.
NamedAnnotations annotations_of(const Facts& facts) {
  NamedAnnotations annotations;
  if (const auto* claim = std::get_if<ClaimFacts>(&facts))
    for (const auto& [parameter, value] : claim->debounce)
      annotations["debounce." + parameter] = value;
  if (const auto* queue = std::get_if<ClusterQueueFacts>(&facts)) {
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) annotations[name] = value;
    };
    add("base-quota", queue->base_quota);
    add("quota-from", queue->worker_quota.from);
    add("quota-percent", queue->worker_quota.percent);
    add("quota-reserve", queue->worker_quota.reserve);
    add("extend-resource-groups", queue->extend_resource_groups ? "true" : "");
  }
  return annotations;
}

bool is_deleting_in(const Json& object) {
  return !member_of(member_of(object, "metadata"), "deletionTimestamp").is_null();
}

bool has_rules(Kind kind) {
  return kind == Kind::claim || kind == Kind::cluster_queue || kind == Kind::resource_flavor ||
         kind == Kind::managed_cluster;
}

AdmissionRequest request_of(const State& state, const LiveAnnotations& live,
                            const InputLine& line) {
  AdmissionRequest request;
  request.key = line.seen->key;
  request.version = line.seen->version;
  auto stored = held_facts(state, std::string(kHub), request.key);
  request.operation = line.type == InputType::deleted ? AdmissionOperation::remove
                      : stored                        ? AdmissionOperation::update
                                                      : AdmissionOperation::create;
  NamedAnnotations proposed = annotations_in(line.object);
  if (stored) {
    const auto known = live.find(request.key);
    NamedAnnotations annotations = known == live.end() ? annotations_of(*stored) : known->second;
    // Who deletes an object writes the override on it first.
    if (request.operation == AdmissionOperation::remove) annotations.merge(proposed);
    request.old_object = AdmissionObject{*std::move(stored), false, std::move(annotations)};
  }
  if (request.operation != AdmissionOperation::remove)
    request.object =
        AdmissionObject{line.seen->facts, is_deleting_in(line.object), std::move(proposed)};
  return request;
}

struct FindingRow {
  const CheckedProposal& judged;
  const Finding& finding;
};

std::vector<FindingRow> rows_of(const std::vector<CheckedProposal>& judged) {
  std::vector<FindingRow> rows;
  for (const CheckedProposal& one : judged)
    for (const Finding& finding : one.verdict.findings) rows.push_back({one, finding});
  return rows;
}

}  // namespace

LiveAnnotations live_annotations(const std::vector<InputLine>& live) {
  LiveAnnotations annotations;
  for (const InputLine& line : live) {
    if (line.cluster != kHub || !line.seen || !has_rules(line.seen->key.kind)) continue;
    if (line.type == InputType::deleted)
      annotations.erase(line.seen->key);
    else
      annotations[line.seen->key] = annotations_in(line.object);
  }
  return annotations;
}

std::vector<CheckedProposal> check_proposals(const State& state, const LiveAnnotations& live,
                                             const std::vector<InputLine>& proposed) {
  const AdmissionView view = view_of(state);
  std::vector<CheckedProposal> judged;
  for (const InputLine& line : proposed) {
    if (line.cluster != kHub || !line.seen || !has_rules(line.seen->key.kind)) continue;
    CheckedProposal one{line.api_version, request_of(state, live, line), {}};
    one.verdict = judge(view, one.request);
    judged.push_back(std::move(one));
  }
  return judged;
}

bool any_denied(const std::vector<CheckedProposal>& judged) {
  return std::any_of(judged.begin(), judged.end(),
                     [](const CheckedProposal& one) { return one.verdict.denied(); });
}

std::string proposals_json(const std::vector<CheckedProposal>& judged) {
  std::string text;
  for (const auto& [one, finding] : rows_of(judged))
    text += to_text(Json{{"cluster", kHub},
                         {"operation", text_of(one.request.operation)},
                         {"apiVersion", one.api_version},
                         {"kind", info(one.request.key.kind).name},
                         {"name", one.request.key.name},
                         {"rule", info(finding.rule).name},
                         {"action", text_of(finding.action)},
                         {"field", finding.objection.field},
                         {"message", finding.objection.message}}) +
            "\n";
  return text;
}

std::string proposals_table(const std::vector<CheckedProposal>& judged) {
  std::vector<TableRow> rows{{"ACTION", "OPERATION", "OBJECT", "RULE", "FIELD", "MESSAGE"}};
  for (const auto& [one, finding] : rows_of(judged))
    rows.push_back({std::string(text_of(finding.action)),
                    std::string(text_of(one.request.operation)),
                    std::string(info(one.request.key.kind).name) + " " + one.request.key.name,
                    std::string(info(finding.rule).name),
                    finding.objection.field.empty() ? "-" : finding.objection.field,
                    finding.objection.message});
  return table_text(rows);
}

}  // namespace fairlead
