// Stores what is listed of each struct (schema/fields/field.h).
#include "schema/codec_parts.h"
// The compiler header that codec_parts.h includes comes first.
#include <capnp/any.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "schema/codec_layout.h"
#include "schema/fields/events.h"
#include "schema/fields/types.h"

namespace fairlead::stored {
namespace {

__extension__ using Uint128 = unsigned __int128;
static_assert(std::endian::native == std::endian::little, "numbers are stored as they are");

/// A struct that is being built, and where its fields go.
struct Out {
  Out(capnp::AnyStruct::Builder out, const StructLayout& of)
      : data(out.getDataSection().begin()), pointers(out.getPointerSection()), layout(&of) {}

  kj::byte* data;
  capnp::List<capnp::AnyPointer>::Builder pointers;
  const StructLayout* layout;

  const FieldLayout& at(FieldName name) const { return layout->at(name); }
  capnp::AnyPointer::Builder pointer(const FieldLayout& at) { return pointers[at.offset]; }

  template <class T>
  void set(const FieldLayout& at, T number, FieldSort sort) {
    check(at.sort == sort, "a number has the type of its field");
    std::memcpy(data + at.offset * sizeof number, &number, sizeof number);
    select(at);
  }
  void set_bit(const FieldLayout& at, bool bit) {
    check(at.sort == FieldSort::bit, "a truth value has the type of its field");
    if (bit) data[at.offset / 8] |= static_cast<kj::byte>(1U << (at.offset % 8));
  }
  /// Says in a union that this member is there.
  void select(const FieldLayout& at) {
    if (!at.in_union) return;
    std::memcpy(data + layout->discriminant_offset * sizeof at.discriminant, &at.discriminant,
                sizeof at.discriminant);
  }
  /// The struct or the group that is the field.
  Out inside(const FieldLayout& at) {
    select(at);
    if (at.sort == FieldSort::group) {
      Out group = *this;
      group.layout = at.inner;
      return group;
    }
    check(at.sort == FieldSort::structure, "a struct has the type of its field");
    return {pointer(at).initAsAnyStruct(at.inner->data_words, at.inner->pointers), *at.inner};
  }
};

/// The visitor that stores a struct.
class StructWriter {
 public:
  explicit StructWriter(Out out) : out_(out) {}

  template <class T>
  void field(FieldName name, const T& value, const FieldStyle& style = kUsual) {
    if constexpr (IsStruct<T> && std::equality_comparable<T> && std::default_initializable<T>)
      if (style.late && value == T{}) return;
    put(out_, out_.at(name), value);
  }
  template <class T>
  void unprinted(FieldName name, const T& value) {
    field(name, value);
  }
  template <class T>
  void flagged(FieldName flag, FieldName name, const T& value, const FieldStyle& = kUsual) {
    out_.set_bit(out_.at(flag), value.has_value());
    if (value) put(out_, out_.at(name), *value);
  }
  template <class T, class List>
  void given(FieldName flag, const T& value, const FieldStyle&, const List& list) {
    out_.set_bit(out_.at(flag), value.has_value());
    if (value) list(*this, *value);
  }
  void derived(FieldName flag, bool holds) { out_.set_bit(out_.at(flag), holds); }
  void presence(FieldName flag) { out_.set_bit(out_.at(flag), true); }
  template <class List>
  void group(const char*, const List& list, EmptyGroup = EmptyGroup::left_out) {
    list(*this);
  }
  template <class T>
  void printed(const char*, const T&) {}
  template <class T>
  void formerly(FieldName, const T&) {}
  void source(const std::optional<value::Kind>& kind, const std::string& cluster) {
    Out of = out_.inside(out_.at("of"));
    if (kind) return put(of, of.at("kind"), *kind);
    of.select(of.at("cluster"));
    of.pointer(of.at("cluster")).setAs<capnp::Text>({cluster.data(), cluster.size()});
  }

