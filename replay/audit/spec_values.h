// Field by field, what people write in an object that decides which queue gets quota or where it
// comes from, and which fields differ between two moments. Internal to the audit.
//
// A quota's field has its flavor and resource beside its name ("nominalQuota", "borrowingLimit",
// "lendingLimit"). The quotas of a ClusterQueue are not among its fields: queue_changes.h has these
// with our own writes of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/fold/state.h"
#include "schema/event.h"

namespace fairlead {

/// Where in a spec a value is; flavor and resource are empty but for a quota.
struct SpecPlace {
  std::string flavor;
  std::string resource;
  std::string field;

  friend auto operator<=>(const SpecPlace&, const SpecPlace&) = default;
};
/// "on-demand cpu nominalQuota", "stopPolicy".
std::string text_of(const SpecPlace& place);
/// Which field a manager must own to have written there.
SpecField owned_field(const SpecPlace& place);

/// What is known of an object's spec at a moment.
struct KnownSpec {
  enum class Presence : std::uint8_t { unknown, absent, present };
  Presence presence = Presence::unknown;
  /// What a server fills in has that value where it is absent; null: absent. A field that is not
  /// here is not known: the record is older than the field.
  std::map<SpecPlace, Json> fields;
  bool quotas_known = false;  ///< then a quota that is not here does not exist
};
struct SpecChange {
  SpecPlace place;
  Json before;  ///< null: absent, or there was no object
  Json after;
};

/// Returns the spec in the facts of a ClusterQueue, Cohort, ResourceFlavor, AdmissionCheck or
/// LocalQueue.
KnownSpec spec_of(const Facts& facts);
/// Returns the spec of an object of the hub that State holds; `absent` if it holds none.
KnownSpec spec_in(const State& state, const ObjectKey& key);

/// Returns the fields that differ, by place. What one of the two does not know does not differ. Of
/// an object that came or went these are the fields with other values than a server fills in.
std::vector<SpecChange> spec_changes(const KnownSpec& before, const KnownSpec& after);

}  // namespace fairlead
