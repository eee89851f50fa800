#include "schema/codec_layout.h"

#include "schema/codec_parts.h"
// The compiler header that codec_parts.h includes comes first.
#include <capnp/schema.h>

#include <algorithm>
#include <map>
#include <memory>

#include "engine/base/check.h"
#include "schema/fields/events.h"

namespace fairlead::stored {
namespace {

// An enumeration is stored by its number in memory. If the last enumerants agree, and the schema
// only ever adds at the end, all do.
template <class Value, class Stored>
constexpr bool ends_alike(Value last, Stored stored) {
  return static_cast<unsigned>(last) == static_cast<unsigned>(stored) &&
         static_cast<unsigned>(last) + 1 == kValuesOf<Value>;
}
static_assert(ends_alike(value::ConditionStatus::unknown, ConditionStatus::UNKNOWN));
static_assert(ends_alike(value::QuantityFormat::binary_si, Quantity::Format::BINARY_SI));
static_assert(ends_alike(value::NodeReachKind::devices, NodeReach::ReachKind::DEVICES));
static_assert(ends_alike(value::AllocationMode::unknown, DeviceAsk::AllocationMode::UNKNOWN));
static_assert(ends_alike(value::AdmissionRule::cluster_in_use, AdmissionRule::CLUSTER_IN_USE));
static_assert(ends_alike(value::RuleAction::off, RuleSetting::Action::OFF));
static_assert(ends_alike(value::CapacitySource::managed_cluster,
                         Configuration::CapacitySource::MANAGED_CLUSTER));
static_assert(ends_alike(value::MemberMode::none, Configuration::MemberMode::NONE));
static_assert(ends_alike(value::PoolPolicy::spread, Configuration::PoolPolicy::SPREAD));
static_assert(ends_alike(value::PoolQuotas::max, Configuration::PoolQuotas::MAX));
static_assert(ends_alike(value::DeviceSourceKind::capacity,
                         Configuration::DeviceSourceKind::CAPACITY));
static_assert(ends_alike(value::DraPolicy::spread, Configuration::DraPolicy::SPREAD));
static_assert(ends_alike(value::MemberWorkloads::no, Configuration::MemberWorkloads::NO));
static_assert(ends_alike(value::UsageAllocation::used_hours,
                         Configuration::UsageAllocation::USED_HOURS));
static_assert(ends_alike(value::Verb::remove, PatchIntended::Verb::REMOVE));
static_assert(ends_alike(value::Direction::other, PatchIntended::Direction::OTHER));
static_assert(ends_alike(value::Rank::release, PatchIntended::Rank::RELEASE));
static_assert(ends_alike(value::StaleCause::too_many_changes,
                         SourceState::StaleCause::TOO_MANY_CHANGES));
static_assert(ends_alike(value::RejectionCause::rights, PatchRejected::Cause::RIGHTS));
static_assert(ends_alike(value::AdmissionOperation::remove, AdmissionDecided::Operation::REMOVE));
static_assert(ends_alike(value::AdmissionOutcome::overridden,
                         AdmissionDecided::Outcome::OVERRIDDEN));
static_assert(std::variant_size_v<value::Fact::Base> == 14);

// Each enumerant of Kind has the number of its row in kKinds, whose name ends with its own
// (ClusterResourceClaim is `claim`), and the member of Facts with that number has the same name.
void check_kinds() {
  const auto enumerants = capnp::Schema::from<Kind>().getEnumerants();
  const auto members = capnp::Schema::from<Facts>().getUnionFields();
  check(enumerants.size() == kKindCount && members.size() == kKindCount,
        "each kind is stored, and no other");
  for (const value::KindInfo& row : kKinds) {
    const auto number = static_cast<unsigned>(row.kind);
    const std::string_view stored = enumerants[number].getProto().getName().cStr();
    const std::string_view name = row.name;
    check(name.size() >= stored.size() &&
              std::equal(stored.rbegin(), stored.rend(), name.rbegin(),
                         [](char a, char b) { return (a | 0x20) == (b | 0x20); }),
          "a kind is stored by its number");
    check(stored == members[number].getProto().getName().cStr(),
          "the facts of a kind have its number");
  }
}

using Which = capnp::schema::Type::Which;

/// The layouts of all structs that an event may contain.
class Layouts {
 public:
  const StructLayout& of(capnp::StructSchema schema) {
    const auto proto = schema.getProto();
    const auto [at, is_new] = known_.try_emplace(proto.getId());
    if (!is_new) return *at->second;
    at->second = std::make_unique<StructLayout>();
    StructLayout& layout = *at->second;
    layout.data_words = proto.getStruct().getDataWordCount();
    layout.pointers = proto.getStruct().getPointerCount();
    layout.discriminant_offset = proto.getStruct().getDiscriminantOffset();
    for (const auto field : schema.getFields()) layout.fields.push_back(field_of(field));
    index(layout);
    return layout;
  }