  static void put(Out& out, const FieldLayout& at, const std::string& text) {
    check(at.sort == FieldSort::text, "a text has the type of its field");
    if (text.empty()) return;
    out.pointer(at).setAs<capnp::Text>({text.data(), text.size()});
  }
  static void put(Out& out, const FieldLayout& at, std::string_view text) {
    check(at.sort == FieldSort::text, "a text has the type of its field");
    if (text.empty()) return;
    // Copied bytewise: setAs expects the NUL behind a text, which a view need not have.
    auto stored = out.pointer(at).initAs<capnp::Text>(static_cast<unsigned>(text.size()));
    std::copy(text.begin(), text.end(), stored.begin());
  }
  static void put_bytes(Out& out, const FieldLayout& at, capnp::Data::Reader bytes) {
    check(at.sort == FieldSort::data, "bytes have the type of their field");
    if (bytes.size() > 0) out.pointer(at).setAs<capnp::Data>(bytes);
  }
  static void put(Out& out, const FieldLayout& at, const Digest& digest) {
    if (digest != Digest{}) put_bytes(out, at, bytes_of(digest));
  }
  static void put(Out& out, const FieldLayout& at, bool bit) { out.set_bit(at, bit); }
  template <std::integral T>
  static void put(Out& out, const FieldLayout& at, T number) {
    out.set(at, number, sizeof number == 8 ? FieldSort::bits64 : FieldSort::bits32);
  }
  template <IsTime T>
  static void put(Out& out, const FieldLayout& at, T time) {
    put(out, at, time.ns);
  }
  static void put(Out& out, const FieldLayout& at, Seq seq) { put(out, at, seq.value); }
  template <class E>
    requires std::is_enum_v<E>
  static void put(Out& out, const FieldLayout& at, E value) {
    if constexpr (HasWords<E>)
      if (at.sort == FieldSort::text) return put(out, at, text_of(value));
    out.set(at, static_cast<std::uint16_t>(value), FieldSort::bits16);
  }
  static void put(Out& out, const FieldLayout& at, const value::Quantity& quantity) {
    if (at.sort == FieldSort::text) return put(out, at, quantity.text());
    put_halves(out.inside(at), quantity);
  }
  static void put(Out& out, const FieldLayout& at, const value::SpelledQuantity& quantity) {
    Out stored = out.inside(at);
    put_halves(stored, quantity);
    put(stored, stored.at("text"), quantity.spelling());
  }
  // Two's complement in both halves: unsigned shifts are defined for negative amounts too.
  static void put_halves(Out out, const value::Quantity& quantity) {
    const auto bits = static_cast<Uint128>(quantity.nano());
    put(out, out.at("high"), static_cast<std::uint64_t>(bits >> 64));
    put(out, out.at("low"), static_cast<std::uint64_t>(bits));
    put(out, out.at("format"), quantity.format());
  }

  static void put(Out& out, const FieldLayout& at, const std::optional<std::string>& text) {
    if (!text) return;
    StructWriter writer(out.inside(at));
    writer.presence("present");
    writer.field("text", *text);
  }
  template <IsOptional T>
  static void put(Out& out, const FieldLayout& at, const T& value) {
    if (!value) return;
    if (at.sort != FieldSort::group) return put(out, at, *value);
    // A union of `none` and the value.
    Out group = out.inside(at);
    put(group, *at.inner->members.at(1), *value);
  }
  template <IsStruct T>
  static void put(Out& out, const FieldLayout& at, const T& value) {
    StructWriter writer(out.inside(at));
    fields(writer, value);
  }
  static void put(Out& out, const FieldLayout& at, const value::Facts& facts) {
    Out stored = out.inside(at);
    const FieldLayout& kind = *at.inner->members.at(facts.index());
    std::visit([&](const auto& of_kind) { put(stored, kind, of_kind); },
               static_cast<const value::Facts::Base&>(facts));
  }

