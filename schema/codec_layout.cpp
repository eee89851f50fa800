#include "schema/codec_layout.h"

#include "schema/codec_parts.h"
// The compiler header that codec_parts.h includes comes first.
#include <capnp/schema.h>

#include <map>
#include <memory>

#include "engine/base/check.h"

namespace fairlead::stored {
namespace {

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
  static const StructLayout& event = layouts.of(capnp::Schema::from<Event>());
  return event;
}

}  // namespace fairlead::stored
