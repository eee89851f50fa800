#include "replay/timeline/pool_values.h"

#include <algorithm>
#include <set>

#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/questions.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/writes/record.h"

namespace fairlead {

namespace {

template <class Values, class Line>
Int128& line_of(Values& values, Line which) {
  return values.at(static_cast<std::size_t>(which));
}

void add(Int128& sum, Int128 amount) { sum = (sum == kNoValue ? 0 : sum) + amount; }

// Sums over the clusters, and what the namespace alone has.
ShareValues values_of_itself(const State& state, const PoolNamespace& of,
                             const std::map<std::string, ShareValues>& shares) {
  ShareValues values;
  values.fill(kNoValue);
  if (of.taken_up || is_in_pool(state.configuration, of)) {
    line_of(values, ShareLine::expected) = expected_slices(state.configuration, of);
    line_of(values, ShareLine::decided) = of.slices;
  }
  if (of.observed) line_of(values, ShareLine::placed) = 0;
  line_of(values, ShareLine::pods) = static_cast<Int128>(of.pods.size());
  line_of(values, ShareLine::waiting) = static_cast<Int128>(of.waiting.size());
  for (const auto& [id, share] : shares)
    if (share.at(static_cast<std::size_t>(ShareLine::placed)) != kNoValue)
      add(line_of(values, ShareLine::placed),
          share.at(static_cast<std::size_t>(ShareLine::placed)));
  return values;
}

}  // namespace

std::string namespace_text(const PoolNamespaceKey& key) { return key.first + "/" + key.second; }

std::map<std::string, ShareValues> share_values(const State& state, const PoolNamespace& of) {
  std::map<std::string, ShareValues> all;
  const auto at = [&all](const std::string& id) -> ShareValues& {
    const auto [found, is_new] = all.try_emplace(id);
    if (is_new) found->second.fill(kNoValue);
    return found->second;
  };
  for (const auto& [id, share] : of.shares) {
    ShareValues& values = at(id);
    if (share.listed) line_of(values, ShareLine::decided) = share.slices;
    line_of(values, ShareLine::pods) = share.pod_count;
  }
  if (of.observed)
    for (const auto& [id, slices] : *of.observed) line_of(at(id), ShareLine::placed) = slices;
  all.emplace("", values_of_itself(state, of, all));
  return all;
}

StepWriter writer_of_placements(const PoolNamespace& of) {
  return of.written && of.written == of.observed ? StepWriter::fairlead : StepWriter::foreign;
}

std::map<std::string, OfferValues> offer_values(const State& state, const std::string& id) {
  std::map<std::string, OfferValues> all;
  const auto at = [&all](const std::string& resource) -> OfferValues& {
    const auto [found, is_new] = all.try_emplace(resource);
    if (is_new) found->second.fill(kNoValue);
    return found->second;
  };
  if (const auto cluster = state.pool.clusters.find(id); cluster != state.pool.clusters.end())
    if (cluster->second.known)
      for (const auto& [resource, amount] : cluster->second.accepted)
        line_of(at(resource), OfferLine::accepted) = amount;
  const auto totals = state.pool.totals.find(id);
  if (totals == state.pool.totals.end()) return all;
  for (const auto& [resource, amount] : totals->second.pods)
    line_of(at(resource), OfferLine::held) = amount;
  const CpuMemorySum held{totals->second.held.cpu + totals->second.strangers.cpu,
                          totals->second.held.memory + totals->second.strangers.memory};
  line_of(at("cpu"), OfferLine::held) = held.cpu;
  line_of(at("memory"), OfferLine::held) = held.memory;
  return all;
}

std::map<std::string, TenantValues> tenant_values(const PoolTenant& tenant) {
  const auto limit = [&](const std::string& resource) {
    const auto at = tenant.limit.find(resource);
    return at == tenant.limit.end() ? kNoValue : Int128{at->second};
  };
  return {{"cpu", {tenant.slices.cpu, limit("cpu")}},
          {"memory", {tenant.slices.memory, limit("memory")}}};
}

std::size_t pods_that_wait(const PoolNamespace& of) { return of.waiting.size(); }

std::vector<std::string> states_of_namespace(const State& state, const PoolNamespaceKey& key) {
  const PoolTenant& tenant = state.pool.tenants.at(key.first);
  const PoolNamespace& of = tenant.namespaces.at(key.second);
  std::vector<std::string> states;
  if (!tenant.connected()) states.emplace_back("not connected");
  const std::string& reason = value_of(of.reason).current;
  if (!reason.empty()) states.push_back(reason.substr(0, reason.find(':')));
  if (of.taken_up && reason.empty() && of.slices < expected_slices(state.configuration, of))
    states.emplace_back("no room");
  if (!of.waiting.empty()) states.emplace_back("pods wait");
  const WriteState* const write =
      find_write(state.writes, {tenant_source(key.first), Kind::namespace_, "", key.second, false});
  if (write != nullptr && write->outstanding)
    states.emplace_back("write unanswered");
  else if (write != nullptr && write->refusal && !is_conflict(*write->refusal))
    states.emplace_back("write refused");
  else if (of.seen && namespace_differs(state.configuration, of))
    states.emplace_back("not written");
  if (states.empty()) states.emplace_back("steady");
  return states;
}

}  // namespace fairlead
