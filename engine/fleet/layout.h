// The clusters and machines of the simulated fleet of `fairlead dev`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

inline constexpr std::string_view kOnDemand = "on-demand";
inline constexpr std::string_view kSpot = "spot";
inline constexpr std::string_view kHighQueue = "high-priority-queue";
inline constexpr std::string_view kLowQueue = "low-priority-queue";

/// One machine; every machine offers 96 cpu, 128Gi and one GPU.
struct MachineLayout {
  std::string name;
  std::string flavor;
  std::string rack;
};

/// The source from which the hub knows a cluster's capacity.
enum class CapacityReport : std::uint8_t {
  nodes,    ///< its API server is watched: a second model
  metrics,  ///< a ClusterMetrics on the hub
};

enum class Presence : std::uint8_t { from_the_start, joins_later };

struct ClusterLayout {
  std::string name;
  CapacityReport report{};
  Presence presence{};
  std::vector<MachineLayout> machines;
};

/// Returns the clusters in name order: three from the start, and one that comes and goes.
std::vector<ClusterLayout> fleet_layout();

}  // namespace fairlead
