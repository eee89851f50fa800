// The target of a GET: a path and parameters, the same on a command line and in a URL.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"

namespace fairlead {

// Where a hub and `serve` answer GET. Questions about the past and about the log's events:
inline constexpr std::string_view kAuditPath = "/audit/";
inline constexpr std::string_view kLogPath = "/log/";
// What-ifs, among those about the past.
inline constexpr std::string_view kWhatIfPath = "/audit/whatif";
// What the audit page asks beside them, and the stream of versions of the log for a page that
// follows it.
inline constexpr std::string_view kPageApiPath = "/ui/api/";
inline constexpr std::string_view kPageLivePath = "/ui/api/live";

struct HttpTarget {
  std::string path;  ///< as sent: our paths need no escapes
  std::vector<std::pair<std::string, std::string>> parameters;  ///< name and value, decoded

  /// Adds a parameter. An empty value is left out: it means the same as no parameter.
  void add(std::string_view name, const std::string& value);
};

/// `/audit/why?queue=a%20b`, percent-encoded (RFC 3986).
std::string to_text(const HttpTarget& target);
/// Reads such a target; a `+` in a value is a space. Fails with `bad_input`, naming the part that
/// is not percent-encoded.
Result<HttpTarget> parse_target(std::string_view text);

}  // namespace fairlead
