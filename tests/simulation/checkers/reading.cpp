#include "tests/simulation/checkers/reading.h"

#include <algorithm>

namespace fairlead::simulation {
namespace {

constexpr Int128 kNano = 1'000'000'000;

std::string canonical(const std::string& resource,
                      const std::map<std::string, std::string>& aliases) {
  const auto alias = aliases.find(resource);
  return alias == aliases.end() ? resource : alias->second;
}

}  // namespace

std::optional<Int128> nano_of(const Json& quantity) {
  if (quantity.is_number_integer()) return kNano * quantity.get<std::int64_t>();
  if (!quantity.is_string()) return std::nullopt;
  const auto parsed = Quantity::parse(quantity.get<std::string>());
  if (!parsed) return std::nullopt;
  return parsed->nano();
}

std::map<SeenPair, Int128> nominals_of(const Json& queue,
                                       const std::map<std::string, std::string>& aliases) {
  std::map<SeenPair, Int128> nominals;
  if (!queue.contains("spec")) return nominals;
  for (const Json& group : queue["spec"].value("resourceGroups", Json::array()))
    for (const Json& flavor : group.value("flavors", Json::array()))
      for (const Json& resource : flavor.value("resources", Json::array()))
        if (const auto nano = nano_of(resource.value("nominalQuota", Json("0"))))
          nominals[{flavor.value("name", ""), canonical(resource.value("name", ""), aliases)}] =
              *nano;
  return nominals;
}

std::optional<std::vector<SeenRow>> rows_of(const Json& claim,
                                            const std::map<std::string, std::string>& aliases) {
  std::vector<SeenRow> rows;
  std::map<std::string, Int128> ceiling, sum;
  const Json& spec = claim.at("spec");
  // Named, as items() refers to its object.
  const Json ceilings = spec.value("nominalResources", Json::object());
  for (const auto& [name, amount] : ceilings.items()) {
    const auto nano = nano_of(amount);
    if (!nano || *nano < 0) return std::nullopt;
    ceiling[canonical(name, aliases)] = *nano;
  }
  for (const Json& row : spec.value("resourceAssignments", Json::array())) {
    const Json amounts = row.value("resources", Json::object());
    for (const auto& [name, amount] : amounts.items()) {
      const auto nano = nano_of(amount);
      const std::string resource = canonical(name, aliases);
      if (!nano || *nano < 0 || !ceiling.contains(resource)) return std::nullopt;
      sum[resource] += *nano;
      rows.push_back(
          {row.value("clusterQueueName", ""), {row.value("flavor", ""), resource}, *nano});
    }
  }
  for (const auto& [resource, total] : sum)
    if (total > ceiling[resource]) return std::nullopt;
  return rows;
}

void SeenObjects::wrote(const SeenWrite& write) {
  for (const SeenChange& change : write.changes) {
    auto& objects = objects_[{write.server, change.resource}];
    if (change.after == nullptr)
      objects.erase(change.key);
    else
      objects[change.key] = change.after;
  }
}

const std::map<std::string, model::ObjectRef>& SeenObjects::of(const std::string& server,
                                                               std::string_view resource) const {
  static const std::map<std::string, model::ObjectRef> kNone;
  const auto at = objects_.find({server, std::string(resource)});
  return at == objects_.end() ? kNone : at->second;
}

namespace {

// The most and the least of `value_in` an entry of the cluster: what holds at `from` counts, and
// every change up to `to`.
template <class ValueIn>
Offered bounds(const Record& record, const std::string& cluster, LogTime from, LogTime to,
               const ValueIn& value_in) {
  std::optional<Int128> at_begin;
  std::vector<Int128> values;
  for (const SeenCapacity& seen : record.capacity) {
    if (seen.cluster != cluster) continue;
    if (seen.time > to) break;
    if (seen.time <= from)
      at_begin = value_in(seen.usable);
    else
      values.push_back(value_in(seen.usable));
  }
  values.push_back(at_begin.value_or(0));
  return {*std::max_element(values.begin(), values.end()),
          *std::min_element(values.begin(), values.end())};
}

}  // namespace

Offered offered(const Record& record, const std::string& cluster, const SeenPair& pair,
                LogTime from, LogTime to) {
  return bounds(record, cluster, from, to, [&](const Amounts& usable) {
    const auto at = usable.find(pair);
    return at == usable.end() ? Int128{0} : kNano * at->second;
  });
}

Int128 offered_in_total(const Record& record, const std::string& cluster,
                        const std::string& resource, LogTime from, LogTime to) {
  return bounds(record, cluster, from, to,
                [&](const Amounts& usable) {
                  Int128 sum = 0;
                  for (const auto& [pair, amount] : usable)
                    if (pair.second == resource) sum += kNano * amount;
                  return sum;
                })
      .most;
}

std::string whole(Int128 nano) { return std::to_string(static_cast<std::int64_t>(nano / kNano)); }

}  // namespace fairlead::simulation
