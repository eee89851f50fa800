#include "engine/fold/queues/queue_annotations.h"

#include <charconv>
#include <map>

#include "engine/base/json.h"
#include "engine/base/result.h"

namespace fairlead {

namespace {

// A percentage above this is taken for a typing error.
constexpr std::int64_t kPercentMax = 1000;

Error refusal(const std::string& annotation, const std::string& what) {
  return {ErrorCode::bad_input, "annotation fairlead.io/" + annotation + ": " + what};
}

// {"flavor": {"resource": "10"}} -> amounts.
Result<std::map<QuotaKey, Amount>> read_amounts(const std::string& annotation,
                                                const std::string& text,
                                                const ResourceAliases& aliases) {
  std::map<QuotaKey, Amount> amounts;
  if (text.empty()) return amounts;
  const Json json = read_json(text);
  if (!json.is_object()) return refusal(annotation, "expected a JSON object of flavors");
  for (const auto& [flavor, resources] : json.items()) {
    if (!resources.is_object())
      return refusal(annotation, flavor + ": expected an object of resources");
    for (const auto& [resource, value] : resources.items()) {
      const std::string spelled = value.is_string() ? value.get<std::string>() : to_text(value);
      const auto quantity = Quantity::parse(spelled);
      if (!quantity || quantity->negative())
        return refusal(annotation,
                       flavor + "." + resource + ": expected a quantity >= 0, got " + spelled);
      const std::string& canonical = canonical_resource(aliases, resource);
      amounts[{flavor, canonical}] = to_amount(canonical, *quantity);
    }
  }
  return amounts;
}

Result<std::int64_t> read_percent(const std::string& text) {
  if (text.empty()) return 100;
  std::int64_t percent = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || percent < 0 ||
      percent > kPercentMax)
    return refusal("quota-percent", "expected a whole number from 0 to " +
                                        std::to_string(kPercentMax) + ", got " + text);
  return percent;
}

}  // namespace

BaseQuota read_base_quota(const std::string& text, const ResourceAliases& aliases,
                          BaseQuota before) {
  auto amounts = read_amounts("base-quota", text, aliases);
  if (amounts) return {std::move(*amounts), ""};
  before.malformed = amounts.error().message;
  return before;
}

void read_worker_terms(const WorkerQuotaTerms& annotations, const ResourceAliases& aliases,
                       WorkerQuota& quota) {
  const auto percent = read_percent(annotations.percent);
  auto reserve = read_amounts("quota-reserve", annotations.reserve, aliases);
  quota.malformed.clear();
  // The other two annotations then say nothing, so that a fault in them is none.
  if (annotations.from.empty()) {
    quota.asked = false;
    return;
  }
  if (annotations.from != "workers")
    quota.malformed = refusal("quota-from", "expected workers, got " + annotations.from).message;
  else if (!percent)
    quota.malformed = percent.error().message;
  else if (!reserve)
    quota.malformed = reserve.error().message;
  if (!quota.malformed.empty()) return;
  quota.asked = true;
  quota.percent = *percent;
  quota.reserve = std::move(*reserve);
}

}  // namespace fairlead
