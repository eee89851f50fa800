#include "engine/fleet/model/protobuf_body.h"

#include <cstdint>
#include <map>
#include <string>

#include "engine/base/base64.h"
#include "engine/fleet/model/model_state.h"

namespace fairlead::model {
namespace {

/// The type of a field.
enum class FieldKind : std::uint8_t { text, flag, message, text_map, bytes_map, texts };
struct Message;
struct Field {
  const char* name;
  FieldKind kind;
  const Message* message = nullptr;
};
struct Message {
  std::map<std::uint64_t, Field> fields;
};

/// One field of the wire: its number and either a number or bytes.
struct WireField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;
  std::string_view bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }

  /// Reads the next field; nullopt at malformed bytes and at wire types that these messages lack.
  std::optional<WireField> field() {
    const std::optional<std::uint64_t> tag = varint();
    if (!tag) return std::nullopt;
    WireField field{*tag >> 3U, 0, {}};
    const std::optional<std::uint64_t> value = varint();
    if (!value) return std::nullopt;
    field.value = *value;
    if ((*tag & 7U) == 0) return field;
    if ((*tag & 7U) != 2 || *value > rest_.size()) return std::nullopt;
    field.bytes = rest_.substr(0, *value);
    rest_.remove_prefix(*value);
    return field;
  }

 private:
  std::string_view rest_;
};

bool read_entry(std::string_view bytes, FieldKind kind, Json& map) {
  std::string key, value;
  for (Reader reader(bytes); !reader.done();) {
    const std::optional<WireField> field = reader.field();
    if (!field) return false;
    (field->number == 1 ? key : value) = field->bytes;
  }
  map[key] = kind == FieldKind::bytes_map ? encode_base64(value) : value;
  return true;
}

bool read_message(std::string_view bytes, const Message& message, Json& object) {
  for (Reader reader(bytes); !reader.done();) {
    const std::optional<WireField> field = reader.field();
    if (!field) return false;
    auto known = message.fields.find(field->number);
    if (known == message.fields.end()) continue;
    const Field& as = known->second;
    switch (as.kind) {
      case FieldKind::text:
        if (!field->bytes.empty()) object[as.name] = std::string(field->bytes);
        break;
      case FieldKind::flag: object[as.name] = field->value != 0; break;
      case FieldKind::texts: object[as.name].push_back(std::string(field->bytes)); break;
      case FieldKind::text_map:
      case FieldKind::bytes_map:
        if (!read_entry(field->bytes, as.kind, object[as.name])) return false;
        break;
      case FieldKind::message: {
        Json below = Json::object();
        if (!read_message(field->bytes, *as.message, below)) return false;
        object[as.name] = std::move(below);
      }
    }
  }
  return true;
}

const Message* message_of(const std::string& kind) {
  static const Message meta{{{1, {"name", FieldKind::text}},
                             {2, {"generateName", FieldKind::text}},
                             {3, {"namespace", FieldKind::text}},
                             {11, {"labels", FieldKind::text_map}},
                             {12, {"annotations", FieldKind::text_map}},
                             {14, {"finalizers", FieldKind::texts}}}};
  static const std::map<std::string, Message> messages{
      {"Namespace", {{{1, {"metadata", FieldKind::message, &meta}}}}},
      {"ConfigMap",
       {{{1, {"metadata", FieldKind::message, &meta}},
         {2, {"data", FieldKind::text_map}},
         {3, {"binaryData", FieldKind::bytes_map}},
         {4, {"immutable", FieldKind::flag}}}}},
      {"Secret",
       {{{1, {"metadata", FieldKind::message, &meta}},
         {2, {"data", FieldKind::bytes_map}},
         {3, {"type", FieldKind::text}},
         {4, {"stringData", FieldKind::text_map}},
         {5, {"immutable", FieldKind::flag}}}}}};
  auto found = messages.find(kind);
  return found == messages.end() ? nullptr : &found->second;
}

}  // namespace

std::optional<Json> read_protobuf_object(std::string_view body) {
  constexpr std::string_view kMagic("k8s\0", 4);
  if (!body.starts_with(kMagic)) return std::nullopt;
  static const Message type_meta{
      {{1, {"apiVersion", FieldKind::text}}, {2, {"kind", FieldKind::text}}}};
  Json object = Json::object();
  std::string_view raw;
  for (Reader reader(body.substr(kMagic.size())); !reader.done();) {
    const std::optional<WireField> field = reader.field();
    if (!field) return std::nullopt;
    if (field->number == 1 && !read_message(field->bytes, type_meta, object)) return std::nullopt;
    if (field->number == 2) raw = field->bytes;
  }
  const Message* message = message_of(object.value("kind", ""));
  if (message == nullptr || !read_message(raw, *message, object)) return std::nullopt;
  return object;
}

}  // namespace fairlead::model
