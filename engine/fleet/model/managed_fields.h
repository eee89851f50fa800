// Field management: metadata.managedFields, and server-side apply on top of it.
//
// Rules: structured-merge-diff's merge.Updater and apimachinery's managedfields package. An applier
// owns the fields that it applied, an updater those that it changed; two appliers that disagree
// conflict; a field that its applier no longer applies and no other manager owns is removed.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/fleet/model/api_status.h"
#include "engine/fleet/model/structural_schema.h"

namespace fairlead::model {

/// The part of an object that a request can change: all of it if the kind has no status
/// subresource, else all but the status, or the status alone.
enum class Door : std::uint8_t { whole, main, status };

/// The manager of a write, its door and its time.
struct WriteIdentity {
  std::string manager;
  std::string api_version;
  Door door = Door::whole;
  std::string time;  ///< RFC 3339, whole seconds
};

/// Whether an apply becomes the owner of fields that other managers own (`force`).
enum class ApplyMode : std::uint8_t { polite, forced };

/// Returns `after` (an update of `before`, which may be an empty object) with its managedFields
/// updated.
Json track_update(const Json& before, Json after, const SchemaRef& schema,
                  const WriteIdentity& writer);

/// Returns `live` (an empty object for a create) with `applied` applied. Fails with 409, naming
/// every conflict, or with the message about a malformed object.
Outcome<Json> apply_configuration(const Json& live, const Json& applied, const SchemaRef& schema,
                                  const WriteIdentity& writer, ApplyMode mode);

}  // namespace fairlead::model
