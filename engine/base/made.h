// Constructs a value in place from a function's result.
#pragma once

#include <type_traits>
#include <utility>

namespace fairlead {

/// Converts to the result of `make()`, so that emplace() and emplace_back() construct that result
/// in the container instead of moving it there.
template <class Make>
class Made {
 public:
  explicit Made(Make make) : make_(std::move(make)) {}
  operator std::invoke_result_t<const Make&>() const { return make_(); }  // NOLINT: its purpose

 private:
  Make make_;
};

}  // namespace fairlead
