// Notices: what the owner of an object should see in `kubectl describe` of it.
//
// They are derived from what a write changed, so they report nothing that the log does not hold,
// and a restart repeats none. Each becomes a Kubernetes v1 Event (a KubeEvent), sent once and not
// again if that fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "schema/event.h"

namespace fairlead {

/// The type of a core/v1 Event.
enum class NoticeType : std::uint8_t { normal, warning };

/// Something that the owner of an object should know, e.g. that a condition of a claim became bad,
/// or good again.
struct Notice {
  Seq seq;  ///< of the intent of the write
  LogTime time;
  SourceName source;  ///< the API server that has the object
  ObjectKey object;
  std::string uid;
  std::string version;  ///< of the API, e.g. "v1alpha1"
  NoticeType type = NoticeType::normal;
  std::string reason;  ///< CamelCase; a condition's
  std::string message;

  friend bool operator==(const Notice&, const Notice&) = default;
};

/// Returns the notices of the accepted status write `status` of a claim: what differs from `before`
/// (the body of the last accepted one; empty: there was none), in the order of the conditions.
std::vector<Notice> notices_of(const PatchIntended& status, const std::string& before, Seq seq,
                               LogTime time);

/// Returns the path that the Event of the notice is posted to, at the API server of its object.
/// Events about cluster-scoped objects live in the namespace `default`.
std::string kube_event_path(const Notice& notice);
/// Returns the body of the POST of a core/v1 Event. The same notice has the same name and bytes, so
/// an API server refuses a repetition (409).
Json to_kube_event(const Notice& notice, std::string_view identity);

}  // namespace fairlead
