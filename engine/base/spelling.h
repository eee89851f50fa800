// What a person most likely meant by a word that is not known.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

/// Levenshtein distance in bytes: how far a typing error is from what exists.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Whether `wanted` may be a typing error of `name`: their distance is at most a third of the
/// length of `wanted`, rounded to the nearest whole number, and at least 1 is allowed.
bool is_near(std::string_view name, std::string_view wanted);
/// Returns the nearest of the names that are near, of equal ones the first; empty: none is.
std::string nearest(const std::vector<std::string>& names, std::string_view wanted);

}  // namespace fairlead
