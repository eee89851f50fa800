// Prints what decides the quota of Kueue's queues beside their own quotas, and who wrote it.
#include "schema/event_json_queues.h"

namespace fairlead {

Json weight_json(const std::optional<Quantity>& weight) {
  return weight ? Json(weight->text()) : Json();
}

Json json_of(const SharingTerms& terms) {
  return {{"weight", weight_json(terms.weight)},
          {"flavorFungibility", terms.flavor_fungibility},
          {"admissionScope", terms.admission_scope},
          {"concurrentAdmissionPolicy", terms.concurrent_admission},
          {"checkFlavors", terms.check_flavors}};
}

Json json_of(const FieldWriter& writer) {
  Json json{{"manager", writer.manager}, {"operation", writer.operation}};
  if (!writer.subresource.empty()) json["subresource"] = writer.subresource;
  if (!writer.time.empty()) json["time"] = writer.time;
  if (writer.fields == 0) return json;
  Json fields = Json::array();
  for (std::size_t field = 0; field < kSpecFieldCount; ++field)
    if (writer.owns(static_cast<SpecField>(field))) fields.push_back(kSpecFieldNames.at(field));
  json["fields"] = std::move(fields);
  return json;
}

}  // namespace fairlead
