#include "engine/fleet/model/json_patches.h"

#include <algorithm>

namespace fairlead::model {
namespace {

bool is_directive(const std::string& name) { return name.starts_with('$'); }

std::string directive_of(const Json& patch) {
  auto found = patch.is_object() ? patch.find("$patch") : patch.end();
  return patch.is_object() && found != patch.end() && found->is_string() ? found->get<std::string>()
                                                                         : std::string();
}

Json strategic_list(Json list, const Json& patch, const SchemaRef& schema) {
  if (!schema || schema->patch_merge_key.empty()) {
    // Sets of scalars are united; other lists are replaced.
    if (!schema || schema->list_type != ListType::set) return patch;
    for (const Json& item : patch)
      if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    return list;
  }
  const std::string& key = schema->patch_merge_key;
  for (const Json& item : patch) {
    auto same = std::find_if(list.begin(), list.end(), [&](const Json& candidate) {
      return candidate.is_object() && item.is_object() &&
             candidate.value(key, Json()) == item.value(key, Json());
    });
    if (directive_of(item) == "delete") {
      if (same != list.end()) list.erase(same);
    } else if (same != list.end()) {
      *same = strategic_merged(*same, item, schema->items);
    } else {
      list.push_back(strategic_merged(Json::object(), item, schema->items));
    }
  }
  return list;
}

void delete_primitives(Json& object, const std::string& name, const Json& values) {
  auto list = object.find(name);
  if (list == object.end() || !list->is_array()) return;
  for (const Json& value : values)
    list->erase(std::remove(list->begin(), list->end(), value), list->end());
}

}  // namespace

Json merge_patched(Json object, const Json& patch) {
  object.merge_patch(patch);
  return object;
}

Outcome<Json> json_patched(const Json& object, const Json& patch) {
  if (!patch.is_array())
    return bad_request(
        "error decoding patch: json: cannot unmarshal object into Go value of type "
        "[]handlers.jsonPatchOp");
  try {
    return object.patch(patch);
  } catch (const Json::exception&) {
    ApiStatus status =
        failure(422, "Invalid", "the server rejected our request due to an error in our request");
    status.body["details"] = Json::object();
    return status;
  }
}

Json strategic_merged(Json object, const Json& patch, const SchemaRef& schema) {
  if (!patch.is_object()) return patch;
  if (!object.is_object()) object = Json::object();
  if (directive_of(patch) == "replace") object = Json::object();
  constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
  for (const auto& [name, value] : patch.items()) {
    if (name.starts_with(kDelete)) delete_primitives(object, name.substr(kDelete.size()), value);
    if (is_directive(name)) continue;
    const SchemaRef field = schema ? schema->field(name) : nullptr;
    if (value.is_null() || directive_of(value) == "delete")
      object.erase(name);
    else if (value.is_object())
      object[name] = strategic_merged(object.value(name, Json::object()), value, field);
    else if (value.is_array())
      object[name] = strategic_list(object.value(name, Json::array()), value, field);
    else
      object[name] = value;
  }
  return object;
}

}  // namespace fairlead::model
