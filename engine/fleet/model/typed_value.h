// Operations on objects by their schema: the fields they set, how two differ, how one is merged
// into another.
//
// Server-side apply consists of them. Rules: structured-merge-diff's typed package (maps are
// granular unless atomic; lists are atomic unless `set` or `map`; unknown fields are deduced).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/fleet/model/field_set.h"
#include "engine/fleet/model/structural_schema.h"

namespace fairlead::model {

/// The differences between two objects.
struct Comparison {
  FieldSet added, modified, removed;

  bool same() const { return added.empty() && modified.empty() && removed.empty(); }
};

/// Returns every field that `value` sets: those that its applier owns.
FieldSet fields_of(const Json& value, const SchemaRef& schema);
Comparison compare(const Json& before, const Json& after, const SchemaRef& schema);
/// Returns `base` with all fields that `over` sets; associative lists keep both sides' order as far
/// as they agree.
Json merged(const Json& base, const Json& over, const SchemaRef& schema);
/// Returns `value` without `fields`; null if nothing is left.
Json without_fields(const Json& value, const FieldSet& fields, const SchemaRef& schema);
/// Returns `fields` with every declared parent of a field in it as a member.
FieldSet with_named_parents(const FieldSet& fields, const SchemaRef& schema);
/// Returns why `value` is no object of this schema (`.spec.x: field not declared in schema`); empty
/// if it is one.
std::vector<std::string> undeclared(const Json& value, const SchemaRef& schema);

}  // namespace fairlead::model
