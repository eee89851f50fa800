// What our last accepted write of a status left there.
#pragma once

#include <string>

#include "engine/base/digest.h"

namespace fairlead {

struct StatusLeft {
  std::string body;     ///< of the write; empty: not known
  Digest digest;        ///< of the claim's status then (claim_status_digest); zero: not known
  std::string version;  ///< the resourceVersion in the server's answer

  friend bool operator==(const StatusLeft&, const StatusLeft&) = default;
};

}  // namespace fairlead
