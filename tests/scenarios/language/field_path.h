// Paths to fields of a JSON object, by which a list's element is found by what it holds.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/json.h"

namespace fairlead::language {

/// One step down: a member's name, an index, `+` for a new element, or what the element of a list
/// has.
struct Step {
  std::string key;
  std::vector<std::pair<Json::json_pointer, std::string>> having;
};
using FieldPath = std::vector<Step>;

/// Reads `/a/[name=x,metadata.name=y]/0/+`. In a name, `~1` is a slash and `~0` a tilde, as in RFC
/// 6901. `fill` replaces a whole name or a whole value; it is applied after the path
/// is cut up, so that what it gives may hold slashes.
FieldPath read_path(std::string_view text,
                    const std::function<std::string(const std::string&)>& fill);

/// The field, with everything on the way made where it is absent; null where a scalar is in the
/// way.
Json* reach(Json& object, const FieldPath& path);

/// Removes the field, and what is left empty above it. Nothing, if it is absent.
void erase(Json& object, const FieldPath& path);

}  // namespace fairlead::language
