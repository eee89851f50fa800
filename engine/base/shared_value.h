// A value that several holders share and none changes
// (docs/decisions/0044-memory-of-a-pod-and-of-a-device.md).
#pragma once

#include <memory>
#include <utility>

namespace fairlead {

/// An immutable value of which a copy costs no more than a pointer. Never absent: without a value
/// it is T{}. Compares by value.
template <class T>
class Shared {
 public:
  using value_type = T;

  Shared() = default;
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}  // NOLINT: they mean it

  const T& operator*() const { return value_ ? *value_ : empty(); }
  const T* operator->() const { return &**this; }

  friend bool operator==(const Shared& a, const Shared& b) {
    return a.value_ == b.value_ || *a == *b;
  }

 private:
  static const T& empty() {
    static const T none{};
    return none;
  }

  std::shared_ptr<const T> value_;
};

}  // namespace fairlead