 private:
  std::map<std::uint64_t, std::unique_ptr<StructLayout>> known_;

  FieldLayout field_of(capnp::StructSchema::Field field) {
    const auto proto = field.getProto();
    FieldLayout layout;
    layout.name = proto.getName().cStr();
    layout.hash = FieldName::hash_of(layout.name);
    layout.in_union = proto.getDiscriminantValue() != capnp::schema::Field::NO_DISCRIMINANT;
    if (layout.in_union) layout.discriminant = proto.getDiscriminantValue();
    layout.sort = sort_of(field.getType());
    if (proto.isGroup())
      layout.sort = FieldSort::group;
    else
      layout.offset = proto.getSlot().getOffset();
    if (field.getType().isStruct()) layout.inner = &of(field.getType().asStruct());
    if (layout.sort == FieldSort::structures)
      layout.inner = &of(field.getType().asList().getStructElementType());
    return layout;
  }

  static FieldSort sort_of(capnp::Type type) {
    switch (type.which()) {
      case Which::BOOL: return FieldSort::bit;
      case Which::ENUM:
      case Which::UINT16: return FieldSort::bits16;
      case Which::INT32:
      case Which::UINT32: return FieldSort::bits32;
      case Which::INT64:
      case Which::UINT64: return FieldSort::bits64;
      case Which::TEXT: return FieldSort::text;
      case Which::DATA: return FieldSort::data;
      case Which::STRUCT: return FieldSort::structure;
      case Which::LIST: return list_of(type.asList());
      default: break;  // a void has no place
    }
    check(type.isVoid(), "the codec knows the type of every stored field");
    return FieldSort::bit;
  }
  static FieldSort list_of(capnp::ListSchema list) {
    switch (list.whichElementType()) {
      case Which::TEXT: return FieldSort::texts;
      case Which::ENUM: return FieldSort::words16;
      case Which::UINT64: return FieldSort::words64;
      default: return FieldSort::structures;
    }
  }

  static void index(StructLayout& layout) {
    std::size_t size = 2;
    while (size < 2 * layout.fields.size()) size *= 2;
    layout.by_hash.assign(size, nullptr);
    for (const FieldLayout& field : layout.fields) {
      std::size_t slot = field.hash & (size - 1);
      for (; layout.by_hash[slot]; slot = (slot + 1) & (size - 1))
        check(layout.by_hash[slot]->hash != field.hash, "no two fields of a struct have one hash");
      layout.by_hash[slot] = &field;
      if (!field.in_union) continue;
      if (layout.members.size() <= field.discriminant)
        layout.members.resize(std::size_t{field.discriminant} + 1);
      layout.members[field.discriminant] = &field;
    }
  }
};

}  // namespace

const StructLayout& event_layout() {
  static Layouts layouts;
  static const StructLayout& event = []() -> const StructLayout& {
    check_kinds();
    return layouts.of(capnp::Schema::from<Event>());
  }();
  return event;
}

}  // namespace fairlead::stored
