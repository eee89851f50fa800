#include "engine/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace fairlead {

void check_failed(std::string_view what, std::source_location where) {
  std::fprintf(stderr, "fairlead: bug: %.*s (%s:%u)\n", static_cast<int>(what.size()), what.data(),
               where.file_name(), where.line());
  std::abort();
}

}  // namespace fairlead
