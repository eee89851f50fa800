// Facts of the kinds that carry quota to a member, with every field of their first versions set.
#pragma once

#include "schema/facts.h"

namespace fairlead::samples {

ManifestWorkFacts manifest_work();
BindingPolicyFacts binding_policy();

}  // namespace fairlead::samples
