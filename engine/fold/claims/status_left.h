// What our last accepted write of a claim's status left there (claim_status_observation.h).
#pragma once

#include <string>

#include "engine/base/digest.h"

namespace fairlead {

struct StatusLeft {
  Digest digest;        ///< claim_status_digest; zero: not known
  std::string version;  ///< the resourceVersion in the server's answer

  friend bool operator==(const StatusLeft&, const StatusLeft&) = default;
};

}  // namespace fairlead
