// Maps on which others rest: where objects have most items in common, each keeps only what differs.
//
// The nodes of a cluster belong to a few pools. Their labels differ in the name and little else,
// their amounts in some bytes of memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "schema/packed_map.h"

namespace fairlead {

/// The maps on which the maps of one collection rest. What share() returns stays whole when this is
/// destroyed.
template <class Value>
class PackedBases {
 public:
  using Map = PackedMap<Value>;

  /// Returns a map that equals `map` and takes as little memory as the bases allow. It holds none
  /// of the memory of `map`.
  Map share(const Map& map) {
    if (map.empty()) return {};
    const Map* best = nullptr;
    typename Map::Difference own;
    for (std::size_t i = 0; i < count_ && (!best || own.items > 1); ++i) {
      const auto differs = map.difference(bases_[i]);
      if (differs && (!best || differs->bytes < own.bytes)) best = &bases_[i], own = *differs;
    }
    if (best && own.items == 0) return *best;
    // A name is one item. With more of its own another base may suit the map better, if there is
    // room for one.
    const auto saves_half = [&] { return own.bytes * 2 <= map.whole().bytes().size(); };
    if (best && (own.items <= 1 || (count_ == bases_.size() && saves_half())))
      return map.based_on(*best, own);
    count_ = std::min(count_ + 1, bases_.size());
    Map& base = bases_[next_++ % bases_.size()];
    return base = *Map::from_bytes(map.whole().bytes());
  }

 private:
  std::array<Map, 8> bases_;
  std::size_t count_ = 0, next_ = 0;
};

}  // namespace fairlead
