// Validation of one object against its structural schema, with the messages of a real server.
#pragma once

#include <vector>

#include "engine/fleet/model/api_status.h"
#include "engine/fleet/model/resource_definition.h"
#include "engine/fleet/model/structural_schema.h"

namespace fairlead::model {

/// Returns all errors of `object`; empty if it is valid. `old` is the object before an update, or
/// null: immutable fields are compared with it. Of CEL rules only `self == oldSelf` is evaluated;
/// the others count as satisfied. Texts of the format `byte` are checked in custom objects: those
/// of built-in kinds are a matter of Go's decoder.
std::vector<FieldError> validate(const Json& object, const Json* old, const SchemaRef& schema,
                                 Origin origin);

}  // namespace fairlead::model
