// Making a value where it is to stay.
#pragma once

#include <type_traits>
#include <utility>

namespace fairlead {

/// Stands for what `make()` gives, so that emplace() and emplace_back() make it where it stays
/// instead of moving it there.
template <class Make>
class Made {
 public:
  explicit Made(Make make) : make_(std::move(make)) {}
  operator std::invoke_result_t<const Make&>() const { return make_(); }  // NOLINT: its purpose

 private:
  Make make_;
};

}  // namespace fairlead
