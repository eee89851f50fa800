#include "replay/whatif/totals.h"

#include <algorithm>
#include <utility>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/queues/queues.h"

namespace fairlead {

namespace {

constexpr std::int64_t kNanosecondsPerHour = hours(1).ns;
constexpr std::int64_t kNanosecondsPerSecond = seconds(1).ns;

bool bounds(const Cluster& cluster, const Claim* claim, const CapacityKey& pair) {
  const FlavorCapacity how =
      claim && claim->terms ? claim->terms->flavor_capacity : FlavorCapacity::automatic;
  if (cluster.source == CapacitySource::managed_cluster || how == FlavorCapacity::total_only)
    return false;
  return how == FlavorCapacity::strict || cluster.mapped.contains(pair);
}

// Returns the contributions of the last write of the queue; null if there is none, or no queue.
const std::vector<Contribution>* written_parts(const State& state, const std::string& name) {
  const auto at = state.queues.by_name.find(name);
  const bool written = at != state.queues.by_name.end() && at->second.present &&
                       at->second.written_groups.has_value();
  return written ? &at->second.contributed : nullptr;
}

// Returns what the hub's list carries of each cluster: the contributions of the last write or, for
// pairs whose value was right without a write, the contributions that add up to it.
std::vector<Contribution> carried_by(const State& state, const std::string& name) {
  if (const auto* written = written_parts(state, name)) return *written;
  const auto at = state.queues.by_name.find(name);
  if (at == state.queues.by_name.end() || !at->second.present) return {};
  std::vector<Contribution> all;
  for (const auto& [pair, amount] : at->second.written) {
    const HubQuota quota = hub_quota(state, name, pair);
    all.insert(all.end(), quota.contributions.begin(), quota.contributions.end());
  }
  return all;
}

// Devices are few: rounding to a whole unit for an hour would hide what a window costs, so they are
// reported in thousandths, as cpu is.
std::string hours_text(const std::string& resource, Int128 sum) {
  const Int128 whole = sum / kNanosecondsPerHour;
  if (quantum_of(resource) != 1) return amount_text(resource, whole);
  return amount_text("cpu", whole * 1000 + sum % kNanosecondsPerHour * 1000 / kNanosecondsPerHour);
}

Json hours_json(const std::map<std::string, Int128>& sums) {
  Json json = Json::object();
  for (const auto& [resource, sum] : sums)
    if (sum != 0) json[resource] = hours_text(resource, sum);
  return json;
}

}  // namespace

Json to_json(const Totals& totals) {
  return {{"writes", totals.writes},
          {"queueWrites", totals.queue_writes},
          {"nominations", totals.nominations},
          {"statusWrites", totals.status_writes},
          {"overQuotaSeconds", totals.over_quota.ns / kNanosecondsPerSecond},
          {"overQuotaResourceHours", hours_json(totals.over)},
          {"underQuotaResourceHours", hours_json(totals.under)},
          {"safeShrinks", totals.safe_shrinks},
          {"slowestShrinkSeconds", totals.slowest_shrink.ns / kNanosecondsPerSecond}};
}

void TotalsMeter::wrote(const PatchIntended& intent) {
  if (intent.verb == Verb::apply_status) {
    ++(intent.target.kind == Kind::workload ? totals_.nominations : totals_.status_writes);
    return;
  }
  ++totals_.writes;
  if (intent.target.kind == Kind::cluster_queue) ++totals_.queue_writes;
}

void TotalsMeter::decided(const State& state, const DirtySet& dirty) {
  std::set<std::string> feeding;  // clusters whose contribution to a queue changed
  if (dirty.everything) {
    for (const auto& [name, queue] : state.queues.by_name) add_queue(state, name, feeding);
    for (const auto& [name, cluster] : state.clusters) measure(state, name);
    return;
  }
  for (const std::string& name : dirty.queues) add_queue(state, name, feeding);
  for (const std::string& name : dirty.clusters) measure(state, name);
  for (const std::string& name : dirty.capacities) measure(state, name);
  for (const std::string& name : feeding)
    if (!dirty.clusters.contains(name) && !dirty.capacities.contains(name)) measure(state, name);
}

void TotalsMeter::add_queue(const State& state, const std::string& name,
                            std::set<std::string>& feeding) {
  Carried& before = carried_[name];
  const bool written = written_parts(state, name) != nullptr;
  const Seq by = written ? state.queues.by_name.at(name).written_at.seq : Seq{};
  if (by != Seq{} && by == before.by) return;  // the parts of this write are known
  before.by = by;
  std::vector<Contribution> now = carried_by(state, name);
  if (now == before.parts) return;
  const auto promise = [&](const Contribution& part, Int128 amount) {
    clusters_[part.cluster].promised[{part.flavor, part.resource}] += amount;
    feeding.insert(part.cluster);
  };
  // The former parts are taken back before the new ones count, so a sum needs no second walk over
  // the queues of a cluster.
  for (const Contribution& part : before.parts) promise(part, -Int128{part.amount});
  for (const Contribution& part : now) promise(part, part.amount);
  before.parts = std::move(now);
}

void TotalsMeter::measure(const State& state, const std::string& name) {
  const auto at = state.clusters.find(name);
  if (at == state.clusters.end()) return;
  const Cluster& cluster = at->second;
  Measured& measured = clusters_[name];
  // A value that the cluster no longer has counts as zero.
  for (auto& [key, gauge] : measured.gauges) gauge.now = {};
  if (cluster.valued && !cluster.presence.detached)
    sum_up(cluster, winning_claim(state.claims, name), measured);
  for (auto& [key, gauge] : measured.gauges) {
    const Sums& sum = gauge.now;
    integrate(totals_, key, gauge, state.now);
    gauge.since = state.now;
    gauge.over = saturate(std::max<Int128>(0, sum.promised - sum.usable));
    gauge.under = saturate(std::max<Int128>(0, std::min(sum.usable, sum.wanted) - sum.promised));
  }
}

void TotalsMeter::sum_up(const Cluster& cluster, const Claim* claim, Measured& measured) {
  const auto sums_of = [&](const std::string& flavor, const std::string& resource) -> Sums& {
    const CapacityKeyOrder::View key{
        bounds(cluster, claim, {flavor, resource}) ? std::string_view(flavor) : std::string_view(),
        resource};
    const auto at = measured.gauges.lower_bound(key);
    if (at != measured.gauges.end() && !CapacityKeyOrder()(key, at->first)) return at->second.now;
    return measured.gauges.emplace_hint(at, CapacityKey{std::string(key.first), resource}, Gauge{})
        ->second.now;
  };
  const bool totals_in_force = cluster.source == CapacitySource::managed_cluster;
  for (const auto& [key, value] : cluster.capacity)
    if (key.flavor.empty() == totals_in_force)
      sums_of(key.flavor, key.resource).usable += value.damped.usable;
  for (const auto& [pair, amount] : measured.promised)
    sums_of(pair.flavor, pair.resource).promised += amount;
  if (claim && claim->terms)
    for (const AssignmentRow& row : claim->terms->rows)
      sums_of(row.flavor, row.resource).wanted += row.assigned;
}

// Steps inside one moment take no time: only a value that lasts from one moment to the next counts.
void TotalsMeter::integrate(Totals& totals, const CapacityKey& key, Gauge& gauge, LogTime until) {
  if (until <= gauge.since) return;
  end_span(totals, gauge);
  const Int128 span = (until - gauge.since).ns;
  if (gauge.under > 0) totals.under[key.resource] += span * gauge.under;
  if (gauge.over == 0) return;
  if (!gauge.over_since) gauge.over_since = gauge.since;
  totals.over[key.resource] += span * gauge.over;
  totals.over_quota.ns += saturate(span);
  totals.slowest_shrink = std::max(totals.slowest_shrink, until - *gauge.over_since);
}

void TotalsMeter::end_span(Totals& totals, Gauge& gauge) {
  if (gauge.over > 0 || !gauge.over_since) return;
  ++totals.safe_shrinks;
  gauge.over_since.reset();
}

Totals TotalsMeter::totals(LogTime end) const {
  Totals totals = totals_;
  for (const auto& [name, cluster] : clusters_)
    for (auto [key, gauge] : cluster.gauges) {
      integrate(totals, key, gauge, end);
      end_span(totals, gauge);
    }
  return totals;
}

}  // namespace fairlead
