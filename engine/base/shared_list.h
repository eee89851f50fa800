// An immutable list that its copies share.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "engine/base/shared_value.h"

namespace fairlead {

/// An immutable list of which a copy costs no more than a pointer. Compares by value.
template <class T>
class SharedList {
 public:
  using Contents = std::vector<T>;

  SharedList() = default;
  SharedList(Contents items) { adopt(std::move(items)); }  // NOLINT: they mean the same
  SharedList(std::initializer_list<T> items) : SharedList(Contents(items)) {}

  auto begin() const { return items_->begin(); }
  auto end() const { return items_->end(); }
  std::size_t size() const { return items_->size(); }
  bool empty() const { return items_->empty(); }
  const T& operator[](std::size_t i) const { return (*items_)[i]; }

  const Contents& contents() const { return *items_; }
  void adopt(Contents items) {
    items_ = items.empty() ? Shared<Contents>() : Shared<Contents>(std::move(items));
  }
  /// Whether both are one list in memory, or both empty.
  bool is_shared_with(const SharedList& other) const { return &*items_ == &*other.items_; }

  friend bool operator==(const SharedList&, const SharedList&) = default;

 private:
  Shared<Contents> items_;
};

}  // namespace fairlead
