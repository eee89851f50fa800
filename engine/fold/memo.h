// Values derived from a State and kept beside it, so that they are not derived for every event.
#pragma once

#include <cstdint>
#include <utility>

namespace fairlead {

/// A derived value. It is not part of the value that holds it: all memos compare equal, no snapshot
/// contains one, and a copy starts empty. A move keeps it; so it may point into what it was derived
/// from, if a move leaves that in place (entries of a map or a NameTable). Memos that refer to each
/// other, such as a counter and a value derived at a count, are therefore kept or lost together.
template <class T>
class Memo {
 public:
  Memo() = default;
  ~Memo() = default;
  Memo(const Memo&) {}
  Memo(Memo&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Memo& operator=(const Memo&) {
    value_ = T{};
    return *this;
  }
  Memo& operator=(Memo&& other) noexcept {
    value_ = std::exchange(other.value_, T{});
    return *this;
  }

  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

  friend bool operator==(const Memo&, const Memo&) { return true; }

 private:
  T value_{};
};

/// A derived value with the value of the change counter at which it was computed. It is valid while
/// the counter has not changed.
template <class T>
struct Derived {
  T value{};
  std::uint64_t as_of = 0;  ///< one more than the count when it was derived; 0: never
};

}  // namespace fairlead
