// Keeps the sums of use by hour (replay/usage/usage_index.h) up with the log of a hub, so that a
// report about a month is there at once.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/main/service/served_log.h"
#include "replay/usage/usage_index.h"

namespace fairlead {

/// One caller at a time.
class UsageSums {
 public:
  /// Adds the next hours of the log that are finished, a small part of it. Returns whether there is
  /// nothing to add; so it is for a log that is in no data directory. Fails as add_hours() does.
  Result<bool> follow(const ServedLog& served);
  /// Saves what was added since the last time, beside the log, once all of it was. Fails as
  /// replace_file() does.
  Result<void> save(const ServedLog& served);

 private:
  std::optional<UsageHours> hours_;  // none: they were not read from the file yet
  Millis saved_end_ = 0;
  bool at_end_ = false;  // of the last follow()
};

}  // namespace fairlead
