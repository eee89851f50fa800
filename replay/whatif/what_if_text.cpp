// Renders a what-if as JSON and as a table.
#include <algorithm>

#include "engine/base/printable.h"
#include "engine/fold/queues/queues.h"
#include "replay/audit/unseen.h"
#include "replay/table.h"
#include "replay/whatif/what_if.h"

namespace fairlead {

namespace {

// History's write is printed with its own time only if it is further than this from the baseline's:
// a hub writes some milliseconds after it has decided.
constexpr Duration kPrintedApart = seconds(1);

// More annotations that override a setting are not printed; the document has them all.
constexpr std::size_t kOverridesMax = 20;

const PatchIntended& intent_of(const WriteDifference& difference) {
  return (difference.baseline ? difference.baseline : difference.counterfactual)->intent;
}

const char* text_of(WriteDiffers kind) {
  switch (kind) {
    case WriteDiffers::only_history: return "onlyHistory";
    case WriteDiffers::only_what_if: return "onlyWhatIf";
    case WriteDiffers::value: return "value";
    case WriteDiffers::time: return "time";
  }
  return "";
}

// "Pod web/a of tenant/acme"; what the hub has is named without it.
std::string object_name(const ObjectKey& key, const SourceName& source) {
  return std::string(info(key.kind).name) + " " +
         (key.namespace_.empty() ? "" : key.namespace_ + "/") + key.name +
         (source == kHub ? "" : " of " + source);
}
std::string object_name(const PatchIntended& intent) {
  return object_name(intent.target, intent.cluster);
}

Json side_json(const std::optional<PlannedWrite>& write) {
  if (!write) return nullptr;
  return {{"time", to_rfc3339(write->time)},
          {"rule", write->intent.reason.rule},
          {"text", text_of_write(write->intent)}};
}

Json baseline_json(const WriteDifference& difference) {
  Json side = side_json(difference.baseline);
  if (side.is_null()) return side;
  const auto& made = difference.made;
  side["seq"] = made ? Json(made->seq.value) : Json();
  side["writtenTime"] = made ? Json(to_rfc3339(made->time)) : Json();
  return side;
}

// A time that is printed beside another one: without the day if that is the same.
std::string beside(LogTime time, LogTime planned) {
  const std::string text = to_rfc3339(time), other = to_rfc3339(planned);
  const std::size_t day = text.find('T') + 1;
  return text.compare(0, day, other, 0, day) == 0 ? text.substr(day) : text;
}

std::string baseline_text(const WriteDifference& difference) {
  if (!difference.baseline) return "-";
  std::string text = text_of_write(difference.baseline->intent);
  if (!difference.made) return text + " (not written)";
  text += " (seq " + std::to_string(difference.made->seq.value);
  const LogTime made = difference.made->time, planned = difference.baseline->time;
  if (std::max(made, planned) - std::min(made, planned) > kPrintedApart)
    text += " at " + beside(made, planned);
  return text + ")";
}

// "cpu 375, not 360", if it is so.
void add_apart(std::string& text, const std::string& what, const std::optional<Quantity>& here,
               const std::optional<Quantity>& there) {
  if (here == there) return;
  text += (text.empty() ? "" : "; ") + what + " " + (here ? here->text() : "none") + ", not " +
          (there ? there->text() : "none");
}

// Describes quotas of a ClusterQueue that differ after the two writes although neither write moved
// them: "spot cpu 375, not 360".
std::string quotas_apart(const PatchIntended& counterfactual, const PatchIntended& baseline) {
  const auto* here =
      counterfactual.expected ? std::get_if<ClusterQueueFacts>(&*counterfactual.expected) : nullptr;
  const auto* there =
      baseline.expected ? std::get_if<ClusterQueueFacts>(&*baseline.expected) : nullptr;
  if (!here || !there) return "";
  std::string text;
  for (const ResourceGroup& group : here->groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources) {
        const ResourceQuota* found = find_quota(there->groups, flavor.name, quota.name);
        const ResourceQuota other = found ? *found : ResourceQuota{quota.name, {}, {}, {}};
        const std::string what = flavor.name + " " + quota.name;
        add_apart(text, what, quota.nominal, other.nominal);
        add_apart(text, what + " borrowingLimit", quota.borrowing_limit, other.borrowing_limit);
        add_apart(text, what + " lendingLimit", quota.lending_limit, other.lending_limit);
      }
  return text;
}

// The same of a tenant's Namespace or Pod: "placements {"r1":3}, not {"r1":2}".
std::string placed_apart(const PatchIntended& counterfactual, const PatchIntended& baseline) {
  using Text = std::optional<std::string>;
  std::string text;
  const auto add = [&](const char* what, const Text& here, const Text& there) {
    if (here == there) return;
    text += (text.empty() ? "" : "; ") + std::string(what) + " " + here.value_or("none") +
            ", not " + there.value_or("none");
  };
  if (!counterfactual.expected || !baseline.expected) return "";
  const auto* of = std::get_if<NamespaceFacts>(&*counterfactual.expected);
  const auto* of_there = std::get_if<NamespaceFacts>(&*baseline.expected);
  if (of && of_there) {
    add("placements", of->placements, of_there->placements);
    add("reason", of->reason, of_there->reason);
  }
  const auto* pod = std::get_if<PodFacts>(&*counterfactual.expected);
  const auto* pod_there = std::get_if<PodFacts>(&*baseline.expected);
  if (pod && pod_there) {
    add("superCluster", pod->super_cluster, pod_there->super_cluster);
    add("reason", pod->reason, pod_there->reason);
  }
  return text;
}

std::string counterfactual_text(const WriteDifference& difference) {
  if (!difference.counterfactual) return "-";
  const std::string text = text_of_write(difference.counterfactual->intent);
  if (difference.kind() == WriteDiffers::value &&
      text == text_of_write(difference.baseline->intent)) {
    const PatchIntended& here = difference.counterfactual->intent;
    const PatchIntended& there = difference.baseline->intent;
    const std::string apart = quotas_apart(here, there) + placed_apart(here, there);
    return "the same but for " + (apart.empty() ? "what it leaves as it was" : apart);
  }
  if (difference.kind() != WriteDiffers::time) return text;
  const std::string at = "at " + beside(difference.counterfactual->time, difference.baseline->time);
  return text == text_of_write(difference.baseline->intent) ? "the same " + at : text + " " + at;
}

std::string count_of(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + (count == 1 ? one : many);
}

std::string span_text(const WhatIf& result) {
  const auto seq = [](Seq of) { return " (seq " + std::to_string(of.value) + ")"; };
  const std::string from = "from " + to_rfc3339(result.first_time);
  const std::string to = " to " + to_rfc3339(result.last_time);
  if (result.from > result.to)
    return from + to + " (no event; the last before is seq " + std::to_string(result.to.value) +
           ")";
  return from + seq(result.from) + to + seq(result.to);
}

Json moment_json(const std::optional<Seq>& seq, const std::optional<LogTime>& time) {
  if (!seq || !time) return nullptr;
  return {{"seq", seq->value}, {"time", to_rfc3339(*time)}};
}

std::string moment_text(const std::optional<Seq>& seq, const std::optional<LogTime>& time) {
  if (!seq || !time) return "-";
  return to_rfc3339(*time) + " (seq " + std::to_string(seq->value) + ")";
}

Json override_json(const Override& at) {
  Json json{{"setting", at.setting},
            {"kind", std::string(info(at.object.kind).name)},
            {"name", at.object.name},
            {"annotation", at.annotation},
            {"value", at.value},
            {"from", moment_json(at.since, at.from)},
            {"to", moment_json(at.until, at.to)}};
  if (!at.object.namespace_.empty()) json["namespace"] = at.object.namespace_;
  if (at.source != kHub) json["source"] = at.source;
  return json;
}

std::string overridden_text(const std::vector<Override>& overridden) {
  if (overridden.empty()) return "";
  std::vector<TableRow> rows{{"NOT AFFECTED", "SETTING", "ANNOTATION", "VALUE", "FROM", "TO"}};
  for (std::size_t i = 0; i < std::min(overridden.size(), kOverridesMax); ++i) {
    const Override& at = overridden[i];
    rows.push_back({object_name(at.object, at.source), at.setting, at.annotation, at.value,
                    moment_text(at.since, at.from), moment_text(at.until, at.to)});
  }
  std::string text = table_text(rows);
  if (overridden.size() > kOverridesMax)
    text += "and " + std::to_string(overridden.size() - kOverridesMax) +
            " more annotations, which -o json names\n";
  return text;
}

}  // namespace

Json to_json(const WhatIf& result) {
  Json overridden = Json::array();
  for (const Override& at : result.overridden) overridden.push_back(override_json(at));
  Json differences = Json::array();
  for (const WriteDifference& difference : result.differences)
    differences.push_back({{"difference", text_of(difference.kind())},
                           {"object", object_name(intent_of(difference))},
                           {"history", baseline_json(difference)},
                           {"whatIf", side_json(difference.counterfactual)}});
  Json from{{"seq", result.from.value}, {"time", to_rfc3339(result.first_time)}};
  if (result.from_pruned) from["pruned"] = true;
  return {{"kind", "WhatIf"},
          {"from", std::move(from)},
          {"to", {{"seq", result.to.value}, {"time", to_rfc3339(result.last_time)}}},
          {"same", result.same},
          {"differences", std::move(differences)},
          {"overridden", std::move(overridden)},
          {"totals",
           {{"history", to_json(result.history)},
            {"sameConfiguration", to_json(result.baseline)},
            {"whatIf", to_json(result.counterfactual)}}},
          {"unseen", result.unseen}};
}

std::string what_if_text(const WhatIf& result) {
  std::string text = span_text(result) + ": " + count_of(result.same, " write is", " writes are") +
                     " the same, " + count_of(result.differences.size(), " differs", " differ") +
                     "\n";
  if (result.from_pruned)
    text += "the log was pruned: seq " + std::to_string(result.from.value) +
            " is the first event that can be folded\n";
  std::vector<TableRow> rows{{"TIME", "OBJECT", "SAME CONFIGURATION", "WHAT IF"}};
  for (const WriteDifference& difference : result.differences)
    rows.push_back({to_rfc3339(difference.time()), object_name(intent_of(difference)),
                    baseline_text(difference), counterfactual_text(difference)});
  if (rows.size() > 1) text += table_text(rows);
  text += overridden_text(result.overridden);
  rows = {{"TOTALS", "HISTORY", "SAME CONFIGURATION", "WHAT IF"}};
  const Json history = to_json(result.history), baseline = to_json(result.baseline),
             counterfactual = to_json(result.counterfactual);
  for (const auto& [name, value] : history.items())
    rows.push_back({name, to_text(value), to_text(baseline[name]), to_text(counterfactual[name])});
  return printable_lines(text + table_text(rows) + unseen_text({{"unseen", result.unseen}}));
}

}  // namespace fairlead
