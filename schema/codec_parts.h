// Private to the codec: the parts that codec.cpp is composed of.
//
// Each value type has a `write(value, builder)` and a `read(reader)`. Bytes that are read may be
// damaged: Cap'n Proto throws kj::Exception for what it refuses, our functions throw Malformed for
// the rest; codec.cpp catches both, so neither leaves the folder. The functions are in the
// namespace of the generated types and not in an unnamed one, because the list templates find them
// by argument-dependent lookup.
#pragma once

#include "schema/capnp_compiler.h"
// The compiler header comes first.
#include <capnp/blob.h>
#include <capnp/list.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event.capnp.h"
#include "schema/event.h"

namespace fairlead::stored {

/// The generated types and the value types have the same names: `Taint` is stored, `value::Taint`
/// in memory.
namespace value = fairlead;

/// Thrown for stored bytes that no encoder of ours writes.
struct Malformed {
  std::string what;
};

// ---- texts, digests, enumerations ----

inline capnp::Text::Reader as_text(const std::string& text) {
  return {text.data(), text.size()};  // std::string ends with the NUL that Text requires
}
inline std::string_view view(capnp::Text::Reader text) { return {text.begin(), text.size()}; }
inline std::int64_t view(std::int64_t number) { return number; }
inline std::string read(capnp::Text::Reader text) { return {text.begin(), text.size()}; }

/// Stores an empty text or digest as absent, so that each value has one stored form.
template <class Builder>
void put(Builder out, void (Builder::*set)(capnp::Text::Reader), const std::string& text) {
  if (!text.empty()) (out.*set)(as_text(text));
}
template <class Builder>
void put(Builder out, void (Builder::*set)(capnp::Data::Reader), const Digest& digest) {
  if (digest != Digest{}) (out.*set)(capnp::Data::Reader(digest.bytes.data(), digest.bytes.size()));
}
Digest read_digest(capnp::Data::Reader bytes);

/// Reads an enumeration, whose numbers are the same in memory and stored (static assertions in the
/// codec's sources).
template <class Value, class Stored>
Value read_enum(Stored stored, unsigned count, const char* name) {
  const auto number = static_cast<unsigned>(stored);
  if (number >= count)
    throw Malformed{std::string(name) + " has the unknown value " + std::to_string(number)};
  return static_cast<Value>(number);
}
value::Kind read(Kind kind);
value::AdmissionRule read(AdmissionRule rule);

// ---- lists and maps ----

template <class Builder, class List, class Items>
void put_list(Builder out, List (Builder::*init)(unsigned), const Items& items) {
  if (items.empty()) return;
  List list = (out.*init)(static_cast<unsigned>(items.size()));
  unsigned index = 0;
  for (const auto& item : items) write(item, list[index++]);
}
template <class Builder>
void put_texts(Builder out, capnp::List<capnp::Text>::Builder (Builder::*init)(unsigned),
               const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  auto list = (out.*init)(static_cast<unsigned>(texts.size()));
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, as_text(texts[i]));
}

std::vector<std::string> read_texts(capnp::List<capnp::Text>::Reader list);

template <class List>
auto read_list(List list) {
  std::vector<decltype(read(list[0]))> items;
  items.reserve(list.size());
  for (const auto item : list) items.push_back(read(item));
  return items;
}

void write(const std::pair<std::string_view, std::string_view>& pair, TextPair::Builder out);
void write(const std::pair<std::string_view, std::int64_t>& pair, AmountPair::Builder out);
void write(const std::pair<const std::string, std::string>& pair, TextPair::Builder out);
void write(const std::pair<const std::string, std::int64_t>& pair, AmountPair::Builder out);
std::pair<std::string, std::string> read(TextPair::Reader pair);
std::pair<std::string, std::int64_t> read(AmountPair::Reader pair);

/// Reads a map that is stored as a list with strictly ascending keys.
template <class List>
auto read_map(List list) {
  using Value = typename decltype(read(list[0]))::second_type;
  std::map<std::string, Value> map;
  for (const auto item : list) {
    auto [key, value] = read(item);
    if (!map.empty() && map.rbegin()->first >= key)
      throw Malformed{"a map is not sorted at key " + key};
    map.emplace_hint(map.end(), std::move(key), std::move(value));
  }
  return map;
}

