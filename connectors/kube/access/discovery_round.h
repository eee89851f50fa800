// The requests of one discovery that are under way, what went wrong, and when the next one begins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kube/access/discovery.h"
#include "engine/base/digest.h"
#include "engine/base/time.h"

namespace fairlead {

/// Answers to an earlier round do not count. Not thread-safe; the connection owns it.
struct DiscoveryRound {
  enum class Part : std::uint8_t { documents, lists };
  std::uint64_t number = 0;
  Part part = Part::documents;
  std::size_t outstanding = 0;  ///< answers that are still to come
  std::set<std::string> troubles;
  std::set<std::string> reported;  ///< the troubles of the round before
  Duration wait{};                 ///< the longest Retry-After

  void begin(Part of, std::vector<DiscoveryRequest> requests) {
    part = of;
    outstanding = requests.size();
    unsent_ = std::move(requests);
    std::reverse(unsent_.begin(), unsent_.end());
  }
  /// Returns the next request to send; nullopt if there is none.
  std::optional<DiscoveryRequest> next() {
    if (unsent_.empty()) return std::nullopt;
    std::optional<DiscoveryRequest> request(std::move(unsent_.back()));
    unsent_.pop_back();
    return request;
  }
  /// The server does not answer: it is not asked for the rest, each time until a timeout.
  void drop_unsent() {
    outstanding -= unsent_.size();
    unsent_.clear();
  }
  /// Forgets all but what was reported: the server is another one.
  void restart() {
    ++number;
    begin(Part::documents, {});
    troubles.clear();
    wait = {};
  }

 private:
  std::vector<DiscoveryRequest> unsent_;  // in reverse order
};

/// Returns `span` and up to a quarter more, by the server's name: all servers of a hub begin at one
/// moment, and thousands would be asked at one moment ever after.
inline Duration spread_by_name(Duration span, const std::string& name) {
  const auto digest = sha256(name).bytes;
  const std::int64_t part = digest[0] * 256 + digest[1];  // of 65536
  return {span.ns + span.ns / 4 / 65536 * part};
}

}  // namespace fairlead
