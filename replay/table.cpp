#include "replay/table.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/base/printable.h"

namespace fairlead {

namespace {

// A last column narrower than this would break in every word.
constexpr std::size_t kLastColumnMin = 24;
constexpr std::size_t kOwnLineIndent = 4;

// Breaks `text` at spaces into lines of at most `width` bytes; a longer word stays whole.
std::vector<std::string> broken(const std::string& text, std::size_t width) {
  std::vector<std::string> lines{""};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines;
}

std::string tinted(const std::string& lines, Tint tint) {
  constexpr std::array<std::string_view, 5> kBegin{"", "\x1b[1m", "\x1b[31m", "\x1b[32m",
                                                   "\x1b[33m"};
  if (tint == Tint::none) return lines;
  return std::string(kBegin.at(static_cast<std::size_t>(tint))) + lines + "\x1b[0m";
}

// Names in cells come from elsewhere.
std::vector<TableRow> printable_rows(const std::vector<TableRow>& rows) {
  std::vector<TableRow> shown = rows;
  for (TableRow& row : shown)
    for (std::string& cell : row) cell = printable(cell);
  return shown;
}

// Where the last column begins.
std::size_t last_column(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) begin += widths[i] + 2;
  return begin;
}

}  // namespace

std::string narrow_table_text(const std::vector<TableRow>& rows, std::size_t columns) {
  return narrow_table_text(rows, columns, {});
}

std::string narrow_table_text(const std::vector<TableRow>& cells, std::size_t columns,
                              const std::vector<Tint>& tints) {
  const std::vector<TableRow> rows = printable_rows(cells);
  const std::size_t begin = last_column(rows);
  const bool beside = begin + kLastColumnMin <= columns;
  const std::size_t indent = beside ? begin : kOwnLineIndent;
  std::vector<TableRow> heads;
  std::vector<std::vector<std::string>> rest(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    heads.push_back(rows[i]);
    std::vector<std::string> lines = broken(rows[i].back(), columns - indent);
    heads.back().back() = beside ? lines.front() : "";
    // Above lines of its own its heading would be in nobody's column.
    if (beside || i > 0) rest[i].assign(lines.begin() + (beside ? 1 : 0), lines.end());
  }
  const std::string table = table_text(heads);
  std::string text;
  for (std::size_t i = 0, at = 0; i < rows.size(); ++i) {
    const std::size_t end = table.find('\n', at);
    std::string lines = table.substr(at, end - at);
    at = end + 1;
    for (const std::string& line : rest[i])
      if (!line.empty()) lines += "\n" + std::string(indent, ' ') + line;
    text += tinted(lines, i < tints.size() ? tints[i] : Tint::none) + "\n";
  }
  return text;
}

std::string table_text(const std::vector<TableRow>& cells, const std::string& indent) {
  const std::vector<TableRow> rows = printable_rows(cells);
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace fairlead
