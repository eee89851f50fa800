// Whether the requests of a Workload find quota in its ClusterQueue, and what is short.
//
// A resource group takes the best of its flavors that have all of the resources it is asked for; a
// Workload has what its worst group has. Kueue compares likewise, flavor by flavor, in
// pkg/scheduler/flavorassigner (fitsResourceQuota).
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/waiting/quota_tree.h"
#include "schema/words.h"

namespace fairlead {

/// From the worst to the best.
enum class QuotaFit : std::uint8_t {
  unknown,  ///< the queue or the requests are not known
  no,       ///< more than the queue may have
  quota,    ///< what the queue may have, and others hold
  now,      ///< what is free: Kueue may not have looked again
};
template <>
inline constexpr std::array<std::pair<std::string_view, QuotaFit>, 3> kWordsOf<QuotaFit>{{
    {"no", QuotaFit::no},
    {"quota", QuotaFit::quota},
    {"now", QuotaFit::now},
}};

/// What a Workload asks for: resource -> amount, by resource, none of them 0.
using Requests = std::vector<std::pair<std::string, Amount>>;
Requests requests_of(const ResourceAmounts& amounts);

/// Who says what is short: Kueue in a message, or the sums of its quota here.
enum class ShortageSource : std::uint8_t { message, quota };
template <>
inline constexpr std::array<std::pair<std::string_view, ShortageSource>, 2>
    kWordsOf<ShortageSource>{{
        {"message", ShortageSource::message},
        {"quota", ShortageSource::quota},
    }};
struct Shortage {
  ShortageSource source{};
  std::string flavor;
  std::string resource;
  std::string amount;  ///< a quantity in canonical form

  friend auto operator<=>(const Shortage&, const Shortage&) = default;
};

QuotaFit fit_of(const Requests& requests, const QueueRooms& queue);
/// Returns what is short in each flavor of the groups that do not fit now, sorted.
std::vector<Shortage> shortage_of(const Requests& requests, const QueueRooms& queue);

/// Returns the amounts that Kueue names in the message of a condition as short, sorted, each once.
std::vector<Shortage> shortage_in(std::string_view message);

}  // namespace fairlead
