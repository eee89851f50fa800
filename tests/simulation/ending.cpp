#include "tests/simulation/ending.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/simulation/checkers/reading.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

constexpr std::string_view kManager = "fairlead";  // and whatever begins so
// More overwrites than this of a queue within the time are not answered.
constexpr std::size_t kAnswered = 3;
constexpr Duration kAnsweredWithin = minutes(10);

bool has_all(const Json& item, const Json& keys) {
  return item.is_object() && std::ranges::all_of(keys.items(), [&](const auto& key) {
           return member(item, key.key().c_str()) == key.value();
         });
}

// The part of a value that `fields` names, which is a FieldsV1: `f:NAME` is a member, `k:KEYS` an
// item of a list, `v:VALUE` an item of a set, `.` the container itself.
Json part_of(const Json& value, const Json& fields) {
  if (fields.empty()) return value;
  Json part = Json::object();
  for (const auto& [element, below] : fields.items()) {
    const std::string name = element.size() > 2 ? element.substr(2) : "";
    if (element.starts_with("f:") && value.is_object() && value.contains(name)) {
      part[name] = part_of(value[name], below);
    } else if (element.starts_with("v:")) {
      part[element] = true;
    } else if (element.starts_with("k:") && value.is_array()) {
      const Json keys = read_json(name);
      for (const Json& item : value)
        if (has_all(item, keys)) part[element] = part_of(item, below);
    }
  }
  return part;
}

// What differs from run to run though the hub wants the same.
void strip(Json& value) {
  if (value.is_string() && parse_rfc3339(value.get_ref<const std::string&>())) {
    value = "TIME";
  } else if (value.is_object()) {
    for (const char* name : {"seq", "observedGeneration", "uid", "resourceVersion", "message",
                             "fairlead.io/apply-again"})
      value.erase(name);
    for (auto& item : value) strip(item);
  } else if (value.is_array()) {
    for (auto& item : value) strip(item);
  }
}

// A claim's status has what was observed when what it grants changed last: newer observations alone
// are not written (engine/plan/claims/claim_status.cpp). Which change was the last follows from
// what was seen of the world. So does whether a flavor has a row of 0: it had a node for so long
// that its capacity was accepted once.
void strip_observations(Json& claim) {
  if (!member(claim, "status").is_object()) return;
  Json rows = Json::array();
  for (Json& row : claim["status"]["capacity"]) {
    if (text_in(row, "accepted") == "0") continue;
    for (const char* name : {"observed", "usable", "state"}) row.erase(name);
    rows.push_back(std::move(row));
  }
  claim["status"]["capacity"] = std::move(rows);
}

Json owned_by_hub(const Json& object) {
  Json owned;
  const Json& metadata = member(object, "metadata");
  for (const Json& entry : list_in(metadata, "managedFields"))
    if (text_in(entry, "manager").starts_with(kManager)) {
      Json part = part_of(object, member(entry, "fieldsV1"));
      strip(part);
      if (!part.empty()) owned.merge_patch(part);
    }
  return owned;
}

std::string difference(const Json& one, const Json& other, const std::string& path) {
  if (one == other) return {};
  const auto text = [](const Json& value) { return to_text(value).substr(0, 300); };
  if (!one.is_structured() || one.type() != other.type() ||
      (one.is_array() && one.size() != other.size()))
    return path + ": " + text(one) + " became " + text(other);
  if (one.is_array()) {
    for (std::size_t at = 0; at < one.size(); ++at)
      if (auto inner = difference(one[at], other[at], path + "/" + std::to_string(at));
          !inner.empty())
        return inner;
    return {};
  }
  for (const auto& [name, value] : one.items()) {
    if (!other.contains(name)) return path + "/" + name + " is gone: " + text(value);
    if (auto inner = difference(value, other[name], path + "/" + name); !inner.empty())
      return inner;
  }
  for (const auto& [name, value] : other.items())
    if (!one.contains(name)) return path + "/" + name + " is new: " + text(value);
  return {};
}

}  // namespace

