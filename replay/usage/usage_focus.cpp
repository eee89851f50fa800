#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "engine/base/plain_decimal.h"
#include "replay/usage/csv_line.h"
#include "replay/usage/largest_remainder.h"
#include "replay/usage/usage_report.h"

namespace fairlead {

namespace {

// Milli-units x milliseconds in one hour of one unit.
constexpr Int128 kUnitHour = 3'600'000'000;

// A price as digits x 10^-places.
struct ExactPrice {
  Int128 digits = 0;
  int places = 0;
};

ExactPrice exact_price(const std::string& text) {
  ExactPrice price;
  bool fraction = false;
  for (const char c : text) {
    if (c == '.') fraction = true;
    if (c < '0' || c > '9') continue;
    price.digits = price.digits * 10 + (c - '0');
    price.places += fraction ? 1 : 0;
  }
  return price;
}

Int128 power_of_ten(int exponent) {
  Int128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// The parts of a charge in cents, and the unit of their rests.
struct CostParts {
  std::vector<ExactPart> parts;
  Int128 unit = 1;
};

// What amounts cost, exactly. Whole hours are multiplied first, so that what is left of an hour
// cannot make the product too wide; nullopt: the price is.
std::optional<CostParts> cost_parts(const std::vector<Int128>& amounts, const ExactPrice& price) {
  const int more = std::max(2 - price.places, 0);  // digits that cents have and the price has not
  const Int128 digits = price.digits * power_of_ten(more);
  const Int128 cents = power_of_ten(std::max(price.places - 2, 0));
  CostParts cost{{}, cents * kUnitHour};
  for (const Int128 amount : amounts) {
    Int128 of_hours = 0, of_rest = 0;
    if (__builtin_mul_overflow(amount / kUnitHour, digits, &of_hours) ||
        __builtin_mul_overflow(amount % kUnitHour, digits, &of_rest))
      return std::nullopt;
    const Int128 value = of_hours + of_rest / kUnitHour;
    cost.parts.push_back({value / cents, (value % cents) * kUnitHour + of_rest % kUnitHour});
  }
  return cost;
}

// The rows of one charge: a period, flavor and resource.
using ChargeOf = std::tuple<LogTime, LogTime, std::string, std::string>;

// Cents and hundredths of hours of each row that has a price.
struct Cost {
  Int128 cents = 0;
  Int128 hours = 0;
  const UsagePrice* price = nullptr;
};

const UsagePrice* price_of(const UsageSettings& settings, const UsageRowKey& key) {
  for (const UsagePrice& price : settings.prices)
    if (price.flavor == key.flavor && price.resource == key.resource) return &price;
  return nullptr;
}

Int128 allocated(const UsageReport& report, const UsageTotals& totals) {
  switch (report.settings.allocation) {
    case UsageAllocation::granted_hours: return totals.sums.granted;
    case UsageAllocation::used_hours: return totals.sums.used;
  }
  return 0;
}

Result<std::vector<Cost>> costs_of(const UsageReport& report) {
  std::vector<Cost> costs(report.rows.size());
  std::map<ChargeOf, std::vector<std::size_t>> charges;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const UsageReportRow& row = report.rows[i];
    if (row.key.side != kHubSide) continue;
    costs[i].price = price_of(report.settings, row.key);
    if (costs[i].price) charges[{row.from, row.to, row.key.flavor, row.key.resource}].push_back(i);
  }
  for (const auto& [of, rows] : charges) {
    std::vector<Int128> amounts;
    std::vector<ExactPart> hours;
    constexpr Int128 kHundredth = kUnitHour / 100;
    for (const std::size_t row : rows) {
      const Int128 amount = allocated(report, report.rows[row].totals);
      amounts.push_back(amount);
      hours.push_back({amount / kHundredth, amount % kHundredth});
    }
    const UsagePrice& price = *costs[rows.front()].price;
    const auto parts = cost_parts(amounts, exact_price(price.per_hour));
    if (!parts)
      return Error{ErrorCode::bad_input, "usage.prices: " + price.per_hour + " per hour of " +
                                             price.resource + " is too large for this report"};
    const auto cents = by_largest_remainder(parts->parts, parts->unit);
    const auto quantities = by_largest_remainder(hours, kHundredth);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      costs[rows[i]].cents = cents[i];
      costs[rows[i]].hours = quantities[i];
    }
  }
  return costs;
}

const char* allocation_method(UsageAllocation allocation) {
  switch (allocation) {
    case UsageAllocation::granted_hours: return "fairlead/granted-hours/v1";
    case UsageAllocation::used_hours: return "fairlead/used-hours/v1";
  }
  return "";
}

}  // namespace

Result<std::string> usage_focus(const UsageReport& report) {
  const auto costs = costs_of(report);
  if (!costs) return costs.error();
  std::string out =
      csv_line({"BilledCost", "BillingCurrency", "ChargeCategory", "ChargePeriodEnd",
                "ChargePeriodStart", "ConsumedQuantity", "ConsumedUnit", "ContractedCost",
                "EffectiveCost", "ListCost", "ResourceId", "SubAccountId", "AllocatedMethodId",
                "x_Flavor", "x_Resource", "x_FirstSeq", "x_LastSeq", "x_Digest"});
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const UsageReportRow& row = report.rows[i];
    const Cost& cost = costs->at(i);
    if (cost.price == nullptr) continue;
    const std::string amount = fixed_decimal(cost.cents, 2);
    out +=
        csv_line({amount, cost.price->currency, "Usage", to_rfc3339(row.to), to_rfc3339(row.from),
                  fixed_decimal(cost.hours, 2), row.key.resource + "-Hours", amount, amount, amount,
                  row.key.uid, row.key.key, allocation_method(report.settings.allocation),
                  row.key.flavor, row.key.resource, std::to_string(report.first.value),
                  std::to_string(report.last.value), report.chain.hex()});
  }
  return out;
}

}  // namespace fairlead
