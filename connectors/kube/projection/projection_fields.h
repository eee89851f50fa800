// The readers that the projections of several kinds share, and what a projection is.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/projection/object_refusal.h"
#include "engine/base/made.h"
#include "schema/event.h"
#include "schema/facts.h"

namespace fairlead::projection {

/// Reads a Quantity from a string or a number token; nullopt for anything else.
std::optional<Quantity> quantity(JsonView value);
/// Reads resource -> amount; entries that are no quantities are left out.
ResourceAmounts amounts(JsonView object);
/// The string members of an object.
Labels labels(JsonView object);
std::map<std::string, std::string> strings(JsonView object);
/// The string items of an array, in order.
std::vector<std::string> string_items(JsonView array);
/// All taints with a key and an effect, sorted, each once.
std::vector<Taint> taints(JsonView array);
/// Only those that keep a Pod away: NoSchedule and NoExecute.
std::vector<Taint> repelling_taints(JsonView array);
/// All tolerations as listed; a missing operator is Equal.
std::vector<Toleration> tolerations(JsonView array);
/// The condition of that type in status.conditions.
ConditionFacts condition(JsonView status, std::string_view type);
ConditionStatus condition_status(std::string_view word);
/// spec.resourceGroups.
std::vector<ResourceGroup> resource_groups(JsonView array);
/// status.flavorsUsage or flavorsReservation, sorted: `total` of each entry, or `borrowed` where
/// that is not 0.
std::vector<FlavorUsage> flavors_usage(JsonView array);
std::vector<FlavorUsage> flavors_borrowed(JsonView array);
/// The entries of metadata.managedFields that own a SpecField or a part of one, in their order. An
/// entry whose operation is neither Apply nor Update counts as absent.
std::vector<FieldWriter> quota_writers(JsonView object);
/// metadata.deletionTimestamp is set.
bool deleting(JsonView object);
/// Sorted, each once.
template <class T>
void make_set(std::vector<T>& items);

/// How an object is read: in which version of its API, and what was found that no API server lets
/// pass. The facts of an object that is refused are of no use.
struct ApiReading {
  std::string_view version;
  ObjectRefusal& refused;
};

/// Makes the facts of an object: a specialization for each kind, in the source of its family.
template <class F>
F facts_of(JsonView object, ApiReading& api);

/// How the objects of a kind are read.
struct KindProjection {
  Kind kind;
  Facts (*make)(JsonView object, ApiReading& api);
  /// The fields that it does not read and that change often, as unread_fields() has them. A field
  /// that is missing here costs time, never a change.
  std::string_view unread;
};
/// Returns the projection that facts_of makes. Called behind that specialization.
template <class F>
constexpr KindProjection projection_of(std::string_view unread = {}) {
  constexpr auto make = [](JsonView object, ApiReading& api) {
    return Facts(std::in_place_type<F>, Made([&] { return facts_of<F>(object, api); }));
  };
  return {kKindOf<F>, make, unread};
}

/// The projections of each family, in the source of that name.
std::span<const KindProjection> capacity_projections();
std::span<const KindProjection> claim_projections();
std::span<const KindProjection> device_claim_projections();
std::span<const KindProjection> device_projections();
std::span<const KindProjection> fleet_projections();
std::span<const KindProjection> kueue_projections();
std::span<const KindProjection> multikueue_projections();
std::span<const KindProjection> pool_projections();
std::span<const KindProjection> workload_projections();

// ---- fleet claims ----

/// Reads the value of the annotation dra.fairlead.io/claims; no entries if it is empty.
FleetClaimEntries fleet_claim_entries(std::string_view annotation);

// ---- Dynamic Resource Allocation ----

/// In this version the fields of a device are in its member `basic`, and those of `exactly` in the
/// request itself.
inline constexpr std::string_view kFlatDeviceApi = "v1beta1";

/// Refuses what is neither absent nor a list of at most `most` entries.
void expect_at_most(std::size_t most, JsonView list, std::string_view field,
                    ObjectRefusal& refused);
/// Returns a text that an API server requires; refuses one that is absent or empty.
std::string_view expect_text(JsonView value, std::string_view field, ObjectRefusal& refused);
/// Reads a Quantity and refuses anything else; an absent one is nullopt, or 0 where the API has no
/// pointer.
std::optional<Quantity> optional_quantity(JsonView value, std::string_view field,
                                          ObjectRefusal& refused);
Quantity quantity_or_zero(JsonView value, std::string_view field, ObjectRefusal& refused);
/// Reads name -> Quantity.
std::map<std::string, Quantity> quantities(JsonView object, std::string_view field,
                                           ObjectRefusal& refused);
/// Reads a core/v1 NodeSelector as written.
NodeSelector node_selector(JsonView object);
/// Reads entries of status.reservedFor, in order.
std::vector<ClaimConsumer> claim_consumers(JsonView array);
/// The uids of the owners of a kind, in any version of its group, sorted.
std::vector<std::string> owner_uids(JsonView metadata, std::string_view group,
                                    std::string_view kind);
/// How much a Pod asks for, by resource.
using PodAmounts = std::map<std::string, Amount>;
/// Returns what the containers of a Pod's spec request together: the most that runs at one time,
/// sidecars beside the init containers and containers after them. A missing request is the limit; a
/// malformed or negative amount counts as absent.
PodAmounts container_requests(JsonView spec);
/// Returns that of the whole Pod, without zeros: with what its own `resources` and `overhead` say.
PodAmounts pod_requests(JsonView spec);

/// Reads the spec of a Pod or of a template of Pods.
PodDeviceFacts pod_devices(JsonView spec);
/// Returns whether such a Pod may use devices: has claims or asks for extended resources.
bool may_use_devices(const PodDeviceFacts& pod);

}  // namespace fairlead::projection

#include <algorithm>

template <class T>
void fairlead::projection::make_set(std::vector<T>& items) {
  const auto out_of_order = [](const T& a, const T& b) { return !(a < b); };
  if (std::adjacent_find(items.begin(), items.end(), out_of_order) == items.end()) return;
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}