std::set<std::string> left_alone_in(const World& world) {
  std::set<std::string> found;
  std::map<std::string, std::vector<LogTime>> overwrites;
  const auto& aliases = world.configuration().resource_aliases;
  for (const SeenWrite& write : world.record().writes)
    for (const SeenChange& change : write.changes) {
      if (change.resource != kQueueResource || write.by_hub() || !change.before || !change.after ||
          nominals_of(*change.before, aliases) == nominals_of(*change.after, aliases))
        continue;
      std::vector<LogTime>& times = overwrites[change.key];
      times.push_back(write.time);
      if (times.size() > kAnswered &&
          write.time - times[times.size() - 1 - kAnswered] <= kAnsweredWithin)
        found.insert(change.key);
    }
  return found;
}

std::uint64_t writes_by_hub(const World& world) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      world.record().writes, [](const SeenWrite& write) { return write.by_hub(); }));
}

// Returns the quotas of the pairs that claims name, by queue. Ownership says nothing here: the API
// server gives the list of a queue's flavors to its last writer as a whole.
Json quotas_of_claims(const World& world, const model::ObjectStore& store) {
  const auto& aliases = world.configuration().resource_aliases;
  const auto& all = store.all();
  Json quotas = Json::object();
  const auto claims = all.find(std::string(kClaimResource));
  const auto queues = all.find(std::string(kQueueResource));
  if (claims == all.end() || queues == all.end()) return quotas;
  for (const auto& [name, claim] : claims->second)
    for (const SeenRow& row : rows_of(*claim, aliases).value_or(std::vector<SeenRow>())) {
      const auto queue = queues->second.find(row.queue);
      if (queue == queues->second.end()) continue;
      const auto nominals = nominals_of(*queue->second, aliases);
      const auto is = nominals.find(row.pair);
      quotas[row.queue][row.pair.first + " " + row.pair.second] =
          is == nominals.end() ? "none" : whole(is->second);
    }
  return quotas;
}

Ending ending_of(const World& world) {
  Ending ending;
  for (std::int64_t at = 0; at < world.servers(); ++at) {
    const Server& server = world.server(at);
    const model::ObjectStore store = server.model().save();
    for (const auto& [resource, objects] : store.all()) {
      // Which Workloads are left depends on when each was admitted.
      if (resource.starts_with("leases.") || resource.starts_with("events.") ||
          resource.starts_with("workloads."))
        continue;
      for (const auto& [key, object] : objects)
        if (Json owned = owned_by_hub(*object); !owned.empty()) {
          if (resource == kClaimResource) strip_observations(owned);
          if (resource == kQueueResource) owned.erase("spec");
          if (owned.empty()) continue;
          ending.owned[server.name()][resource][key] = std::move(owned);
        }
    }
  }
  ending.owned[std::string(kHub)]["quotas"] =
      quotas_of_claims(world, world.server(0).model().save());
  ending.left_alone = left_alone_in(world);
  ending.writes = writes_by_hub(world);
  return ending;
}

std::string difference(const Ending& one, const Ending& other) {
  Json mine = one.owned, theirs = other.owned;
  for (const auto& left : {one.left_alone, other.left_alone})
    for (const std::string& queue : left)
      for (Json* owned : {&mine, &theirs}) (*owned)[std::string(kHub)]["quotas"].erase(queue);
  return difference(mine, theirs, "");
}

const Ending& undisturbed_ending(const Storm& storm, const IncidentRef& incident) {
  static std::optional<std::tuple<Storm, IncidentRef, Ending>> last;
  const Storm calm = undisturbed(storm);
  if (!last || std::get<0>(*last) != calm || std::get<1>(*last) != incident) {
    World world(calm, {}, Judged::no, incident);
    (void)world.run();
    last = {calm, incident, ending_of(world)};
  }
  return std::get<2>(*last);
}

}  // namespace fairlead::simulation
