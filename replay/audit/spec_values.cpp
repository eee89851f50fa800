#include "replay/audit/spec_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/fold/held.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

// What an API server fills in, or what Kueue takes where nothing is.
struct Default {
  std::string_view field;
  std::string_view value;  ///< JSON
};
constexpr std::array kDefaults = std::to_array<Default>({
    {"fairSharing.weight", R"("1")"},
    {"stopPolicy", R"("None")"},
    {"queueingStrategy", R"("BestEffortFIFO")"},
    {"namespaceSelector", "{}"},
    {"preemption",
     R"({"borrowWithinCohort":{"policy":"Never"},"reclaimWithinCohort":"Never","withinClusterQueue":"Never"})"},
    {"flavorFungibility", R"({"whenCanBorrow":"MayStopSearch","whenCanPreempt":"TryNextFlavor"})"},
});

bool is_default(const SpecPlace& place, const Json& value) {
  if (value.is_null() || value == "" || value == false || value == Json::array() ||
      value == Json::object())
    return true;
  return std::any_of(kDefaults.begin(), kDefaults.end(), [&](const Default& known) {
    return known.field == place.field && value == read_own_json(known.value);
  });
}

SpecPlace place_of(SpecField field) { return {"", "", std::string(text_of(field))}; }

Json text_or(const std::string& text, Json otherwise = {}) {
  return text.empty() ? otherwise : Json(text);
}

Json document_or_null(const std::string& text) { return read_own_json(text); }

Json weight_or_default(const std::optional<Quantity>& weight) {
  return weight ? weight->text() : "1";
}

void add_quotas(KnownSpec& spec, const std::vector<ResourceGroup>& groups) {
  spec.quotas_known = true;
  for (const ResourceGroup& group : groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources) {
        const auto add = [&](const char* field, const Quantity& amount) {
          spec.fields[{flavor.name, quota.name, field}] = amount.text();
        };
        add("nominalQuota", quota.nominal);
        if (quota.borrowing_limit) add("borrowingLimit", *quota.borrowing_limit);
        if (quota.lending_limit) add("lendingLimit", *quota.lending_limit);
      }
}

KnownSpec spec_of_queue(const ClusterQueueFacts& queue) {
  KnownSpec spec;
  spec.presence = KnownSpec::Presence::present;
  const auto put = [&](SpecField field, Json value) {
    spec.fields[place_of(field)] = std::move(value);
  };
  put(SpecField::cohort, text_or(queue.cohort));
  put(SpecField::stop_policy, text_or(queue.stop_policy, "None"));
  put(SpecField::admission_checks, queue.admission_checks);
  put(SpecField::queueing_strategy, text_or(queue.queueing_strategy, "BestEffortFIFO"));
  put(SpecField::preemption, document_or_null(queue.preemption));
  put(SpecField::namespace_selector, document_or_null(queue.namespace_selector));
  put(SpecField::base_quota, text_or(queue.base_quota));
  put(SpecField::extend_resource_groups, queue.extend_resource_groups);
  put(SpecField::quota_from, text_or(queue.worker_quota.from));
  put(SpecField::quota_percent, text_or(queue.worker_quota.percent));
  put(SpecField::quota_reserve, text_or(queue.worker_quota.reserve));
  if (!queue.sharing) return spec;
  put(SpecField::weight, weight_or_default(queue.sharing->weight));
  put(SpecField::flavor_fungibility, document_or_null(queue.sharing->flavor_fungibility));
  put(SpecField::admission_scope, document_or_null(queue.sharing->admission_scope));
  put(SpecField::concurrent_admission, document_or_null(queue.sharing->concurrent_admission));
  spec.fields[{"", "", "admissionChecks.onFlavors"}] =
      document_or_null(queue.sharing->check_flavors);
  return spec;
}

KnownSpec spec_of_cohort(const CohortFacts& cohort) {
  KnownSpec spec;
  spec.presence = KnownSpec::Presence::present;
  spec.fields[place_of(SpecField::parent)] = text_or(cohort.parent);
  if (!cohort.terms) return spec;
  spec.fields[place_of(SpecField::weight)] = weight_or_default(cohort.terms->weight);
  add_quotas(spec, cohort.terms->groups);
  return spec;
}

// Of the other kinds: the facts as they are printed, less what a controller reports.
KnownSpec spec_of_printed(const Facts& facts) {
  constexpr std::array kReported{"active", "allClustersUsed", "dispatcherReady", "finalizers",
                                 "deleting"};
  KnownSpec spec;
  spec.presence = KnownSpec::Presence::present;
  const Json printed = to_json(facts);
  for (const auto& [field, value] : printed.items()) {
    if (std::find(kReported.begin(), kReported.end(), field) != kReported.end()) continue;
    // A server fills it in, so an empty one is of a record that is older than the field.
    if (field == "stopPolicy" && value == "") continue;
    spec.fields[{"", "", field}] = value;
  }
  return spec;
}

KnownSpec nothing() {
  KnownSpec spec;
  spec.presence = KnownSpec::Presence::absent;
  return spec;
}

}  // namespace

std::string text_of(const SpecPlace& place) {
  return place.flavor.empty() ? place.field
                              : place.flavor + " " + place.resource + " " + place.field;
}

SpecField owned_field(const SpecPlace& place) {
  if (!place.flavor.empty()) return SpecField::resource_groups;
  for (std::size_t field = 0; field < kSpecFieldCount; ++field)
    if (place.field.starts_with(kSpecFieldNames.at(field))) return static_cast<SpecField>(field);
  return SpecField::resource_groups;
}

KnownSpec spec_of(const Facts& facts) {
  if (const auto* queue = std::get_if<ClusterQueueFacts>(&facts)) return spec_of_queue(*queue);
  if (const auto* cohort = std::get_if<CohortFacts>(&facts)) return spec_of_cohort(*cohort);
  return spec_of_printed(facts);
}

KnownSpec spec_in(const State& state, const ObjectKey& key) {
  const auto facts = held_facts(state, std::string(kHub), key);
  return facts ? spec_of(*facts) : nothing();
}

std::vector<SpecChange> spec_changes(const KnownSpec& before, const KnownSpec& after) {
  using Presence = KnownSpec::Presence;
  std::vector<SpecChange> changes;
  if (before.presence == Presence::unknown || after.presence == Presence::unknown) return changes;
  const bool both = before.presence == Presence::present && after.presence == Presence::present;
  const auto known_in = [&](const KnownSpec& spec, const SpecPlace& place) {
    return !both || (place.flavor.empty() ? spec.fields.contains(place) : spec.quotas_known);
  };
  const auto value_in = [](const KnownSpec& spec, const SpecPlace& place) {
    const auto at = spec.fields.find(place);
    return at == spec.fields.end() ? Json() : at->second;
  };
  std::map<SpecPlace, Json> all = before.fields;
  all.insert(after.fields.begin(), after.fields.end());
  for (const auto& [place, value] : all) {
    if (!known_in(before, place) || !known_in(after, place)) continue;
    SpecChange change{place, value_in(before, place), value_in(after, place)};
    if (change.before == change.after || (!both && is_default(place, value))) continue;
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace fairlead
