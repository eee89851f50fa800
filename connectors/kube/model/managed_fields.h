// Field management: metadata.managedFields, and server-side apply on top of it.
//
// Rules: structured-merge-diff's merge.Updater and apimachinery's managedfields package. An applier
// owns what it applied, an updater what it changed; two appliers that disagree conflict; what an
// applier no longer applies and nobody else owns goes away.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "connectors/kube/model/api_status.h"
#include "connectors/kube/model/structural_schema.h"

namespace fairlead::model {

/// Which part of an object a request can change: all of it where the kind has no status
/// subresource, else all but the status, or the status alone.
enum class Door : std::uint8_t { whole, main, status };

/// Who writes, through which door, when.
struct WriteIdentity {
  std::string manager;
  std::string api_version;
  Door door = Door::whole;
  std::string time;  ///< RFC 3339, whole seconds
};

/// Whether an apply takes fields away from others.
enum class ApplyMode : std::uint8_t { polite, forced };

/// `after` (an update of `before`, which may be an empty object) with its managedFields brought up
/// to date.
Json track_update(const Json& before, Json after, const SchemaRef& schema,
                  const WriteIdentity& writer);

/// `live` (an empty object for a create) with `applied` applied. Fails with 409 naming every
/// conflict, or with the message of a malformed object.
Outcome<Json> apply_configuration(const Json& live, const Json& applied, const SchemaRef& schema,
                                  const WriteIdentity& writer, ApplyMode mode);

}  // namespace fairlead::model
