// Aligns text in columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fairlead {

using TableRow = std::vector<std::string>;

/// One line a row, columns as wide as their widest cell, two spaces between; every line starts with
/// `indent`. No trailing space.
std::string table_text(const std::vector<TableRow>& rows, const std::string& indent = "");

/// The same, with the last column broken at spaces so that lines have at most `columns` bytes where
/// the other columns leave room for that. Where they leave too little, the last column is on lines
/// of its own.
std::string narrow_table_text(const std::vector<TableRow>& rows, std::size_t columns);

}  // namespace fairlead
