// The port for writes: an adapter sends them to an API server, a test records them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "schema/event.h"

namespace fairlead {

/// One request with the contents of the logged intent.
struct WriteRequest {
  Seq intent;
  std::string cluster;  ///< the API server, as a SourceName
  Verb verb{};
  ObjectKey target;
  std::string version;  ///< API version, e.g. "v1beta2"
  std::string field_manager;
  bool force = false;
  std::string uid;               ///< precondition of a delete
  std::string resource_version;  ///< precondition of a delete
  std::string body;              ///< JSON; empty for a delete
};

/// The result of a request.
enum class WriteResult : std::uint8_t {
  accepted,  ///< 2xx; a delete of something that is gone (404) counts too
  conflict,  ///< 409: the plan derives the write again from the next observation
  gone,  ///< 404, 409 "uid mismatch", 422 "metadata.uid: field is immutable": deleted or recreated
  refused,    ///< 400, 403, 422, and a 500 without a reason: the same request would fail again
  forbidden,  ///< 403 of RBAC: Fairlead lacks the right to write the object
  unserved,   ///< 500 "failed calling webhook": nothing was stored, a webhook does not answer
  throttled,  ///< 429 or 503: try again after `retry_after`
  unknown,    ///< no answer: the write may or may not have happened
};

struct WriteAnswer {
  Seq intent;
  WriteResult result{};
  int http_code = 0;             ///< 0 if there was no answer
  std::string uid;               ///< of the object that the server returned
  std::string resource_version;  ///< of the object that the server returned
  std::string reason;            ///< Status.reason and message, at most 1 KiB, never a secret
  std::optional<Duration> retry_after;
};

/// Sends writes. Calls `answered` later, exactly once for each request, from any thread.
class PatchSink {
 public:
  virtual ~PatchSink() = default;
  virtual void send(WriteRequest request, std::function<void(WriteAnswer)> answered) = 0;
};

}  // namespace fairlead
