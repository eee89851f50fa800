#include "engine/fold/capacity/cluster_terms.h"

#include "engine/fold/claims/claim_spec.h"

namespace fairlead {

CanonicalHeadroom headroom_of(const Configuration& configuration, const ClaimTerms* terms) {
  const ResourceAliases& aliases = configuration.resource_aliases;
  CanonicalHeadroom headroom;
  if (terms && terms->headroom_percent) {
    for (const auto& [resource, percent] : *terms->headroom_percent)
      headroom.row_of(resource).percent = percent;
  } else {
    for (const auto& [resource, percent] : configuration.headroom.percent)
      headroom.row_of(canonical_resource(aliases, resource)).percent = percent;
  }
  if (terms && terms->headroom_reserved) {
    for (const auto& [resource, amount] : *terms->headroom_reserved)
      headroom.row_of(resource).reserved = amount;
  } else {
    for (const auto& [resource, text] : configuration.headroom.reserved) {
      // The configuration was checked when it was read; a text that is not a quantity reserves
      // nothing.
      const std::string& canonical = canonical_resource(aliases, resource);
      if (const auto quantity = Quantity::parse(text))
        headroom.row_of(canonical).reserved = to_amount(canonical, *quantity);
    }
  }
  return headroom;
}

CanonicalHeadroom::Row& CanonicalHeadroom::row_of(std::string_view resource) {
  for (Row& row : rows)
    if (row.resource == resource) return row;
  return rows.emplace_back(Row{std::string(resource), 0, 0});
}

}  // namespace fairlead
