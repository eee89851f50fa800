// Bugs stop the process before it can do harm.
//
// A check asserts a condition that is false only if the program itself is wrong. It is on in every
// build. Bad input and operating errors are never checks: they are conditions on objects and
// Results.
#pragma once

#include <source_location>
#include <string_view>

namespace fairlead {

/// Prints what was violated and where, then aborts. Fairlead is crash-only: a restart folds the log
/// again.
[[noreturn]] void check_failed(std::string_view what, std::source_location where);

/// Aborts the process unless `holds`.
inline void check(bool holds, std::string_view what,
                  std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    check_failed(what, where);
}

}  // namespace fairlead
