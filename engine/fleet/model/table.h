// meta.k8s.io/v1 Tables, the output of `kubectl get`.
#pragma once

#include "engine/base/time.h"
#include "engine/fleet/model/resource_definition.h"

namespace fairlead::model {

/// How much of each object goes into its row.
enum class RowObject : std::uint8_t { none, metadata, whole };

/// The style of a table: the kind, the time from which ages count, and the part of an object in
/// rows.
struct TableStyle {
  const ResourceDefinition& definition;
  const ResourceVersion& version;
  LogTime now;
  RowObject row_object = RowObject::metadata;
};

/// Returns a Table of `objects` (already in the requested version) with the list's metadata.
Json as_table(const TableStyle& style, const std::vector<Json>& objects, Json list_metadata);
/// Returns the object with only its metadata.
Json partial_metadata(const Json& object);

}  // namespace fairlead::model
