#include "engine/fleet/model/structural_schema.h"

#include <algorithm>
#include <variant>

namespace fairlead::model {
namespace {

template <class T>
std::optional<T> number_at(const Json& from, const char* key) {
  auto found = from.find(key);
  if (found == from.end() || !found->is_number()) return std::nullopt;
  return found->get<T>();
}

bool flag_at(const Json& from, const char* key) {
  auto found = from.find(key);
  return found != from.end() && found->is_boolean() && found->get<bool>();
}

std::vector<std::string> texts_at(const Json& from, const char* key) {
  std::vector<std::string> texts;
  if (auto found = from.find(key); found != from.end() && found->is_array())
    for (const Json& item : *found)
      if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

Result<std::optional<std::regex>> read_pattern(std::string pattern) {
  if (pattern.empty()) return std::optional<std::regex>();
  auto flags = std::regex::ECMAScript | std::regex::optimize;
  // Go has this flag inside the pattern; std::regex has it as an option.
  if (auto at = pattern.find("(?i)"); at != std::string::npos) {
    pattern.erase(at, 4);
    flags |= std::regex::icase;
  }
  try {
    return std::optional<std::regex>(std::regex(pattern, flags));
  } catch (const std::regex_error& error) {
    return Error{ErrorCode::bad_input, "pattern " + pattern + ": " + error.what()};
  }
}

void read_limits(const Json& from, Schema& schema) {
  schema.required = texts_at(from, "required");
  schema.minimum = number_at<double>(from, "minimum");
  schema.maximum = number_at<double>(from, "maximum");
  schema.length_min = number_at<std::size_t>(from, "minLength");
  schema.length_max = number_at<std::size_t>(from, "maxLength");
  schema.items_min = number_at<std::size_t>(from, "minItems");
  schema.items_max = number_at<std::size_t>(from, "maxItems");
  schema.properties_max = number_at<std::size_t>(from, "maxProperties");
  if (auto found = from.find("enum"); found != from.end() && found->is_array())
    schema.allowed.assign(found->begin(), found->end());
  if (auto found = from.find("default"); found != from.end()) schema.default_value = *found;
  if (auto found = from.find("x-kubernetes-validations"); found != from.end() && found->is_array())
    for (const Json& rule : *found)
      schema.rules.push_back({text_in(rule, "rule"), text_in(rule, "message")});
}

Result<std::monostate> read_children(const Json& from, Schema& schema) {
  if (auto found = from.find("properties"); found != from.end())
    for (const auto& [name, property] : found->items()) {
      Result<SchemaRef> child = read_schema(property);
      if (!child) return in_context(name, child.error());
      schema.properties[name] = *child;
    }
  if (auto found = from.find("additionalProperties"); found != from.end()) {
    if (found->is_boolean()) {
      schema.any_additional = found->get<bool>();
    } else {
      Result<SchemaRef> child = read_schema(*found);
      if (!child) return in_context("additionalProperties", child.error());
      schema.additional = *child;
    }
  }
  if (auto found = from.find("items"); found != from.end()) {
    Result<SchemaRef> child = read_schema(*found);
    if (!child) return in_context("items", child.error());
    schema.items = *child;
  }
  return std::monostate();
}

SchemaRef scalar(std::string type, std::string format = "") {
  auto schema = std::make_shared<Schema>();
  schema->type = std::move(type);
  schema->format = std::move(format);
  return schema;
}

SchemaRef map_of(SchemaRef values) {
  auto schema = std::make_shared<Schema>();
  schema->type = "object";
  schema->additional = std::move(values);
  return schema;
}

SchemaRef owner_references() {
  auto item = std::make_shared<Schema>();
  item->type = "object";
  item->atomic_map = true;
  for (const char* name : {"apiVersion", "kind", "name", "uid"})
    item->properties[name] = scalar("string");
  for (const char* name : {"controller", "blockOwnerDeletion"})
    item->properties[name] = scalar("boolean");
  auto list = std::make_shared<Schema>();
  list->type = "array";
  list->items = item;
  list->list_type = ListType::map;
  list->list_keys = {"uid"};
  list->patch_merge_key = "uid";
  return list;
}

SchemaRef object_meta_schema() {
  auto meta = std::make_shared<Schema>();
  meta->type = "object";
  meta->description = "Name, labels, version and the rest that every object has.";
  for (const char* name :
       {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"})
    meta->properties[name] = scalar("string");
  for (const char* name : {"creationTimestamp", "deletionTimestamp"})
    meta->properties[name] = scalar("string", "date-time");
  for (const char* name : {"generation", "deletionGracePeriodSeconds"})
    meta->properties[name] = scalar("integer", "int64");
  meta->properties["labels"] = map_of(scalar("string"));
  meta->properties["annotations"] = map_of(scalar("string"));
  meta->properties["ownerReferences"] = owner_references();
  auto finalizers = std::make_shared<Schema>();
  finalizers->type = "array";
  finalizers->items = scalar("string");
  finalizers->list_type = ListType::set;
  meta->properties["finalizers"] = finalizers;
  auto managed = std::make_shared<Schema>();
  managed->type = "array";
  auto entry = std::make_shared<Schema>();
  entry->type = "object";
  entry->preserve_unknown = true;
  managed->items = entry;
  meta->properties["managedFields"] = managed;
  return meta;
}

void prune_at(Json& value, const SchemaRef& schema, const std::string& path,
              std::vector<std::string>& unknown) {
  if (!schema) return;
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      prune_at(value[i], schema->items, path + "[" + std::to_string(i) + "]", unknown);
    return;
  }
  // A value of another type is left as it is: validation, which comes later, names it.
  if (!value.is_object() || schema->type != "object") return;
  const bool keeps_all = schema->preserve_unknown || schema->any_additional;
  for (auto it = value.begin(); it != value.end();) {
    const std::string at = path.empty() ? it.key() : path + "." + it.key();
    SchemaRef field = schema->field(it.key());
    if (!field && !keeps_all) {
      unknown.push_back(at);
      it = value.erase(it);
      continue;
    }
    prune_at(it.value(), field, at, unknown);
    ++it;
  }
}

void default_fields(Json& value, const Schema& schema) {
  for (const auto& [name, property] : schema.properties) {
    if (!property->default_value) continue;
    auto found = value.find(name);
    if (found == value.end() || (found->is_null() && !property->nullable))
      value[name] = *property->default_value;
  }
  for (auto it = value.begin(); it != value.end();) {
    SchemaRef field = schema.field(it.key());
    // As the apiserver does: a null where none is allowed counts as absent. It gets the default, or
    // goes.
    if (field && it->is_null() && !field->nullable) {
      if (!field->default_value) {
        it = value.erase(it);
        continue;
      }
      it.value() = *field->default_value;
    }
    apply_defaults(it.value(), field);
    ++it;
  }
}

}  // namespace

SchemaRef Schema::field(const std::string& name) const {
  auto found = properties.find(name);
  return found != properties.end() ? found->second : additional;
}

Result<SchemaRef> read_schema(const Json& from) {
  if (!from.is_object()) return Error{ErrorCode::bad_input, "a schema must be an object"};
  auto schema = std::make_shared<Schema>();
  schema->type = text_in(from, "type");
  schema->format = text_in(from, "format");
  schema->description = text_in(from, "description");
  schema->preserve_unknown = flag_at(from, "x-kubernetes-preserve-unknown-fields");
  schema->int_or_string = flag_at(from, "x-kubernetes-int-or-string");
  schema->nullable = flag_at(from, "nullable");
  schema->atomic_map = text_in(from, "x-kubernetes-map-type") == "atomic";
  const std::string list_type = text_in(from, "x-kubernetes-list-type");
  schema->list_type = list_type == "set"   ? ListType::set
                      : list_type == "map" ? ListType::map
                                           : ListType::atomic;
  schema->list_keys = texts_at(from, "x-kubernetes-list-map-keys");
  schema->patch_merge_key = text_in(from, "x-kubernetes-patch-merge-key");
  schema->pattern_text = text_in(from, "pattern");
  Result<std::optional<std::regex>> pattern = read_pattern(schema->pattern_text);
  if (!pattern) return pattern.error();
  schema->pattern = *pattern;
  read_limits(from, *schema);
  Result<std::monostate> children = read_children(from, *schema);
  if (!children) return children.error();
  return SchemaRef(schema);
}

SchemaRef with_object_meta(const SchemaRef& root) {
  static const SchemaRef meta = object_meta_schema();
  auto copy = std::make_shared<Schema>(*root);
  copy->properties["metadata"] = meta;
  copy->properties.try_emplace("apiVersion", scalar("string"));
  copy->properties.try_emplace("kind", scalar("string"));
  return copy;
}

void apply_defaults(Json& value, const SchemaRef& schema) {
  if (!schema) return;
  if (value.is_array()) {
    for (Json& item : value) apply_defaults(item, schema->items);
  } else if (value.is_object()) {
    default_fields(value, *schema);
  }
}

std::vector<std::string> prune_unknown(Json& object, const SchemaRef& schema) {
  std::vector<std::string> unknown;
  prune_at(object, schema, "", unknown);
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace fairlead::model
