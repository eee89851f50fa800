// Facts of a family of kinds (schema/facts.h): what several kinds have.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "engine/base/quantity.h"
#include "schema/fields/field.h"
#include "schema/packed_map.h"
#include "schema/words.h"

namespace fairlead {

template <>
inline constexpr unsigned kValuesOf<QuantityFormat> = 2;

/// A Kubernetes taint or the part of a ResourceFlavor's nodeTaints that matters.
struct Taint {
  std::string key;
  std::string value;
  std::string effect;  ///< NoSchedule, NoExecute, PreferNoSchedule

  friend auto operator<=>(const Taint&, const Taint&) = default;
};
template <class V, Of<Taint> T>
void fields(V& visit, T& taint) {
  visit.field("key", taint.key);
  visit.field("value", taint.value);
  visit.field("effect", taint.effect);
}

/// A Kubernetes toleration; `op` is "Equal" (also when absent) or "Exists".
struct Toleration {
  std::string key;
  std::string op;
  std::string value;
  std::string effect;

  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};
template <class V, Of<Toleration> T>
void fields(V& visit, T& toleration) {
  visit.field("key", toleration.key);
  visit.field("op", toleration.op, printed_as("operator"));
  visit.field("value", toleration.value);
  visit.field("effect", toleration.effect);
}

/// resource name -> amount (cpu in milli, everything else in units), sorted by name.
using ResourceAmounts = PackedMap<Amount>;

/// The status of a condition as the API spells it; `absent` where there is none.
enum class ConditionStatus : std::uint8_t { absent, yes, no, unknown };
template <>
inline constexpr std::array<std::pair<std::string_view, ConditionStatus>, 3>
    kWordsOf<ConditionStatus>{{
        {"True", ConditionStatus::yes},
        {"False", ConditionStatus::no},
        {"Unknown", ConditionStatus::unknown},
    }};
template <>
inline constexpr unsigned kValuesOf<ConditionStatus> = 4;

/// A condition without its message and times.
struct ConditionFacts {
  ConditionStatus status = ConditionStatus::absent;
  std::string reason;
  std::int64_t observed_generation = 0;

  friend bool operator==(const ConditionFacts&, const ConditionFacts&) = default;
};
template <class V, Of<ConditionFacts> T>
void fields(V& visit, T& condition) {
  visit.field("status", condition.status);
  visit.field("reason", condition.reason);
  visit.field("observedGeneration", condition.observed_generation);
}

/// The label and annotation that mark an object as made by Fairlead; unset on other objects.
struct OwnerMark {
  bool managed = false;  ///< label app.kubernetes.io/managed-by: fairlead
  std::string owner;     ///< annotation fairlead.io/owner, e.g. "placement/gpu"

  /// Returns whether both are set; one alone does not count.
  bool ours() const { return managed && !owner.empty(); }

  friend bool operator==(const OwnerMark&, const OwnerMark&) = default;
};
template <class V, Of<OwnerMark> T>
void fields(V& visit, T& mark) {
  visit.field("managed", mark.managed);
  visit.field("owner", mark.owner);
}

/// The usage of one (flavor, resource) pair, from flavorsUsage.
struct FlavorUsage {
  std::string flavor;
  std::string resource;
  Amount total = 0;

  friend auto operator<=>(const FlavorUsage&, const FlavorUsage&) = default;
};
template <class V, Of<FlavorUsage> T>
void fields(V& visit, T& usage) {
  visit.field("flavor", usage.flavor);
  visit.field("resource", usage.resource);
  visit.field("total", usage.total);
}

}  // namespace fairlead
