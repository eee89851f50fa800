// One request to an API server, as the rules see it: which user asks for what change of which
// object.
//
// A webhook makes it of an AdmissionReview (connectors/kube/admission_review.h), `fairlead plan
// --admit` of an object and what State holds of it (replay/proposals.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/admission.h"
#include "schema/event.h"

namespace fairlead {

/// One state of the object.
struct AdmissionObject {
  Facts facts;
  bool deleting = false;  ///< it has a deletionTimestamp
  /// Its annotations fairlead.io/..., by the part of their name after the slash.
  std::map<std::string, std::string> annotations;
};

/// The name, behind fairlead.io/, of the annotation that lets a request pass a rule that denies.
/// Its value is the reason.
inline constexpr const char* kOverrideAnnotation = "override";

struct AdmissionRequest {
  std::string uid;
  std::string user;
  std::vector<std::string> groups;  ///< of the user
  AdmissionOperation operation{};
  bool dry_run = false;
  std::string version;  ///< API version of the objects, such as "v1beta2"
  ObjectKey key;
  std::optional<AdmissionObject> object;      ///< as proposed; none for a DELETE
  std::optional<AdmissionObject> old_object;  ///< as stored; none for a CREATE
};

}  // namespace fairlead
