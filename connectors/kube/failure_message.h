// The diagnostic text for an HTTP answer with an error code. A proxy may return the request
// headers, and so our token, in the body. Therefore only the message of a Kubernetes Status is
// quoted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "connectors/kube/json_document.h"

namespace fairlead {

/// The message of the Status that `body` is; of any other body only how long it is. Empty for an
/// empty body and for a Status without a message.
std::string failure_message(std::string_view body);
/// The same of a body of that many bytes that has been read; an absent view if it is no JSON.
std::string failure_message(JsonView answer, std::size_t bytes);

/// The Status of an answer that is longer than that many bytes, which are as many as we read.
std::string too_long_status(std::size_t bytes_max);

}  // namespace fairlead