/// Stores a PackedMap as its own bytes.
template <class Builder, class Map>
void put_packed(Builder out, void (Builder::*set)(capnp::Data::Reader), const Map& map) {
  if (map.is_based()) return put_packed(out, set, map.whole());
  const std::string_view bytes = map.bytes();
  if (!bytes.empty())
    (out.*set)(capnp::Data::Reader(reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()));
}
template <class Map>
Map read_packed_bytes(capnp::Data::Reader data) {
  const auto chars = data.asChars();
  auto map = Map::from_bytes({chars.begin(), chars.size()});
  if (!map) throw Malformed{"a packed map is not one"};
  return *std::move(map);
}

/// Reads the same map as records of version 1 stored it: as a list.
template <class Map, class List>
Map read_packed(List list) {
  Map map;
  const bool sorted =
      map.assign_sorted(list.size(), [&](std::size_t i) -> typename Map::value_type {
        const auto item = list[static_cast<unsigned>(i)];
        return {view(item.getKey()), view(item.getValue())};
      });
  if (!sorted) throw Malformed{"a map is not sorted"};
  return map;
}

// ---- values ----

void write(const value::ObjectKey& key, ObjectKey::Builder out);
value::ObjectKey read(ObjectKey::Reader in);
void write(const value::ResourceGroup& group, ResourceGroup::Builder out);
value::ResourceGroup read(ResourceGroup::Reader in);
void write(const value::Configuration& configuration, Configuration::Builder out);
value::Configuration read(Configuration::Reader in);

value::ConditionStatus read(ConditionStatus status);
void write(const value::ConditionFacts& condition, Condition::Builder out);
value::ConditionFacts read(Condition::Reader in);

void write(const value::Taint& taint, Taint::Builder out);
value::Taint read(Taint::Reader in);
void write(const value::Toleration& toleration, Toleration::Builder out);
value::Toleration read(Toleration::Reader in);

/// A text that is there, perhaps an empty one; a struct that is absent reads as nullopt.
void write(const std::string& text, OptionalText::Builder out);
std::optional<std::string> read(OptionalText::Reader in);

void write(const value::FlavorUsage& usage, FlavorUsage::Builder out);
value::FlavorUsage read(FlavorUsage::Reader in);

void write(const value::Quantity& quantity, Quantity::Builder out);
value::Quantity read(Quantity::Reader in);
void write(const value::EffectiveQuotas& quotas, EffectiveQuotas::Builder out);
std::optional<value::EffectiveQuotas> read(EffectiveQuotas::Reader in);

// Cohorts, and what a ClusterQueue has beside its quotas, in codec_queues.cpp.
void write(const value::SharingTerms& terms, SharingTerms::Builder out);
std::optional<value::SharingTerms> read(SharingTerms::Reader in);
void write(const value::CohortFacts& cohort, Cohort::Builder out);
value::CohortFacts read(Cohort::Reader in);

// The kinds that carry quota to a member, in codec_member.cpp.
void write(const value::ManifestWorkFacts& work, ManifestWork::Builder out);
value::ManifestWorkFacts read(ManifestWork::Reader in);
void write(const value::BindingPolicyFacts& policy, BindingPolicy::Builder out);
value::BindingPolicyFacts read(BindingPolicy::Reader in);
void write(const value::TopologyFacts& topology, Topology::Builder out);
value::TopologyFacts read(Topology::Reader in);

// The kinds of the MultiKueue path, in codec_multikueue.cpp.
void write(const value::AdmissionCheckFacts& check, AdmissionCheck::Builder out);
value::AdmissionCheckFacts read(AdmissionCheck::Reader in);
void write(const value::MultiKueueConfigFacts& config, MultiKueueConfig::Builder out);
value::MultiKueueConfigFacts read(MultiKueueConfig::Reader in);
void write(const value::MultiKueueClusterFacts& cluster, MultiKueueCluster::Builder out);
value::MultiKueueClusterFacts read(MultiKueueCluster::Reader in);
void write(const value::PlacementFacts& placement, Placement::Builder out);
value::PlacementFacts read(Placement::Reader in);
void write(const value::PlacementDecisionFacts& decision, PlacementDecision::Builder out);
value::PlacementDecisionFacts read(PlacementDecision::Reader in);
void write(const value::AddOnPlacementScoreFacts& score, AddOnPlacementScore::Builder out);
value::AddOnPlacementScoreFacts read(AddOnPlacementScore::Reader in);
void write(const value::WorkloadFacts& workload, Workload::Builder out);
value::WorkloadFacts read(Workload::Reader in);
void write(const value::SecretFacts& secret, Secret::Builder out);
value::SecretFacts read(Secret::Reader in);
void write(const value::CustomResourceDefinitionFacts& crd, CustomResourceDefinition::Builder out);
value::CustomResourceDefinitionFacts read(CustomResourceDefinition::Reader in);
void write(const value::MutatingAdmissionPolicyFacts& policy, MutatingAdmissionPolicy::Builder out);
value::MutatingAdmissionPolicyFacts read(MutatingAdmissionPolicy::Reader in);

