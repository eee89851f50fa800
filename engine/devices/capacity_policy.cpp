#include "engine/devices/capacity_policy.h"

#include <algorithm>

namespace fairlead {

namespace {

constexpr Int128 kUnit = 1'000'000'000;  // nano
constexpr Int128 kGreatest = ((Int128{1} << 126) - 1) * 2 + 1;

// Quantity.Value(): whole units, a fraction counts as one.
Int128 whole_units(const Quantity& quantity) {
  const Int128 units = quantity.nano() / kUnit;
  return quantity.nano() % kUnit > 0 ? units + 1 : units;
}

// Steps are counted in whole units from the least value on, as the scheduler does.
Quantity rounded_to_step(const Quantity& asked, const CapacityPolicy& policy) {
  const Int128 step = whole_units(*policy.step), least = whole_units(*policy.min);
  if (step <= 0) return asked;
  const Int128 steps = (whole_units(asked) - least + step - 1) / step;
  Int128 nano = 0;
  if (__builtin_mul_overflow(least + steps * step, kUnit, &nano)) nano = kGreatest;
  return {nano, QuantityFormat::binary_si};
}

std::optional<Quantity> within_range(const Quantity& asked, const CapacityPolicy& policy) {
  Quantity taken = asked;
  if (policy.min && taken < *policy.min)
    taken = *policy.min;
  else if (policy.min && policy.step)
    taken = rounded_to_step(asked, policy);
  if (policy.max && taken > *policy.max) return std::nullopt;
  return taken;
}

}  // namespace

std::optional<Quantity> consumption(const DeviceCapacity& capacity, const Quantity* asked) {
  if (!capacity.policy) return asked ? *asked : capacity.value;
  const CapacityPolicy& policy = *capacity.policy;
  if (!asked && policy.standard) return *policy.standard;
  const Quantity wanted = asked ? *asked : capacity.value;
  if (policy.values.empty()) return within_range(wanted, policy);
  const auto next = std::lower_bound(policy.values.begin(), policy.values.end(), wanted);
  if (next == policy.values.end()) return std::nullopt;
  return *next;
}

Int128 saturating_sum(Int128 a, Int128 b) {
  Int128 sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? kGreatest : -kGreatest - 1;
}

Int128 saturating_difference(Int128 a, Int128 b) {
  Int128 difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? kGreatest : -kGreatest - 1;
}

}  // namespace fairlead
