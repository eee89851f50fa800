// Taints and tolerations, of nodes and of devices.
#pragma once

#include <compare>
#include <string>

namespace fairlead {

/// A Kubernetes taint or the part of a ResourceFlavor's nodeTaints that matters.
struct Taint {
  std::string key;
  std::string value;
  std::string effect;  ///< NoSchedule, NoExecute, PreferNoSchedule

  friend auto operator<=>(const Taint&, const Taint&) = default;
};

/// A Kubernetes toleration; `op` is "Equal" (also when absent) or "Exists".
struct Toleration {
  std::string key;
  std::string op;
  std::string value;
  std::string effect;

  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

}  // namespace fairlead
