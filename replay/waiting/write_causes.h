// What a write of ours was because of, found again at the observation of what it wrote.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "schema/event.h"

namespace fairlead {

/// Remembers the last write to each object until it is observed.
class WriteCauses {
 public:
  void intended(const Event& event, const PatchIntended& intent);
  void accepted(const PatchAccepted& accepted);
  /// Returns the observation and, if it shows a write of ours for the first time, that write and
  /// what it was because of; ascending.
  std::vector<Seq> of(const Event& event, const ObjectObserved& seen);

 private:
  struct Write {
    Seq seq;
    std::vector<Seq> because;
    std::optional<Facts> expected;
    std::string resource_version;  // after it; empty: not known
  };
  using Target = std::pair<SourceName, ObjectKey>;

  std::map<Target, Write> last_;
  std::map<Seq, Target> unanswered_;
};

}  // namespace fairlead
