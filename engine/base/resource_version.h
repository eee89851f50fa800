// resourceVersions: texts by which an API server versions its objects and lists.
//
// Since 1.35 Kubernetes guarantees that they compare as numbers. Other servers may use opaque
// texts, which have no order. A caller chooses what these mean by the function that it asks, since
// both answer false:
// - An observation or an answer counts as newer: `!is_lower_version`. It is folded, and ends what
//   waits for it. The cost is a fact or a write too many, and a write carries the version that it
//   was derived from. (One cost more: the answer to a write of a claim's status then hides a status
//   that another writer left after it, if the watch showed that first, until the claim is observed
//   again.)
// - A stream or a list counts as not including a version: `includes_version`, false also for two
//   equal texts. Nothing is merged, forgotten or declared lost on its word. The cost is a longer
//   wait: where the stream shows our write before its answer comes, State awaits the next
//   observation of the object.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead {

/// Returns the number that `version` is; nullopt if it is opaque or does not fit 64 bits.
std::optional<std::uint64_t> version_number(std::string_view version);

/// Returns whether both are numbers and `a` is the lower one.
bool is_lower_version(std::string_view a, std::string_view b);

/// Returns whether both are numbers and `than` is not above `version`: a server at `version` has
/// already made `than`.
bool includes_version(std::string_view version, std::string_view than);

}  // namespace fairlead
