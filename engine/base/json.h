// JSON documents that Fairlead writes: bodies of patches, reports, answers.
//
// nlohmann::json keeps object keys sorted, so dump() is canonical: the same value gives the same
// bytes. Watch streams are not read with it (see connectors/kube/document/json_document.h).
//
// Parser and printer are templates that cost each unit that uses them one to two seconds of the
// compiler's time: both are behind functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fairlead {

using Json = nlohmann::json;

/// Returns canonical text: keys sorted bytewise, no white space, invalid UTF-8 replaced.
std::string to_text(const Json& value);

/// Returns the value that `text` is, or a discarded one (`is_discarded()`) if it is no JSON.
Json read_json(std::string_view text);

/// The same of a text that is JSON unless there is a defect. Throws Json::parse_error otherwise.
Json read_own_json(std::string_view text);

}  // namespace fairlead
