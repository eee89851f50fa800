// Notices: changes of a claim that its administrator should see in `kubectl describe`.
//
// They are derived from the conditions that a status write changed, so they report nothing that the
// log does not hold, and a restart repeats none. Each becomes a Kubernetes v1 Event (a KubeEvent),
// sent once and not again if that fails.
#pragma once

#include <string>
#include <vector>

#include "engine/base/json.h"
#include "schema/event.h"

namespace fairlead {

/// A condition of a claim became bad, good again, or bad for another reason.
struct Notice {
  Seq seq;  ///< of the intent of the status write
  LogTime time;
  std::string claim;
  std::string claim_uid;
  std::string claim_version;  ///< of the API, e.g. "v1alpha1"
  bool warning = false;
  std::string reason;   ///< CamelCase, the condition's
  std::string message;  ///< the condition's

  friend bool operator==(const Notice&, const Notice&) = default;
};

/// Returns the notices of the accepted status write `status` of a claim: what differs from `before`
/// (the body of the last accepted one; empty: there was none), in the order of the conditions.
std::vector<Notice> notices_of(const PatchIntended& status, const std::string& before, Seq seq,
                               LogTime time);

/// The namespace in which Events about cluster-scoped objects live.
inline constexpr std::string_view kNoticeNamespace = "default";
/// Returns the body of the POST of a core/v1 Event. The same notice has the same name and bytes, so
/// an API server refuses a repetition (409).
Json to_kube_event(const Notice& notice, std::string_view identity);

}  // namespace fairlead
