// The input language of scenarios: facts in a line or a few, in place of watch events in JSON.
//
//   at 00:01:40
//   change node c1/n2 cordoned
//
// README.md in tests/scenarios describes the notation, vocabulary.cpp holds the words.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead::language {

/// Replaces each fact by one line of JSON, a watch event as `fairlead plan` reads it, and leaves
/// everything else as it is, but for JSON that goes over several lines, which becomes one. Later
/// lines keep their numbers. `bad_input` with the line's number for a word that its kind does not
/// have.
Result<std::string> expand(std::string_view text);

}  // namespace fairlead::language
