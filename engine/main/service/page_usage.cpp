#include "engine/main/service/page_usage.h"

#include <utility>

#include "engine/main/client/log_place.h"
#include "engine/main/client/position.h"
#include "replay/usage/usage_index.h"

namespace fairlead {

Result<std::string> page_usage(const ServedLog& served, UsageQuestion question) {
  const AuditSource source{*served.log, served.snapshots.get()};
  make_absolute({&question.from, &question.to}, frame_of(*served.log, {}));
  const auto request = usage_request(source, question, {}, "UTC");
  if (!request) return request.error();
  std::optional<UsageHours> hours;
  if (served.option == kDataOption) hours = saved_usage_hours(served.path, *served.log);
  const auto report = usage_report(source, *request, hours ? &*hours : nullptr);
  if (!report) return report.error();
  return to_text(usage_json(*report, UsageUnit::hours));
}

}  // namespace fairlead