  static void put(Out& out, const FieldLayout& at, const std::vector<std::string>& texts) {
    check(at.sort == FieldSort::texts, "a list of texts has the type of its field");
    if (texts.empty()) return;
    auto list =
        out.pointer(at).initAs<capnp::List<capnp::Text>>(static_cast<unsigned>(texts.size()));
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, {texts[i].data(), texts[i].size()});
  }
  static void put(Out& out, const FieldLayout& at, const std::vector<value::Quantity>& quantities) {
    std::vector<std::string> texts;
    for (const value::Quantity& quantity : quantities) texts.push_back(quantity.text());
    put(out, at, texts);
  }
  /// A list of numbers of one width.
  template <class Number, class Items, class Convert>
  static void put_numbers(Out& out, const FieldLayout& at, const Items& items,
                          const Convert& number_of) {
    if (items.empty()) return;
    auto list = out.pointer(at).initAs<capnp::List<Number>>(static_cast<unsigned>(items.size()));
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, number_of(items[i]));
  }
  static void put(Out& out, const FieldLayout& at, const std::vector<Seq>& seqs) {
    check(at.sort == FieldSort::words64, "a list of numbers has the type of its field");
    put_numbers<std::uint64_t>(out, at, seqs, [](Seq seq) { return seq.value; });
  }
  template <class E>
    requires std::is_enum_v<E>
  static void put(Out& out, const FieldLayout& at, const std::vector<E>& values) {
    check(at.sort == FieldSort::words16, "a list of enumerants has the type of its field");
    put_numbers<std::uint16_t>(out, at, values,
                               [](E value) { return static_cast<std::uint16_t>(value); });
  }
  /// A list of structs, of the items of a list or of the pairs of a map.
  template <class Items>
  static void put_items(Out& out, const FieldLayout& at, const Items& items) {
    check(at.sort == FieldSort::structures, "a list has the type of its field");
    if (items.empty()) return;
    auto list = out.pointer(at).initAsListOfAnyStruct(at.inner->data_words, at.inner->pointers,
                                                      static_cast<unsigned>(items.size()));
    unsigned index = 0;
    for (const auto& item : items) put_item({list[index++], *at.inner}, item);
  }
  template <class T>
  static void put_item(Out out, const T& item) {
    StructWriter writer(out);
    fields(writer, item);
  }
  /// The first field of the struct is the key, the second the value.
  template <class Pair>
  static void put_item(Out out, const Pair& pair)
    requires requires { pair.second; }
  {
    put(out, out.layout->fields.at(0), pair.first);
    put(out, out.layout->fields.at(1), pair.second);
  }
  template <IsStruct T>
  static void put(Out& out, const FieldLayout& at, const std::vector<T>& items) {
    put_items(out, at, items);
  }
  template <class T>
  static void put(Out& out, const FieldLayout& at, const SharedList<T>& items) {
    put_items(out, at, items);
  }
  template <class Key, class T>
  static void put(Out& out, const FieldLayout& at, const std::map<Key, T>& map) {
    put_items(out, at, map);
  }
  template <IsPacked Map>
  static void put(Out& out, const FieldLayout& at, const Map& map) {
    if (at.sort == FieldSort::structures)
      put_items(out, at, map);
    else if (map.is_based())
      put_packed(out, at, map.whole().bytes());
    else
      put_packed(out, at, map.bytes());
  }
  static void put_packed(Out& out, const FieldLayout& at, std::string_view bytes) {
    put_bytes(out, at, {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()});
  }

 private:
  Out out_;
};

void put_fact(Out& out, const FieldLayout& at, const TimerFired& fact) {
  StructWriter::put(out, at, fact.deadline);
}
void put_fact(Out& out, const FieldLayout& at, const ConfigChanged& fact) {
  StructWriter::put(out, at, fact.configuration);
}
template <class T>
void put_fact(Out& out, const FieldLayout& at, const T& fact) {
  StructWriter::put(out, at, fact);
}

}  // namespace

void write(const value::Event& event, Event::Builder builder) {
  builder.setSeq(event.seq.value);
  builder.setLogTime(event.log_time.ns);
  builder.setEpoch(event.epoch.value);
  builder.setCause(event.cause.value);
  if (!event.source.empty()) builder.setSource({event.source.data(), event.source.size()});
  Out out(capnp::toAny(builder), event_layout());
  Out fact = out.inside(out.at("fact"));
  const FieldLayout& which = *fact.layout->members.at(event.fact.index());
  std::visit([&](const auto& of) { put_fact(fact, which, of); },
             static_cast<const value::Fact::Base&>(event.fact));
}

}  // namespace fairlead::stored
