// Structural schemas: the description of objects in a CustomResourceDefinition.
//
// There is one Schema node per place in an object. Defaulting, pruning, validation
// (schema_validation.h) and ownership of fields (typed_value.h) follow from them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/result.h"

namespace fairlead::model {

/// How a list is owned and merged; `x-kubernetes-list-type`.
enum class ListType : std::uint8_t { atomic, set, map };

/// One rule of `x-kubernetes-validations`. Only `self == oldSelf` is evaluated: the model has no
/// CEL.
struct CelRule {
  std::string rule;
  std::string message;
};

struct Schema;
using SchemaRef = std::shared_ptr<const Schema>;

/// The values allowed at one place of an object. A null SchemaRef allows any value; types are then
/// deduced from it. Large: plain data, a field for each keyword of a structural schema.
struct Schema {
  std::string type;  ///< "object", "array", "string", "integer", "number", "boolean", or "" for
                     ///< int-or-string
  std::string format;
  std::string description;
  std::map<std::string, SchemaRef> properties;
  SchemaRef additional;         ///< schema of a map's values
  bool any_additional = false;  ///< additionalProperties: true
  SchemaRef items;
  bool preserve_unknown = false;
  bool int_or_string = false;
  bool nullable = false;
  bool atomic_map = false;
  ListType list_type = ListType::atomic;
  std::vector<std::string> list_keys;
  std::string patch_merge_key;  ///< key of a strategic merge patch, for built-in kinds
  std::optional<Json> default_value;
  std::vector<Json> allowed;  ///< enum
  std::vector<std::string> required;
  std::optional<double> minimum, maximum;
  std::optional<std::size_t> length_min, length_max, items_min, items_max, properties_max;
  std::string pattern_text;
  std::optional<std::regex> pattern;
  std::vector<CelRule> rules;

  /// The schema of field `name`: a property, else that of the map's values, else null.
  SchemaRef field(const std::string& name) const;
  bool declares(const std::string& name) const { return properties.contains(name); }
};

/// Reads an OpenAPI v3 structural schema. Fails with `bad_input`, naming the path that it does not
/// understand.
Result<SchemaRef> read_schema(const Json& openapi);
/// Returns `root` with `metadata` replaced by the schema of ObjectMeta, which every served object
/// has.
SchemaRef with_object_meta(const SchemaRef& root);

/// Fills in defaults and drops nulls where null is not allowed.
void apply_defaults(Json& value, const SchemaRef& schema);
/// Removes fields that the schema does not know; returns their paths (`spec.groups[0].x`), sorted.
std::vector<std::string> prune_unknown(Json& object, const SchemaRef& schema);

}  // namespace fairlead::model
