// The diagnostic line about the outcome of each write, with what its intent said.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/runtime/diagnostics.h"
#include "engine/runtime/hub_stats.h"
#include "schema/event.h"

namespace fairlead {

class WriteDiagnostics {
 public:
  /// Keeps what the line about the outcome of a PatchIntended will name.
  void intended(const Event& intent);
  /// Counts an outcome, and returns the line about it.
  Diagnostic outcome(const Event& outcome, HubStats& stats);

 private:
  struct Unanswered {
    LogTime intended_at;
    std::vector<std::pair<std::string_view, std::string>> details;
  };
  std::map<Seq, Unanswered> unanswered_;
};

/// Names an object as operators do: "LocalQueue team/main".
std::string name_of(const ObjectKey& key);

}  // namespace fairlead
