// Where writes go: Kubernetes, or a simulator.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "schema/event.h"

namespace fairlead {

/// One request, exactly as the logged intent says it.
struct WriteRequest {
  Seq intent;
  std::string cluster;  ///< "hub" or a member
  Verb verb{};
  ObjectKey target;
  std::string version;  ///< API version, e.g. "v1beta2"
  std::string field_manager;
  bool force = false;
  std::string uid;               ///< precondition of a delete
  std::string resource_version;  ///< precondition of a delete
  std::string body;              ///< JSON; empty for a delete
};

/// What became of a request.
enum class WriteResult : std::uint8_t {
  accepted,  ///< 2xx; a delete of something that is gone (404) counts too
  conflict,  ///< 409: re-read through the watch, re-derive
  gone,  ///< 404, 409 "uid mismatch", 422 "metadata.uid: field is immutable": deleted or recreated
  refused,    ///< 400, 403, 422, and a 500 without a reason: retrying the same cannot help
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

/// Sends writes; answers come later, from any thread, exactly one a request.
class PatchSink {
 public:
  virtual ~PatchSink() = default;
  virtual void send(WriteRequest request, std::function<void(WriteAnswer)> answered) = 0;
};

}  // namespace fairlead
