// Lines of a CSV file (RFC 4180).
#pragma once

#include <string>
#include <vector>

namespace fairlead {

/// Returns the fields as one line with its CRLF. A field with a comma, a quote or a line break is
/// quoted.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace fairlead
