// Events as JSON, for operators and for programs that read `fairlead log cat`.
//
// One object per event: seq, logTime (RFC 3339), epoch, source, cause, fact (its name) and beside
// them the fields of that fact, in camelCase. Amounts are integers (cpu in milli), quantities are
// canonical text, digests are hexadecimal. An intent's body is the JSON value that was sent. Only
// ever printed: nothing reads it back.
#pragma once

#include <span>
#include <string_view>

#include "engine/base/json.h"
#include "schema/event.h"

namespace fairlead {

/// Returns the name of a fact as the documents spell it: "ObjectObserved".
std::string_view fact_name(const Fact& fact);
/// Returns all of them, in the order of Fact.
std::span<const std::string_view> fact_names();

/// Returns the object of an ObjectObserved, ObjectGone or PatchIntended; nullptr for other facts.
const ObjectKey* object_of(const Fact& fact);

/// Returns `event` as one JSON object.
Json to_json(const Event& event);
Json to_json(const Facts& facts);
Json to_json(const PodDeviceFacts& pod);
Json to_json(const Configuration& configuration);
/// Returns {"apiGroup", "kind", "name"}.
Json to_json(const OrchestratorRef& orchestrator);

}  // namespace fairlead
