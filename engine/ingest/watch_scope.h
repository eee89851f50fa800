// Where a kind is watched at an API server, and what of its objects.
#pragma once

#include <cstdint>
#include <string>

namespace fairlead {

/// How much of each object is asked for.
enum class ObjectPart : std::uint8_t {
  whole,
  metadata,  ///< as meta.k8s.io/v1 PartialObjectMetadata
};

/// The namespaces in which a kind is watched, and what of it there.
struct WatchScope {
  enum class Breadth : std::uint8_t {
    everywhere,
    one_namespace,
    everywhere_if_allowed,  ///< else in the one namespace
    nowhere,                ///< nothing is asked for, and silence means nothing
  };
  Breadth breadth = Breadth::everywhere;
  std::string namespace_{};      ///< the one
  std::string label_selector{};  ///< empty: all objects
  ObjectPart part = ObjectPart::whole;

  friend bool operator==(const WatchScope&, const WatchScope&) = default;
};

}  // namespace fairlead
