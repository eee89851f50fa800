// Versions as semver 2 writes and orders them.
//
// Parsing follows github.com/blang/semver/v4, which Kubernetes 1.36 reads attributes of type
// version and the argument of semver() with: three parts without leading zeros, each number below
// 2^64.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::cel {

/// Whether `text` is a version: `1.2.3`, `1.0.0-rc.1`, `1.0.0+build.5`.
bool is_version(std::string_view text);

/// Orders two texts that are versions by precedence, in which build metadata has no part.
std::strong_ordering compare_versions(std::string_view a, std::string_view b);

/// Returns `text` as semver(text, true) reads it: without a leading `v`, without leading zeros in
/// its numbers, filled up to three parts; nullopt if even that is not a version.
std::optional<std::string> normalized_version(std::string_view text);

}  // namespace fairlead::cel
