// Aligns text in columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead {

using TableRow = std::vector<std::string>;

/// Cells are made printable (engine/base/printable.h). One line a row, columns as wide as their
/// widest cell, two spaces between; every line starts with `indent`. No trailing space.
std::string table_text(const std::vector<TableRow>& rows, const std::string& indent = "");

/// The same, with the last column broken at spaces so that lines have at most `columns` bytes where
/// the other columns leave room for that. Where they leave too little, the last column is on lines
/// of its own, and its heading (in the first row) is left out.
std::string narrow_table_text(const std::vector<TableRow>& rows, std::size_t columns);

/// How a terminal shows a row. A colour repeats what the row says in words or numbers.
enum class Tint : std::uint8_t { none, heading, falls, rises, refused };

/// For a terminal that shows colours (ECMA-48 SGR), one tint per row; missing tints are `none`.
std::string narrow_table_text(const std::vector<TableRow>& rows, std::size_t columns,
                              const std::vector<Tint>& tints);

}  // namespace fairlead
