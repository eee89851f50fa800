#include "engine/base/spelling.h"

#include <algorithm>
#include <numeric>

namespace fairlead {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    // One row of the matrix is enough: `diagonal` is the cell above and to the left.
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

bool is_near(std::string_view name, std::string_view wanted) {
  return edit_distance(name, wanted) <= std::max<std::size_t>(1, (wanted.size() + 1) / 3);
}

std::string nearest(const std::vector<std::string>& names, std::string_view wanted) {
  const auto best = std::min_element(names.begin(), names.end(),
                                     [wanted](const std::string& a, const std::string& b) {
                                       return edit_distance(a, wanted) < edit_distance(b, wanted);
                                     });
  return best != names.end() && is_near(*best, wanted) ? *best : std::string();
}

}  // namespace fairlead
