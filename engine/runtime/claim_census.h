// What the claims report, counted: their conditions, and pairs whose usage is above the grant.
//
// It is read from the statuses that were written last, so that it is what an administrator reads on
// the claims, also after a restart.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "engine/runtime/census.h"

namespace fairlead {

struct ClaimCounts {
  /// (condition, status) -> claims.
  std::map<std::pair<std::string, std::string>, std::size_t> conditions;
  std::size_t overcommitted_pairs = 0;
};

/// Keeps what it read of a body, unlike Census.
class ClaimCensus {
 public:
  /// Returns the counts of `state`, or counts that are younger than kCensusInterval.
  const ClaimCounts& of(const State& state, LogTime now);

 private:
  struct Entry {
    std::string body;
    std::map<std::string, std::string> conditions;
    std::size_t overcommitted = 0;
  };
  const Entry& read(const std::string& claim, const std::string& body);

  std::map<std::string, Entry> entries_;  // a body is parsed when it changes
  ClaimCounts counts_;
  LogTime due_;
};

}  // namespace fairlead
