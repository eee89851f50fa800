// JSON documents that Fairlead writes: bodies of patches, reports, answers.
//
// nlohmann::json keeps object keys sorted, so dump() is canonical: the same value gives the same
// bytes. Watch streams are not read with it (see connectors/kube/document/json_document.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace fairlead {

using Json = nlohmann::json;

/// Returns canonical text: keys sorted bytewise, no white space, invalid UTF-8 replaced.
inline std::string to_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace fairlead
