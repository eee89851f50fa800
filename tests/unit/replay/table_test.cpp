#include "replay/table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

namespace fairlead {
namespace {

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) most = std::max(most, line.size());
  return most;
}

TEST_CASE("a narrow table breaks its last column at spaces, below where it begins") {
  const std::vector<TableRow> rows{{"A", "WHY"}, {"one", "the quick brown fox jumps over a dog"}};
  CHECK(narrow_table_text(rows, 60) == table_text(rows));
  CHECK(narrow_table_text(rows, 30) ==
        "A    WHY\n"
        "one  the quick brown fox jumps\n"
        "     over a dog\n");
}

TEST_CASE("a last column without room is on lines of its own, without its heading") {
  const std::string wide(20, 'x');
  const std::vector<TableRow> rows{{"A", "WHY"}, {wide, "the quick brown fox jumps"}, {"b", ""}};
  CHECK(narrow_table_text(rows, 30) == "A\n" + wide +
                                           "\n"
                                           "    the quick brown fox jumps\n"
                                           "b\n");
}

TEST_CASE("only a word that is longer than a line is wider than the table may be") {
  const std::vector<TableRow> rows{{"a", "b c d e f g h i j k l m n o p q r s t u v w x y z"}};
  for (std::size_t columns = 30; columns < 60; ++columns)
    CHECK(widest(narrow_table_text(rows, columns)) <= columns);
  CHECK(narrow_table_text({{"a", std::string(50, 'y')}}, 30) ==
        "a  " + std::string(50, 'y') + "\n");
}

TEST_CASE("what acts on a terminal is spelled in a cell") {
  CHECK(table_text({{"a\nb", "\x1b[31mc"}, {"d", "e"}}) == "a\\nb  \\u001b[31mc\nd     e\n");
  CHECK(narrow_table_text({{"a", "b\rc"}}, 80) == "a  b\\u000dc\n");
}

}  // namespace
}  // namespace fairlead
