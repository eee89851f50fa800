#include "tests/simulation/storm.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/fleet/random.h"

namespace fairlead::simulation {
namespace {

constexpr std::int64_t kDay = 1440;

constexpr std::array kStormFields{
    StormField{"seed", &Storm::seed, 0, INT64_MAX},
    StormField{"minutes", &Storm::minutes, 1, 400 * kDay},
    StormField{"settle-minutes", &Storm::settle_minutes, 1, kDay},
    StormField{"members", &Storm::members, 1, 20},
    StormField{"nodes", &Storm::nodes, 1, 10'000},
    StormField{"replicas", &Storm::replicas, 1, 5},
    StormField{"node-changes", &Storm::node_changes, 0, 100'000},
    StormField{"drains", &Storm::drains, 0, 1000},
    StormField{"flaps", &Storm::flaps, 0, 1000},
    StormField{"claim-edits", &Storm::claim_edits, 0, 1000},
    StormField{"queue-edits", &Storm::queue_edits, 0, 1000},
    StormField{"foreign-quotas", &Storm::foreign_quotas, 0, 1000},
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::span<const StormField> storm_fields() { return kStormFields; }

Storm storm_of(std::uint64_t seed) {
  Storm storm;
  storm.seed = static_cast<std::int64_t>(seed & INT64_MAX);
  Random random(seed ^ 0x53746f726dU);
  storm.members = 1 + random.below(3);
  storm.nodes = 2 + random.below(8);
  for (std::int64_t Storm::* rate :
       {&Storm::node_changes, &Storm::drains, &Storm::flaps, &Storm::claim_edits,
        &Storm::queue_edits, &Storm::foreign_quotas})
    storm.*rate = random.below(3) == 0 ? 0 : storm.*rate * (1 + random.below(4));
  return storm;
}

Result<Storm> read_storm(std::string_view text, std::string_view file_name) {
  Storm storm;
  for (int line = 1; !text.empty(); ++line) {
    std::string_view row = text.substr(0, text.find('\n'));
    text = row.size() < text.size() ? text.substr(row.size() + 1) : std::string_view();
    row = trimmed(row.substr(0, row.find('#')));
    if (row.empty()) continue;
    const auto refuse = [&](const std::string& why) {
      return Error{ErrorCode::bad_input,
                   std::string(file_name) + ":" + std::to_string(line) + ": " + why};
    };
    const std::string_view name = row.substr(0, row.find(' '));
    const auto field = std::ranges::find(kStormFields, name, &StormField::name);
    if (field == kStormFields.end()) return refuse("no storm has \"" + std::string(name) + "\"");
    const std::string_view value = trimmed(row.substr(name.size()));
    std::int64_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size() ||
        number < field->least || number > field->most)
      return refuse(std::string(name) + ": expected a number from " + std::to_string(field->least) +
                    " to " + std::to_string(field->most));
    storm.*field->value = number;
  }
  return storm;
}

std::string to_text(const Storm& storm) {
  const Storm usual;
  std::string text;
  for (const StormField& field : kStormFields)
    if (field.name == "seed" || storm.*field.value != usual.*field.value)
      text.append(field.name).append(" ").append(std::to_string(storm.*field.value)).append("\n");
  return text;
}

}  // namespace fairlead::simulation
