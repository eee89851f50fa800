// The conditions of a Workload, as Kueue sets them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/time.h"

namespace fairlead {

/// The name and the namespace of `object`.
std::string name_of(const Json& object);
std::string space_of(const Json& object);

/// Whether `object` has the condition `type` with status "True".
bool is_true(const Json& object, const std::string& type);
/// Returns the message of its condition `type`; empty if there is none.
std::string message_of(const Json& object, const std::string& type);

/// Returns whether `object` has every member of `wanted`, with the same value.
bool has_all(const Json& object, const Json& wanted);

/// Returns the conditions of `object`; those of `said` replace others of the same type. As
/// apimachinery's SetStatusCondition, a condition keeps its lastTransitionTime while its status
/// stays.
Json conditions_with(const Json& object, const std::vector<Json>& said);

/// Returns what a merge patch sets in the status of a Workload that does not get quota: the
/// condition and what its pods request. Returns nullopt if it says so already.
std::optional<Json> waiting_status(const Json& workload, const std::string& reason,
                                   const std::string& message, LogTime now);

/// Returns the conditions of a Workload whose quota is taken back at its eviction.
std::vector<Json> released(const std::string& reason, const std::string& message, LogTime now);

}  // namespace fairlead
