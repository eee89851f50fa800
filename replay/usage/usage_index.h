// Sums of use by hour, kept in a file of the data directory, so that a report about a month need
// not fold it.
//
// They are derived from the log by measure_usage(), hour by hour, and may be deleted at any time. A
// file that is damaged, of another log or of a program that folds or adds up otherwise is not used.
// Sums are integers, and the parts of a span add up to the whole: a report that uses them is the
// same, bit for bit, as one that folds all of the span.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay/usage/usage_measure.h"

namespace fairlead {

/// Changes whenever the same events would give other sums while they fold to the same State.
inline constexpr std::uint32_t kUsageVersion = 1;

/// One view of a day of UTC that is over, as Zstandard frames of canonical bytes. A month of a
/// thousand queues would take gigabytes otherwise, in each process that has the sums.
struct UsageDayOfView {
  std::string sums;   ///< of the whole day: a report about a month reads these alone
  std::string hours;  ///< of each of its hours

  friend bool operator==(const UsageDayOfView&, const UsageDayOfView&) = default;
};

/// The sums of whole hours, of those views that are kept. Hours without a row are left out.
struct UsageHours {
  Millis begin = 0;  ///< from here on there are sums
  Millis end = 0;    ///< up to here
  Seq seq;           ///< the log's last event when the last of them was added
  Digest chain;      ///< of the log after it
  std::map<Millis, std::map<UsageView, UsageDayOfView>> days;  ///< that are over, by their begin
  std::map<Millis, std::map<UsageView, UsageRows>> open;       ///< the hours of the day that is not

  /// Whether sums of the view can be made of what is kept.
  static bool keeps(const UsageView& view);
};

/// Returns the file of the sums: DATA/usage.
std::filesystem::path usage_file(const std::filesystem::path& data);

/// Adds the sums of the next hours of the log that are finished, of about `events_max` events and
/// at most a thousand hours. Begins anew if `hours` are not of this log. Returns whether there is
/// nothing more to add. Fails as measure_usage() does.
Result<bool> add_hours(UsageHours& hours, const AuditSource& source, std::uint64_t events_max);

/// Saves the sums in place of those that were saved before. Fails as replace_file() does
/// (snapshots/stored_file.h).
Result<void> save_usage_hours(const UsageHours& hours, const std::filesystem::path& data);
/// Returns what was saved; nullopt if nothing was, or it cannot be used for this log.
std::optional<UsageHours> saved_usage_hours(const std::filesystem::path& data,
                                            const ReadableLog& log);

/// Returns what measure_usage() does, from the sums of `hours` where they reach. Fails as that
/// does, and with `corrupt` if the sums of a day cannot be read.
Result<std::vector<UsagePeriod>> measure_with_hours(const AuditSource& source,
                                                    const std::vector<UsageView>& views,
                                                    const std::vector<LogTime>& cuts,
                                                    const UsageHours& hours);

}  // namespace fairlead