// The super cluster pool, in codec_pool.cpp.
void write(const value::VirtualClusterFacts& cluster, VirtualCluster::Builder out);
value::VirtualClusterFacts read(VirtualCluster::Reader in);
void write(const value::NamespaceFacts& of, Namespace::Builder out);
value::NamespaceFacts read(Namespace::Reader in);
void write(const value::ResourceQuotaFacts& quota, TenantQuota::Builder out);
value::ResourceQuotaFacts read(TenantQuota::Reader in);
void write(const value::PodFacts& pod, Pod::Builder out);
value::PodFacts read(Pod::Reader in);
void write(const value::ConfigMapFacts& map, ConfigMap::Builder out);
value::ConfigMapFacts read(ConfigMap::Reader in);
void write(const value::PoolSettings& settings, Configuration::Pool::Builder out);
value::PoolSettings read(Configuration::Pool::Reader in);

// Dynamic Resource Allocation, in codec_devices.cpp.
void write(const value::ResourceSliceFacts& slice, ResourceSlice::Builder out);
value::ResourceSliceFacts read(ResourceSlice::Reader in);
void write(const value::DeviceClassFacts& of, DeviceClass::Builder out);
value::DeviceClassFacts read(DeviceClass::Reader in);
void write(const value::ResourceClaimFacts& claim, ResourceClaim::Builder out);
value::ResourceClaimFacts read(ResourceClaim::Reader in);
void write(const value::ResourceClaimTemplateFacts& of, ResourceClaimTemplate::Builder out);
value::ResourceClaimTemplateFacts read(ResourceClaimTemplate::Reader in);
void write(const value::DeviceTaintRuleFacts& rule, DeviceTaintRule::Builder out);
value::DeviceTaintRuleFacts read(DeviceTaintRule::Reader in);
void write(const value::PodDeviceFacts& pod, PodDevices::Builder out);
value::PodDeviceFacts read(PodDevices::Reader in);
void write(const value::DraSettings& settings, Configuration::Dra::Builder out);
value::DraSettings read(Configuration::Dra::Reader in);

void write(const value::ClaimConsumer& consumer, ClaimConsumer::Builder out);
value::ClaimConsumer read(ClaimConsumer::Reader in);
void write(const value::PodClaim& claim, PodClaim::Builder out);
value::PodClaim read(PodClaim::Reader in);

// Fleet claims, in codec_fleet.cpp.
void write(const value::FleetResourceClassFacts& of, FleetResourceClass::Builder out);
value::FleetResourceClassFacts read(FleetResourceClass::Reader in);
void write(const value::FleetResourceClaimFacts& claim, FleetResourceClaim::Builder out);
value::FleetResourceClaimFacts read(FleetResourceClaim::Reader in);
void write(const value::FleetResourceClaimTemplateFacts& of,
           FleetResourceClaimTemplate::Builder out);
value::FleetResourceClaimTemplateFacts read(FleetResourceClaimTemplate::Reader in);
void write(const value::FleetSchedulingFacts& scheduling, FleetScheduling::Builder out);
value::FleetSchedulingFacts read(FleetScheduling::Reader in);

/// Sets the member of the union that belongs to the kind of `facts`.
void write(const value::Facts& facts, Facts::Builder out);
value::Facts read(Facts::Reader in);
/// Appends the canonical bytes of `event` to `bytes` if it observes a node; else returns false.
bool append_node(const value::Event& event, std::string& bytes);
/// Decodes a record that append_node() wrote into `event`; the maps of the node view `bytes`.
/// Returns false for any other record, with unspecified contents in `event`.
bool read_node(std::string_view bytes, value::Event& event);

}  // namespace fairlead::stored
