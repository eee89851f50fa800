// Where objects live on an API server.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "schema/kind.h"

namespace fairlead {

/// Returns the path of an object: /api/v1/nodes/NAME,
/// /apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME. Without a name it is the collection's path,
/// without a namespace the path over all namespaces. The namespace of a cluster-scoped kind is
/// ignored.
std::string resource_path(const KindInfo& kind, std::string_view version,
                          std::string_view namespace_, std::string_view name);
/// Percent-encodes everything but unreserved characters.
std::string url_encode(std::string_view text);
/// Undoes percent-encoding; nullopt if a `%` is not followed by two hexadecimal digits.
std::optional<std::string> url_decode(std::string_view text);

}  // namespace fairlead
