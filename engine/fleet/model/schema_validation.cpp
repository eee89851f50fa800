#include "engine/fleet/model/schema_validation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/base64.h"

namespace fairlead::model {
namespace {

/// How Go prints a value in an error: strings quoted, everything else as JSON.
std::string quoted(const Json& value) { return to_text(value); }

const char* type_name(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return "null";
}

bool is_integral(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>();
}

bool type_matches(const Json& value, const Schema& schema) {
  if (schema.int_or_string) return value.is_string() || is_integral(value);
  if (schema.type.empty()) return true;
  if (schema.type == "object") return value.is_object();
  if (schema.type == "array") return value.is_array();
  if (schema.type == "string") return value.is_string();
  if (schema.type == "boolean") return value.is_boolean();
  if (schema.type == "integer") return is_integral(value);
  return value.is_number();
}

std::size_t characters(const std::string& text) {
  std::size_t count = 0;
  for (char byte : text)
    if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) ++count;
  return count;
}

class Validator {
 public:
  explicit Validator(Origin origin) : origin_(origin) {}

  std::vector<FieldError> schema_errors;  ///< of single values
  std::vector<FieldError> list_errors;  ///< sets and maps with equal members, reported after those
  std::vector<FieldError> rule_errors;  ///< CEL, only where nothing else is wrong

  void visit(const Json& value, const Json* old, const Schema& schema, const std::string& path) {
    if (value.is_null() && schema.nullable) return;
    if (!type_matches(value, schema)) return wrong_type(value, schema, path);
    check_enum(value, schema, path);
    if (value.is_string()) check_string(value, schema, path);
    if (value.is_number()) check_number(value, schema, path);
    if (value.is_array()) visit_list(value, old, schema, path);
    if (value.is_object()) visit_object(value, old, schema, path);
    for (const CelRule& rule : schema.rules)
      if (rule.rule == "self == oldSelf" && old != nullptr && *old != value)
        rule_errors.push_back(
            {path, "FieldValueInvalid", "Invalid value: " + quoted(value) + ": " + rule.message});
  }

 private:
  void wrong_type(const Json& value, const Schema& schema, const std::string& path) {
    const std::string found = type_name(value);
    const std::string wanted = schema.int_or_string ? "integer,string" : schema.type;
    add(path, "FieldValueTypeInvalid",
        "Invalid value: \"" + found + "\": " + path + " in body must be of type " + wanted +
            ": \"" + found + "\"");
  }

  void check_enum(const Json& value, const Schema& schema, const std::string& path) {
    if (schema.allowed.empty()) return;
    std::string supported;
    for (const Json& allowed : schema.allowed) {
      if (allowed == value) return;
      supported += (supported.empty() ? "" : ", ") + quoted(allowed);
    }
    add(path, "FieldValueNotSupported",
        "Unsupported value: " + quoted(value) + ": supported values: " + supported);
  }

  // Reports the first fault of a text, and also a wrong format, as kube-apiserver does.
  void check_string(const Json& value, const Schema& schema, const std::string& path) {
    const std::string& text = value.get_ref<const std::string&>();
    const std::size_t length = characters(text);
    const std::string invalid = "Invalid value: " + quoted(value) + ": " + path + " in body ";
    if (schema.length_max && length > *schema.length_max)
      add(path, "FieldValueTooLong",
          "Too long: may not be more than " + std::to_string(*schema.length_max) + " bytes");
    else if (schema.length_min && length < *schema.length_min)
      add(path, "FieldValueInvalid",
          invalid + "should be at least " + std::to_string(*schema.length_min) + " chars long");
    else if (schema.pattern && !std::regex_search(text, *schema.pattern))
      add(path, "FieldValueInvalid", invalid + "should match '" + schema.pattern_text + "'");
    if (origin_ == Origin::custom && schema.format == "byte" && !decode_base64(text))
      add(path, "FieldValueTypeInvalid", invalid + "must be of type byte: " + quoted(value));
  }

  void check_number(const Json& value, const Schema& schema, const std::string& path) {
    const double number = value.get<double>();
    if (schema.minimum && number < *schema.minimum) limit(value, path, "greater", *schema.minimum);
    if (schema.maximum && number > *schema.maximum) limit(value, path, "less", *schema.maximum);
  }

  void limit(const Json& value, const std::string& path, const char* side, double bound) {
    add(path, "FieldValueInvalid",
        "Invalid value: " + quoted(value) + ": " + path + " in body should be " + side +
            " than or equal to " + std::to_string(static_cast<std::int64_t>(bound)));
  }

