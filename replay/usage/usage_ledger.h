// One view of use while it is added up: each row with what it has at present and its sums since the
// last cut. A row is brought up to date when it changes, so a change costs no walk over the rows.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/usage/queue_use.h"
#include "replay/usage/usage_rows.h"

namespace fairlead {

/// The clocks of the streams that rows depend on.
class StreamClocks {
 public:
  /// Begins where these streams are silent.
  explicit StreamClocks(SilentStreams silent = {}) : silent_(std::move(silent)) {}
  /// Returns the number of the clock of a stream: of ClusterQueues or of Workloads.
  std::size_t of(const SourceName& source, Kind kind);
  /// Stops or starts the clocks of an API server.
  void apply(Millis at, const SilenceSign& sign);
  /// Stops all clocks while no hub runs, and starts those of streams that are not silent.
  void stop_all(Millis at);
  void start_all(Millis at);
  /// What a clock shows at a time that is not before its last change.
  Millis shown_at(std::size_t clock, Millis at) const;

 private:
  struct Clock {
    Millis at = 0;
    Millis known = 0;
    bool silent = false;
  };
  void advance(Clock& clock, Millis at) const;

  SilentStreams silent_;
  std::map<std::pair<SourceName, Kind>, std::size_t> names_;
  std::vector<Clock> clocks_;
  bool stopped_ = false;
};

/// A capacity of rows: the flavor and canonical resource of one API server.
struct UsageCapacityKey {
  std::string side;
  std::string cluster;
  std::string flavor;
  std::string resource;

  friend auto operator<=>(const UsageCapacityKey&, const UsageCapacityKey&) = default;
};
/// Capacity at one time, in milli-units.
struct UsageCapacity {
  Int128 accepted = 0;
  Int128 down = 0;

  friend bool operator==(const UsageCapacity&, const UsageCapacity&) = default;
};

class UsageLedger {
 public:
  /// What a row loses and gains at once. `clock` is the row's.
  struct Change {
    UsageRates less, more;
    int members = 0;  ///< pairs that came less those that went
  };
  void change(const StreamClocks& clocks, std::size_t clock, Millis at, const UsageRowKey& key,
              const Change& change);
  /// Sets the capacity of a row, which exists.
  void set_capacity(const StreamClocks& clocks, Millis at, const UsageRowKey& key,
                    const UsageCapacity& capacity);
  /// Returns the sums since the last cut of the rows that existed, and begins anew.
  UsageRows cut(const StreamClocks& clocks, Millis at);
  bool has(const UsageRowKey& key) const { return rows_.contains(key); }

 private:
  struct Row {
    std::size_t clock = 0;
    Millis since = 0;
    Millis known = 0;  ///< what the clock showed then
    int members = 0;
    UsageRates rates;
    UsageCapacity capacity;
    UsageTotals totals;
  };
  static void advance(Row& row, const StreamClocks& clocks, Millis at);

  std::map<UsageRowKey, Row> rows_;
};

}  // namespace fairlead
