// The diagnostic text for an HTTP answer with an error code. A proxy may return the request
// headers, and so our token, in the body. Therefore only the message of a Kubernetes Status is
// quoted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "connectors/kube/document/json_document.h"

namespace fairlead {

/// Returns the message of the Status in `body`, and for any other body only its length. Empty for
/// an empty body and for a Status without a message.
std::string failure_message(std::string_view body);
/// Likewise for a body of `bytes` bytes that is parsed already; `answer` is absent if it is not
/// JSON.
std::string failure_message(JsonView answer, std::size_t bytes);
/// Likewise for an answer with `status` to a request for `path`. A 404 that is not a Status means
/// that the server does not serve the path (of a CRD that is not installed, say).
std::string failure_message(int status, std::string_view path, std::string_view body);

/// Returns a Status that says that an answer is longer than `bytes_max`, the most that we read.
std::string too_long_status(std::size_t bytes_max);

}  // namespace fairlead
