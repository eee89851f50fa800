#include "engine/main/service/described_events.h"

#include <memory>

#include "replay/audit/event_changes.h"

namespace fairlead {

EventWords describe_changes(const ReadableLog& log) {
  const auto changes = std::make_shared<ChangesInOrder>(log);
  return {[changes](const Event& event) { return changes->differences_of(event); },
          [changes](const Event& event) { changes->passed(event); }};
}

}  // namespace fairlead
