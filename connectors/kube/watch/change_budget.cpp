#include "connectors/kube/watch/change_budget.h"

#include <algorithm>

namespace fairlead {

void ChangeBudget::set(std::int64_t per_minute, std::int64_t burst) {
  cost_ = per_minute > 0 ? Duration{minutes(1).ns / per_minute} : Duration{};
  // Cannot overflow: the configuration bounds both by some millions, and a minute has 6e10 ns.
  allowance_ = {cost_.ns * std::max(per_minute, burst)};
  paid_at_ = {};
}

void ChangeBudget::spend(LogTime now, std::int64_t changes) {
  if (cost_.ns == 0) return;
  const LogTime most = now + Duration{allowance_.ns * 2};
  // Divided, because the cost of many changes could overflow.
  const std::int64_t affordable = (most - std::max(paid_at_, now)).ns / cost_.ns;
  paid_at_ = changes >= affordable ? most : std::max(paid_at_, now) + Duration{cost_.ns * changes};
}

bool ChangeBudget::exceeded(LogTime now) const {
  return cost_.ns > 0 && paid_at_ > now + allowance_;
}

Duration ChangeBudget::recovery(LogTime now) const {
  if (cost_.ns == 0) return {};
  const LogTime in_order = now + Duration{allowance_.ns - std::min(allowance_, minutes(1)).ns};
  return paid_at_ > in_order ? paid_at_ - in_order : Duration{};
}

}  // namespace fairlead
