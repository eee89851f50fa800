// A value that for most of many objects is as it began.
#pragma once

#include <utility>

#include "engine/base/boxed.h"

namespace fairlead {

/// A value that takes one pointer until it is edited. Never absent: before that it is T{}. Compares
/// by value.
template <class T>
class Sparse {
 public:
  using Contents = T;

  const T& operator*() const { return value_ ? *value_ : begun(); }
  const T* operator->() const { return &**this; }
  /// Puts the value on the heap, if it is not there, for the caller to change.
  T& edit() { return value_ ? *value_ : value_.emplace(); }
  void reset() { value_.reset(); }

  const T& contents() const { return **this; }
  void adopt(T value) {
    if (value == begun())
      reset();
    else
      value_ = std::move(value);
  }

  friend bool operator==(const Sparse& a, const Sparse& b) { return *a == *b; }

 private:
  static const T& begun() {
    static const T value{};
    return value;
  }

  Boxed<T> value_;
};

}  // namespace fairlead
