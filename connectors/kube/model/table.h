// meta.k8s.io/v1 Tables: what `kubectl get` prints.
#pragma once

#include "connectors/kube/model/resource_definition.h"
#include "engine/base/time.h"

namespace fairlead::model {

/// How much of each object goes into its row.
enum class RowObject : std::uint8_t { none, metadata, whole };

/// What a table is made of: the kind, the moment ages are told at, and what rows carry.
struct TableStyle {
  const ResourceDefinition& definition;
  const ResourceVersion& version;
  LogTime now;
  RowObject row_object = RowObject::metadata;
};

/// A Table of `objects` (already in the version asked for) with the list's metadata.
Json as_table(const TableStyle& style, const std::vector<Json>& objects, Json list_metadata);
/// The object with only its metadata.
Json partial_metadata(const Json& object);

}  // namespace fairlead::model
