#include "replay/audit/explain_devices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/devices/node_reach.h"
#include "engine/devices/tolerance.h"
#include "engine/fold/devices/counted_flavor.h"
#include "engine/fold/devices/device_capacity.h"
#include "engine/fold/devices/pool_offer.h"
#include "replay/audit/explain_text.h"

namespace fairlead {

namespace {

const char* text_of(PoolStatus status) {
  switch (status) {
    case PoolStatus::complete: return "complete";
    case PoolStatus::incomplete: return "incomplete";
    case PoolStatus::invalid: return "invalid";
  }
  return "";
}

class DeviceRows {
 public:
  // The copy gets an index of its own, in which what the fold knows can be looked up.
  DeviceRows(const State& state, const Cluster& cluster, const AssignmentRow& asked)
      : state_(state), cluster_(cluster), asked_(asked) {
    // Memos are not in a snapshot, so the index may be empty: everything is counted again, in the
    // copy.
    cluster_.device_capacity.all_dirty = state.seq;
    count_devices(state, cluster_);
    for (const DeviceResource& each : cluster_.device_capacity.index->resources)
      if (each.resource == asked.resource) resource_ = &each;
  }

  Json rows() {
    Json rows = Json::array();
    if (!resource_) return rows;
    for (const auto& [key, pool] : cluster_.device_capacity.pools)
      if (Json row = pool_row(key, pool); !row.is_null()) rows.push_back(std::move(row));
    return rows;
  }

 private:
  Json pool_row(const DevicePoolKey& key, const DevicePool& pool) {
    std::vector<NamedSlice> slices;
    Seq newest;
    std::string why;
    const auto held_until = pool.held_until();
    if (held_until) {
      for (const KeptSlice& kept : pool.kept->slices) {
        slices.push_back({kept.name, &*kept.facts});
        newest = std::max(newest, kept.seq);
      }
    }
    std::vector<NamedSlice> published;
    for (const auto* entry : pool.index->slices) {
      published.push_back({entry->first, &*entry->second.facts});
      newest = std::max(newest, entry->second.seq);
    }
    // What counts: the published slices if they are complete, else the ones that are kept from when
    // they last were.
    const PoolView view = view_of_pool(published);
    if (view.status == PoolStatus::complete) slices = view.slices;
    left_out_.clear();
    if (pool.faults && pool.faults->contains(DeviceReason::counters_shared))
      left_out_ = offer_of(state_, cluster_, key, slices).left_out;
    Json devices = Json::array();
    for (const NamedSlice& slice : slices)
      for (const DeviceFacts& device : slice.facts->devices)
        if (Json row = device_row(key, *slice.facts, device); !row.is_null())
          devices.push_back(std::move(row));
    if (devices.empty() && view.status == PoolStatus::complete) return {};
    Json adds = Json::object();
    for (const auto& [at, sum] : *pool.sums)
      if (at.resource == resource_->resource)
        adds[at.flavor] = amount_text(at.resource, sum.offered);
    return {{"driver", key.driver},
            {"pool", key.pool},
            {"status", text_of(view.status)},
            {"why", view.why},
            {"heldUntil", held_until ? Json(to_rfc3339(*held_until)) : Json()},
            {"seq", newest.value},
            {"adds", std::move(adds)},
            {"devices", std::move(devices)}};
  }

  // Null for a device that is none of the resource.
  Json device_row(const DevicePoolKey& key, const ResourceSliceFacts& slice,
                  const DeviceFacts& device) {
    std::string why;
    const DeviceMatch matched = match(*resource_, key.driver, device, why);
    if (matched == DeviceMatch::no) return {};
    Json reasons = Json::array();
    if (matched == DeviceMatch::error) reasons.push_back(why);
    if (!is_healthy(cluster_, slice, device))
      for (const Taint& taint : taints_of(slice, device, cluster_.device_capacity.index->rules))
        reasons.push_back("taint " + text(taint) +
                          rules_text(cluster_, text(taint), slice, device));
    const CountedFlavor counts =
        counted_flavor(state_, cluster_, reach_of(slice, device), resource_->resource);
    if (counts.where == CountedFlavor::Where::nowhere)
      reasons.push_back("it reaches no eligible node");
    else if (counts.where == CountedFlavor::Where::ambiguous)
      reasons.push_back("it reaches nodes of several flavors");
    else if (!counts.flavor.empty() && counts.flavor != asked_.flavor)
      reasons.push_back("counts for flavor " + counts.flavor);
    if (left_out_.contains(device.name))
      reasons.push_back("other devices that count take its counters");
    return {{"name", device.name},
            {"flavor", counts.flavor},
            {"counts", reasons.empty()},
            {"reasons", std::move(reasons)}};
  }

  const State& state_;
  Cluster cluster_;
  const AssignmentRow& asked_;
  const DeviceResource* resource_ = nullptr;
  std::set<std::string> left_out_;  // of the pool
};

}  // namespace

std::string rules_text(const Cluster& cluster, const std::string& taint,
                       const ResourceSliceFacts& slice, const DeviceFacts& device) {
  std::string rules;
  for (const auto& [name, record] : cluster.devices.rules) {
    if (text(record.facts.taint) != taint || !selects(record.facts, slice, device)) continue;
    rules += std::string(rules.empty() ? " of" : ",") + " DeviceTaintRule " + name + " (seq " +
             std::to_string(record.seq.value) + ")";
    if (!record.facts.selects) rules += ", which has no selector and so selects every device";
  }
  return rules;
}

Json device_rows(const State& state, const GrantOfPair& grant) {
  const auto at = state.clusters.find(grant.claim->terms->cluster);
  if (at == state.clusters.end() || !at->second.device_capacity.published ||
      !state.configuration.dra.quota)
    return Json::array();
  return DeviceRows(state, at->second, grant.grant->row).rows();
}

std::string devices_text(const Json& pools) {
  std::string lines;
  std::size_t counts = 0, all = 0;
  for (const Json& pool : pools) {
    const std::string name = "pool " + cell(pool["driver"]) + "/" + cell(pool["pool"]) + " (seq " +
                             cell(pool["seq"]) + ")";
    std::map<std::string, std::vector<std::string>> groups;  // by why they do not count
    for (const Json& device : pool["devices"]) {
      std::string against;
      for (const Json& reason : device["reasons"])
        against += (against.empty() ? "" : ", ") + cell(reason);
      groups[against].push_back(cell(device["name"]));
      ++all;
      if (device["counts"]) ++counts;
    }
    if (pool["status"] != "complete")
      lines += "      " + name + " is " + cell(pool["status"]) + ": " + cell(pool["why"]) +
               (pool["heldUntil"].is_null()
                    ? "; nothing of it counts\n"
                    : "; what was complete counts until " + cell(pool["heldUntil"]) + "\n");
    for (const auto& [against, names] : groups)
      lines += "      " + std::string(against.empty() ? "" : "not counted, " + against + ": ") +
               name + ": " + first_of(names, kDevicesNamed) + "\n";
  }
  return "    devices       " + std::to_string(counts) + " of " + std::to_string(all) + " count\n" +
         lines;
}

}  // namespace fairlead
