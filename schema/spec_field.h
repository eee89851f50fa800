// The fields of a ClusterQueue or Cohort that people edit and that decide who gets quota: what a
// field manager owns of an object (FieldWriter), and which field a history shows a change of.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fairlead {

/// Each is stored as a bit of FieldWriter::fields, so the log fixes the order.
enum class SpecField : std::uint8_t {
  resource_groups,
  cohort,  ///< spec.cohortName, in v1beta1 spec.cohort
  parent,  ///< of a Cohort
  weight,  ///< spec.fairSharing
  stop_policy,
  admission_checks,  ///< spec.admissionChecksStrategy, in v1beta1 spec.admissionChecks too
  queueing_strategy,
  preemption,
  namespace_selector,
  flavor_fungibility,
  admission_scope,
  concurrent_admission,
  // Annotations.
  base_quota,
  extend_resource_groups,
  quota_from,
  quota_percent,
  quota_reserve
};
inline constexpr std::size_t kSpecFieldCount = 17;

/// The names of the fields as a history shows them, by SpecField.
inline constexpr std::array<std::string_view, kSpecFieldCount> kSpecFieldNames{
    "resourceGroups",
    "cohort",
    "parent",
    "fairSharing.weight",
    "stopPolicy",
    "admissionChecks",
    "queueingStrategy",
    "preemption",
    "namespaceSelector",
    "flavorFungibility",
    "admissionScope",
    "concurrentAdmissionPolicy",
    "fairlead.io/base-quota",
    "fairlead.io/extend-resource-groups",
    "fairlead.io/quota-from",
    "fairlead.io/quota-percent",
    "fairlead.io/quota-reserve"};

constexpr std::string_view text_of(SpecField field) {
  return kSpecFieldNames.at(static_cast<std::size_t>(field));
}
constexpr std::uint32_t bit_of(SpecField field) {
  return std::uint32_t{1} << static_cast<std::uint32_t>(field);
}

}  // namespace fairlead
