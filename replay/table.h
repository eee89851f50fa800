// Aligns text in columns.
#pragma once

#include <string>
#include <vector>

namespace fairlead {

using TableRow = std::vector<std::string>;

/// One line a row, columns as wide as their widest cell, two spaces between; every line starts with
/// `indent`. No trailing space.
std::string table_text(const std::vector<TableRow>& rows, const std::string& indent = "");

}  // namespace fairlead
