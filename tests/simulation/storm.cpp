#include "tests/simulation/storm.h"

#include <algorithm>
#include <charconv>

#include "engine/fleet/random.h"

namespace fairlead::simulation {
namespace {

constexpr std::int64_t kDay = 1440;

// The usual rate of each kind where a seed turns it on.
constexpr std::array<std::int64_t, kFaultKinds> kUsualFaults{
    20, 20, 10, 40, 20, 30, 30, 15, 20, 20, 10, 10, 3, 30, 20, 20, 0, 2, 1, 1, 1};
constexpr std::array<std::int64_t, kEpisodeKinds> kUsualEpisodes{1, 1, 2, 1, 1, 1,
                                                                 1, 1, 3, 2, 2, 1};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::vector<StormField> fields_of(Storm& storm) {
  std::vector<StormField> fields{
      {"seed", &storm.seed, 0, INT64_MAX},
      {"minutes", &storm.minutes, 1, 400 * kDay},
      {"settle-minutes", &storm.settle_minutes, 1, kDay, false},
      {"members", &storm.members, 1, 20},
      {"nodes", &storm.nodes, 1, 10'000},
      {"replicas", &storm.replicas, 1, 5},
      {"node-changes", &storm.node_changes, 0, 100'000},
      {"drains", &storm.drains, 0, 1000},
      {"flaps", &storm.flaps, 0, 1000},
      {"claim-edits", &storm.claim_edits, 0, 1000},
      {"queue-edits", &storm.queue_edits, 0, 1000},
      {"foreign-quotas", &storm.foreign_quotas, 0, 1000},
      {"works", &storm.works, 0, 1},
      {"jobs", &storm.jobs, 0, 1000},
      {"limits", &storm.limits, 0, 1000},
      {"workers", &storm.workers, 0, 1},
      {"decision-shifts", &storm.decision_shifts, 0, 1000},
      {"credential-changes", &storm.credential_changes, 0, 1000},
      {"training-jobs", &storm.training_jobs, 0, 1000},
      {"devices", &storm.devices, 0, 100},
      {"device-changes", &storm.device_changes, 0, 1000},
      {"watch-lists", &storm.watch_lists, 0, 1, false},
      {"clock-rate", &storm.clock_rate, 0, 100'000},
      {"ring-faults", &storm.ring_faults, 0, 200},
      {"ring-slots", &storm.ring_slots, 8, 8192, false},
      {"snapshot-every", &storm.snapshot_every, 0, 1'000'000},
      {"once-kind", &storm.once_kind, 0, static_cast<std::int64_t>(kFaultKinds)},
      {"once-at", &storm.once_at, 0, INT64_MAX},
      {"once-way", &storm.once_way, 0, 1, false},
  };
  for (std::size_t at = 0; at < kFaultKinds; ++at)
    fields.push_back({kFaultNames[at], &storm.faults[at], 0, 1000});
  for (std::size_t at = 0; at < kEpisodeKinds; ++at)
    fields.push_back({kEpisodeNames[at], &storm.episodes[at], 0, 1000});
  return fields;
}

// A swarm: each seed has about half of what can happen, some of it often. Where all happens at
// once, one fault hides the other.
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
  storm.watch_lists = random.below(2);
  storm.replicas = random.below(6) == 0 ? 2 + random.below(2) : 1;
  storm.ring_faults = random.below(2) * random.below(30);
  storm.clock_rate = random.below(2) == 0 ? 0 : random.below(500);
  const auto swarm = [&](const auto& usual, auto& rates) {
    for (std::size_t at = 0; at < usual.size(); ++at)
      rates[at] = random.below(2) == 0 ? 0 : usual[at] * (1 + random.below(4));
  };
  swarm(kUsualFaults, storm.faults);
  swarm(kUsualEpisodes, storm.episodes);
  storm.ring_slots = std::int64_t{16} << random.below(9);
  storm.snapshot_every = 20 + random.below(600);
  return storm;
}

Storm undisturbed(Storm storm) {
  storm.replicas = 1;
  storm.clock_rate = 0;
  storm.ring_faults = 0;
  storm.faults = {};
  storm.episodes = {};
  storm.once_kind = storm.once_at = storm.once_way = 0;
  return storm;
}

Result<Storm> read_storm(std::string_view text, std::string_view file_name) {
  Storm storm;
  const std::vector<StormField> fields = fields_of(storm);
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
    const auto field = std::ranges::find(fields, name, &StormField::name);
    if (field == fields.end()) return refuse("no storm has \"" + std::string(name) + "\"");
    const std::string_view value = trimmed(row.substr(name.size()));
    std::int64_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size() ||
        number < field->least || number > field->most)
      return refuse(std::string(name) + ": expected a number from " + std::to_string(field->least) +
                    " to " + std::to_string(field->most));
    *field->value = number;
  }
  return storm;
}

std::string storm_text(const Storm& storm) {
  Storm usual, mine = storm;
  const std::vector<StormField> fields = fields_of(mine), defaults = fields_of(usual);
  std::string text;
  for (std::size_t at = 0; at < fields.size(); ++at)
    if (at == 0 || *fields[at].value != *defaults[at].value)
      text.append(fields[at].name)
          .append(" ")
          .append(std::to_string(*fields[at].value))
          .append("\n");
  return text;
}

}  // namespace fairlead::simulation