  void visit_list(const Json& value, const Json* old, const Schema& schema,
                  const std::string& path) {
    if (schema.items_min && value.size() < *schema.items_min)
      add(path, "FieldValueInvalid",
          "Invalid value: " + std::to_string(value.size()) + ": " + path +
              " in body should have at least " + std::to_string(*schema.items_min) + " items");
    if (schema.items_max && value.size() > *schema.items_max)
      add(path, "FieldValueTooMany",
          "Too many: " + std::to_string(value.size()) + ": must have at most " +
              std::to_string(*schema.items_max) + " items");
    check_unique(value, schema, path);
    if (!schema.items) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      visit(value[i], counterpart(value[i], i, old, schema), *schema.items,
            path + "[" + std::to_string(i) + "]");
  }

  /// The old item that `item` replaces; known only in list maps.
  static const Json* counterpart(const Json& item, std::size_t, const Json* old,
                                 const Schema& schema) {
    if (old == nullptr || !old->is_array() || schema.list_type != ListType::map) return nullptr;
    for (const Json& candidate : *old) {
      bool same = candidate.is_object() && item.is_object();
      for (const std::string& key : schema.list_keys)
        same = same && candidate.value(key, Json()) == item.value(key, Json());
      if (same) return &candidate;
    }
    return nullptr;
  }

  void check_unique(const Json& value, const Schema& schema, const std::string& path) {
    if (schema.list_type == ListType::atomic) return;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      Json identity = value[i];
      if (schema.list_type == ListType::map) {
        if (!value[i].is_object()) continue;
        identity = Json::object();
        for (const std::string& key : schema.list_keys)
          if (value[i].contains(key)) identity[key] = value[i][key];
      }
      if (!seen.insert(to_text(identity)).second)
        list_errors.push_back({path + "[" + std::to_string(i) + "]", "FieldValueDuplicate",
                               "Duplicate value: " + quoted(identity)});
    }
  }

  void visit_object(const Json& value, const Json* old, const Schema& schema,
                    const std::string& path) {
    if (schema.properties_max && value.size() > *schema.properties_max)
      add(path, "FieldValueTooMany",
          "Too many: " + std::to_string(value.size()) + ": must have at most " +
              std::to_string(*schema.properties_max) + " items");
    for (const auto& [name, field] : value.items()) {
      if (path.empty() && (name == "metadata" || name == "apiVersion" || name == "kind")) continue;
      SchemaRef child = schema.field(name);
      if (!child) continue;
      const Json* before = nullptr;
      if (old != nullptr && old->is_object())
        if (auto found = old->find(name); found != old->end()) before = &*found;
      visit(field, before, *child, path.empty() ? name : path + "." + name);
    }
    for (const std::string& name : schema.required)
      if (!value.contains(name))
        add(path.empty() ? name : path + "." + name, "FieldValueRequired", "Required value");
  }

  void add(const std::string& path, const char* reason, std::string message) {
    schema_errors.push_back({path, reason, std::move(message)});
  }

  const Origin origin_;
};

/// Errors after which a server does not run CEL.
bool blocks_rules(const FieldError& error) {
  static const std::set<std::string> blocking{"FieldValueNotSupported", "FieldValueRequired",
                                              "FieldValueTooLong", "FieldValueTooMany",
                                              "FieldValueTypeInvalid"};
  return blocking.contains(error.reason);
}

/// Whether any node below has CEL rules: a real server reports that it did not run them.
bool has_rules(const SchemaRef& schema) {
  if (!schema) return false;
  if (!schema->rules.empty()) return true;
  for (const auto& [name, child] : schema->properties)
    if (has_rules(child)) return true;
  return has_rules(schema->items) || has_rules(schema->additional);
}

}  // namespace

std::vector<FieldError> validate(const Json& object, const Json* old, const SchemaRef& schema,
                                 Origin origin) {
  Validator validator(origin);
  validator.visit(object, old, *schema, "");
  std::vector<FieldError> errors = std::move(validator.schema_errors);
  errors.insert(errors.end(), validator.list_errors.begin(), validator.list_errors.end());
  const bool blocked = std::any_of(errors.begin(), errors.end(), blocks_rules);
  if (!blocked)
    errors.insert(errors.end(), validator.rule_errors.begin(), validator.rule_errors.end());
  else if (has_rules(schema))
    errors.push_back(
        {"<nil>", "FieldValueInvalid",
         "Invalid value: null: some validation rules were not checked because the object was "
         "invalid; correct the existing errors to complete validation"});
  return errors;
}

}  // namespace fairlead::model
