// Objects seen through their schema: the fields they set, how two differ, how one is merged into
// another.
//
// These are the four operations that server-side apply is made of. Rules: structured-merge-diff's
// typed package (maps are granular unless atomic; lists are atomic unless `set` or `map`; unknown
// fields are deduced).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connectors/kube/model/field_set.h"
#include "connectors/kube/model/structural_schema.h"

namespace fairlead::model {

/// What changed from one object to another.
struct Comparison {
  FieldSet added, modified, removed;

  bool same() const { return added.empty() && modified.empty() && removed.empty(); }
};

/// Every field that `value` sets, as an applier comes to own them.
FieldSet fields_of(const Json& value, const SchemaRef& schema);
Comparison compare(const Json& before, const Json& after, const SchemaRef& schema);
/// `base` with everything that `over` sets; associative lists keep both sides' order as far as they
/// agree.
Json merged(const Json& base, const Json& over, const SchemaRef& schema);
/// `value` without what `fields` names; null where nothing is left.
Json without_fields(const Json& value, const FieldSet& fields, const SchemaRef& schema);
/// `fields` with every declared parent of a field in it as a member.
FieldSet with_named_parents(const FieldSet& fields, const SchemaRef& schema);
/// Why `value` is not an object of this schema (`.spec.x: field not declared in schema`); empty if
/// it is.
std::vector<std::string> undeclared(const Json& value, const SchemaRef& schema);

}  // namespace fairlead::model
