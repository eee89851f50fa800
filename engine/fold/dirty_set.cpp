#include "engine/fold/dirty_set.h"

#include <boost/pfr.hpp>
#include <type_traits>

namespace fairlead {

namespace {

template <class T>
constexpr bool is_a_mark = std::is_same_v<T, bool>;

}  // namespace

void DirtySet::merge(const DirtySet& other) {
  boost::pfr::for_each_field(*this, [&](auto& mine, auto field) {
    const auto& theirs = boost::pfr::get<field>(other);
    if constexpr (is_a_mark<std::remove_reference_t<decltype(mine)>>)
      mine = mine || theirs;
    else
      mine.insert(theirs.begin(), theirs.end());
  });
}

bool DirtySet::empty() const {
  bool empty = true;
  boost::pfr::for_each_field(*this, [&](const auto& field) {
    if constexpr (is_a_mark<std::remove_cvref_t<decltype(field)>>)
      empty = empty && !field;
    else
      empty = empty && field.empty();
  });
  return empty;
}

}  // namespace fairlead
