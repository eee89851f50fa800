// An object of an API server as State keeps it where nothing else of it matters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "schema/event.h"

namespace fairlead {

/// (namespace, name)
using NamespacedName = std::pair<std::string, std::string>;

/// An object as last observed.
template <class F>
struct Observed {
  std::string uid;
  std::string version;
  std::string resource_version;
  std::int64_t generation = 0;
  F facts;
  Seq seq;

  friend bool operator==(const Observed&, const Observed&) = default;
};

/// An object as it was observed; nullopt: it is gone.
template <class F>
using Seen = std::optional<Observed<F>>;

}  // namespace fairlead
