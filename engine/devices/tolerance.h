// Which taints are tolerated, by requests and by pods.
#pragma once

#include <string>
#include <vector>

#include "schema/kinds/values.h"

namespace fairlead {

/// Returns `key=value:effect`, or `key:effect` for a taint without a value.
std::string text(const Taint& taint);

/// Whether the toleration covers the taint: an empty effect covers any, an empty key too, and an
/// operator that is not known covers nothing. Source: k8s.io/api core/v1 ToleratesTaint and
/// k8s.io/dynamic-resource-allocation resourceclaim.ToleratesTaint, which agree.
bool covers(const Toleration& toleration, const Taint& taint);

/// Whether one of the tolerations covers the taint.
bool tolerated(const Taint& taint, const std::vector<Toleration>& tolerations);

}  // namespace fairlead
