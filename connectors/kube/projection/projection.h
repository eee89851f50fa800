// From a Kubernetes object as served to the facts that Fairlead keeps of it.
//
// One function, a table of kinds behind it. A projection is an allow-list: what no rule of the
// engine reads is not kept, so an update that changes none of it is no event. Results are
// canonical: sets sorted, quantities by value. A bad value inside an object never fails a
// projection: the entry counts as absent. There are two exceptions. Of a claim, whose author is a
// person, the malformed text itself is kept, for the fold to refuse by name. An object of Dynamic
// Resource Allocation that no API server would have accepted is not read at all (object_refusal.h).
#pragma once

#include <optional>
#include <string>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/projection/object_refusal.h"
#include "engine/base/result.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// Returns the facts of `object`; nullopt for a kind, a version or (see is_read) an object that
/// Fairlead does not read. Fails with `bad_input` if an object that it reads has no metadata.name,
/// or is refused. `raw` stays empty: see raw_text.
///
/// What counts as absent: a label or annotation that is no string; an amount that is no Quantity (a
/// borrowing or lending limit too; an unreadable nominalQuota is 0); a taint without a key or
/// effect; an entry of a named list without a name.
Result<std::optional<ObjectSeen>> project(JsonView object);

/// The same for an item of a typed list, from which API servers omit apiVersion and kind.
Result<std::optional<ObjectSeen>> project_as(Kind kind, std::string_view version, JsonView object);

/// Whether an object of that kind and name is read at all: of ManifestWorks and BindingPolicies
/// only ours are, of CustomResourceDefinitions those of MultiKueueConfig and MultiKueueCluster.
bool is_read(Kind kind, std::string_view name);

/// Returns the fields of an object that its projection does not read and that change often: their
/// paths, between spaces. `*` is every item of a list; the last names of several paths are in
/// braces: "spec status.nodes.*.{usage,limits}".
std::string_view unread_fields(Kind kind);

/// Whether the field managers of what decides a quota are kept of objects of that kind: see
/// ObjectSeen::writers.
constexpr bool has_quota_writers(Kind kind) {
  return kind == Kind::cluster_queue || kind == Kind::cohort;
}

/// The name, namespace, uid, version and generation of an object: views into its document, empty
/// where it has none.
struct ObjectIdentity {
  std::string_view name;
  std::string_view namespace_;
  std::string_view uid;
  std::string_view resource_version;
  std::int64_t generation = 0;
};
ObjectIdentity identity_of(JsonView object);
/// Why `object` is not of this kind; empty if it is, or does not say, as the items of a list.
std::string other_kind(Kind kind, JsonView object);

/// The same as project_as(), for streams, which know the identity of `object`, and that it is read
/// and has a name. Notes in `refused` what keeps the object from being read; its facts are of no
/// use then.
ObjectSeen seen_of(Kind kind, std::string_view version, JsonView object,
                   const ObjectIdentity& identity, ObjectRefusal& refused);

/// Canonical JSON of `object` as it may be kept: without metadata.managedFields and kubectl's
/// last-applied copy, without the data of Secrets and the values of environment variables that
/// other objects embed.
std::string raw_text(JsonView object);

/// Returns raw_text of an object that people write (a claim, a queue, a flavor), for the log to
/// keep beside the event. Empty for any other kind, which machines write too often, and for a text
/// longer than kRawBytesMax.
std::string raw_to_keep(Kind kind, JsonView object);
inline constexpr std::size_t kRawBytesMax = std::size_t{64} << 10;
/// The same for a watch line with that object in it. The text is made when it is asked for, from a
/// copy of the line; of a line longer than kRawBytesMax no copy is kept, and the text made at once.
RawObject raw_of_line(Kind kind, std::string_view line);

/// Whether objects of the kind are read in that version of its API.
bool reads_version(Kind kind, std::string_view version);

/// The parts of an apiVersion: {"kueue.x-k8s.io", "v1beta2"}, {"", "v1"}. Views into it.
struct GroupVersion {
  std::string_view group;
  std::string_view version;
};
GroupVersion split_api_version(std::string_view api_version);

}  // namespace fairlead
