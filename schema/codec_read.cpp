// Reads what is listed of each struct (schema/fields/field.h).
#include "schema/codec_parts.h"
// The compiler header that codec_parts.h includes comes first.
#include <capnp/any.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <utility>

#include "schema/codec_layout.h"
#include "schema/fields/events.h"
#include "schema/fields/types.h"
#include "schema/write_rule.h"

namespace fairlead::stored {
namespace {

__extension__ using Uint128 = unsigned __int128;
/// A stored struct, and where its fields are. A struct of an older schema may be shorter: what it
/// lacks is zero or absent.
struct In {
  In(capnp::AnyStruct::Reader in, const StructLayout& of)
      : data(in.getDataSection()), pointers(in.getPointerSection()), layout(&of) {}

  kj::ArrayPtr<const kj::byte> data;
  capnp::List<capnp::AnyPointer>::Reader pointers;
  const StructLayout* layout;

  const FieldLayout& at(FieldName name) const { return layout->at(name); }
  capnp::AnyPointer::Reader pointer(const FieldLayout& at) const {
    return at.offset < pointers.size() ? pointers[at.offset] : capnp::AnyPointer::Reader();
  }
  template <class T>
  T number(std::uint32_t offset) const {
    T number = 0;
    if ((std::size_t{offset} + 1) * sizeof number <= data.size())
      std::memcpy(&number, data.begin() + offset * sizeof number, sizeof number);
    return number;
  }
  bool bit(const FieldLayout& at) const {
    return (number<std::uint8_t>(at.offset / 8) >> (at.offset % 8) & 1) != 0;
  }
  /// The struct or the group that is the field.
  In inside(const FieldLayout& at) const {
    if (at.sort != FieldSort::group) return {pointer(at).getAs<capnp::AnyStruct>(), *at.inner};
    In group = *this;
    group.layout = at.inner;
    return group;
  }
  /// Which member of its union is set.
  const FieldLayout& member(const char* fault) const {
    const auto which = number<std::uint16_t>(layout->discriminant_offset);
    if (which >= layout->members.size()) throw Malformed{fault};
    return *layout->members[which];
  }
};

template <class E>
E enum_of(std::uint16_t number, std::string_view name) {
  static_assert(kValuesOf<E> > 0, "kValuesOf says how many values it has");
  if (number >= kValuesOf<E>)
    throw Malformed{std::string(name) + " has the unknown value " + std::to_string(number)};
  return static_cast<E>(number);
}

/// Of a text in records: absent, it is the first value.
template <HasWords E>
E enum_of_word(capnp::Text::Reader word, std::string_view name) {
  if (word.size() == 0) return E{};
  const auto value = parse_word<E>({word.begin(), word.size()});
  if (!value) throw Malformed{std::string(name) + " has the unknown value " + word.cStr()};
  return *value;
}

/// The visitor that reads a struct.
class StructReader {
 public:
  explicit StructReader(In in) : in_(in) {}

  template <class T>
  void field(FieldName name, T& value, const FieldStyle& style = kUsual) {
    const FieldLayout& from = in_.at(name);
    // Absent, settings would read as zeros, which are not their defaults.
    if (style.late && in_.pointer(from).isNull())
      value = T{};
    else
      get(in_, from, value);
  }
  template <class T>
  void unprinted(FieldName name, T& value) {
    field(name, value);
  }
  template <class T>
  void flagged(FieldName flag, FieldName name, T& value, const FieldStyle& = kUsual) {
    value.reset();
    if (is_set(flag)) get(in_, in_.at(name), value.emplace());
  }
  template <class T, class List>
  void given(FieldName flag, T& value, const FieldStyle&, const List& list) {
    value.reset();
    if (is_set(flag)) list(*this, value.emplace());
  }
  void derived(FieldName flag, bool holds) {
    if (is_set(flag) != holds)
      throw Malformed{std::string(flag.text) + " says otherwise than the field beside it"};
  }
  void presence(FieldName flag) { present_ = is_set(flag); }
  template <class List>
  void group(const char*, const List& list, EmptyGroup = EmptyGroup::left_out) {
    list(*this);
  }
  template <class T>
  void printed(const char*, const T&) {}
  template <class Map>
  void formerly(FieldName name, Map& map) {
    if (map.empty()) get(in_, in_.at(name), map);
  }
  void source(std::optional<value::Kind>& kind, std::string& cluster) {
    const In of = in_.inside(in_.at("of"));
    // A newer program may add a member to the union, but its records are refused by their version
    // before this is read. So it is damage.
    const FieldLayout& which = of.member("a source is neither a kind nor a cluster");
    if (which.sort == FieldSort::text)
      get(of, which, cluster);
    else
      get(of, which, kind.emplace());
  }

  /// Whether the struct says that it is there.
  bool present() const { return present_; }

  static void get(const In& in, const FieldLayout& from, std::string& text) {
    const auto stored = in.pointer(from).getAs<capnp::Text>();
    text.assign(stored.begin(), stored.size());
  }
  static void get(const In& in, const FieldLayout& from, Digest& digest) {
    digest = digest_of_bytes(in.pointer(from).getAs<capnp::Data>());
  }
  static void get(const In& in, const FieldLayout& from, bool& bit) { bit = in.bit(from); }
  template <std::integral T>
  static void get(const In& in, const FieldLayout& from, T& number) {
    number = in.number<T>(from.offset);
  }
  template <IsTime T>
  static void get(const In& in, const FieldLayout& from, T& time) {
    get(in, from, time.ns);
  }
  static void get(const In& in, const FieldLayout& from, Seq& seq) { get(in, from, seq.value); }
  template <class E>
    requires std::is_enum_v<E>
  static void get(const In& in, const FieldLayout& from, E& value) {
    if constexpr (HasWords<E>)
      if (from.sort == FieldSort::text) {
        value = enum_of_word<E>(in.pointer(from).getAs<capnp::Text>(), from.name);
        return;
      }
    value = enum_of<E>(in.number<std::uint16_t>(from.offset), from.name);
  }
  static value::Quantity quantity_of(capnp::Text::Reader text) {
    const auto quantity = value::Quantity::parse({text.begin(), text.size()});
    // Only canonical texts of quantities are written, so one that does not parse is damage.
    if (!quantity) throw Malformed{std::string("a quantity is malformed: ") + text.cStr()};
    return *quantity;
  }
  static void get(const In& in, const FieldLayout& from, value::Quantity& quantity) {
    if (from.sort == FieldSort::text)
      quantity = quantity_of(in.pointer(from).getAs<capnp::Text>());
    else
      quantity = of_halves(in.inside(from));
  }
  static void get(const In& in, const FieldLayout& from, value::SpelledQuantity& quantity) {
    const In stored = in.inside(from);
    std::string spelling;
    get(stored, stored.at("text"), spelling);
    quantity = {of_halves(stored), std::move(spelling)};
  }
  static value::Quantity of_halves(const In& in) {
    const auto high = static_cast<Uint128>(in.number<std::uint64_t>(in.at("high").offset));
    value::QuantityFormat format{};
    get(in, in.at("format"), format);
    return {static_cast<Int128>(high << 64 | in.number<std::uint64_t>(in.at("low").offset)),
            format};
  }

  static void get(const In& in, const FieldLayout& from, std::optional<std::string>& text) {
    text.reset();
    StructReader reader(in.inside(from));
    std::string given;
    reader.field("text", given);
    if (reader.is_set("present"))
      text = std::move(given);
    else if (!given.empty())
      // A text is written only beside `present`: else one value would have two stored forms.
      throw Malformed{"a text that is absent has a value"};
  }
  template <IsOptional T>
  static void get(const In& in, const FieldLayout& from, T& value) {
    value.reset();
    if (from.sort == FieldSort::group) {
      // A union of `none` and the value.
      const In group = in.inside(from);
      const FieldLayout& member = group.member("a value that may be absent is neither");
      if (member.discriminant != 0) get(group, member, value.emplace());
    } else if (!in.pointer(from).isNull() && !get_present(in, from, value.emplace())) {
      value.reset();
    }
  }
  template <class T>
  static bool get_present(const In& in, const FieldLayout& from, T& value) {
    if constexpr (IsStruct<T> && !std::derived_from<T, value::Quantity> &&
                  !std::same_as<T, value::Facts>) {
      StructReader reader(in.inside(from));
      fields(reader, value);
      return reader.present();
    } else {
      get(in, from, value);
      return true;
    }
  }
  template <IsStruct T>
  static void get(const In& in, const FieldLayout& from, T& value) {
    StructReader reader(in.inside(from));
    fields(reader, value);
  }

  static void get(const In& in, const FieldLayout& from, value::Facts& facts) {
    const In of = in.inside(from);
    const FieldLayout& kind = of.member("the facts are of an unknown kind");
    with_kind<void>(static_cast<value::Kind>(kind.discriminant),
                    [&]<class F>(KindOf<F>) { get(of, kind, facts.emplace<F>()); });
  }

  static capnp::List<capnp::AnyStruct>::Reader structs_at(const In& in, const FieldLayout& from) {
    const auto list = in.pointer(from).getAs<capnp::AnyList>();
    if (list.size() > 0 && list.getElementSize() != capnp::ElementSize::INLINE_COMPOSITE)
      throw Malformed{"a list has items that are no structs"};
    return list.as<capnp::List<capnp::AnyStruct>>();
  }
  template <class Item>
  static auto list_at(const In& in, const FieldLayout& from) {
    return in.pointer(from).getAs<capnp::List<Item>>();
  }
  static void get(const In& in, const FieldLayout& from, std::vector<std::string>& texts) {
    const auto list = list_at<capnp::Text>(in, from);
    texts.clear();
    texts.reserve(list.size());
    for (const auto text : list) texts.emplace_back(text.begin(), text.size());
  }
  static void get(const In& in, const FieldLayout& from, std::vector<value::Quantity>& quantities) {
    quantities.clear();
    for (const auto text : list_at<capnp::Text>(in, from)) quantities.push_back(quantity_of(text));
  }
  static void get(const In& in, const FieldLayout& from, std::vector<Seq>& seqs) {
    seqs.clear();
    for (const std::uint64_t seq : list_at<std::uint64_t>(in, from)) seqs.push_back({seq});
  }
  template <class E>
    requires std::is_enum_v<E>
  static void get(const In& in, const FieldLayout& from, std::vector<E>& values) {
    values.clear();
    for (const std::uint16_t value : list_at<std::uint16_t>(in, from))
      values.push_back(enum_of<E>(value, from.name));
  }
  template <IsStruct T>
  static void get(const In& in, const FieldLayout& from, std::vector<T>& items) {
    const auto list = structs_at(in, from);
    items.clear();
    items.reserve(list.size());
    for (const auto item : list) {
      StructReader reader(In(item, *from.inner));
      fields(reader, items.emplace_back());
    }
  }
  template <class T>
  static void get(const In& in, const FieldLayout& from, SharedList<T>& items) {
    std::vector<T> read;
    get(in, from, read);
    items = std::move(read);
  }
  /// A map is stored as a list with strictly ascending keys.
  template <class Key, class T>
  static void get(const In& in, const FieldLayout& from, std::map<Key, T>& map) {
    map.clear();
    for (const auto item : structs_at(in, from)) {
      const In pair(item, *from.inner);
      Key key{};
      get(pair, from.inner->fields.at(0), key);
      if (!map.empty() && map.rbegin()->first >= key) throw Malformed{"a map is not sorted"};
      T& value = map.emplace_hint(map.end(), std::move(key), T{})->second;
      get(pair, from.inner->fields.at(1), value);
    }
  }
  static std::string_view item_of(const In& pair, const FieldLayout& from, std::string_view) {
    const auto text = pair.pointer(from).getAs<capnp::Text>();
    return {text.begin(), text.size()};
  }
  static std::int64_t item_of(const In& pair, const FieldLayout& from, std::int64_t) {
    return pair.number<std::int64_t>(from.offset);
  }
  template <IsPacked Map>
  static void get(const In& in, const FieldLayout& from, Map& map) {
    if (from.sort == FieldSort::data) {
      const auto chars = in.pointer(from).getAs<capnp::Data>().asChars();
      auto read = Map::from_bytes({chars.begin(), chars.size()});
      if (!read) throw Malformed{"a packed map is not one"};
      map = *std::move(read);
      return;
    }
    const auto list = structs_at(in, from);
    const auto item = [&](std::size_t i) -> typename Map::value_type {
      const In pair(list[static_cast<unsigned>(i)], *from.inner);
      return {item_of(pair, from.inner->fields.at(0), std::string_view()),
              item_of(pair, from.inner->fields.at(1), typename Map::value_type::second_type())};
    };
    if (!map.assign_sorted(list.size(), item)) throw Malformed{"a map is not sorted"};
  }

 private:
  In in_;
  bool present_ = true;

  bool is_set(FieldName flag) const { return in_.bit(in_.at(flag)); }
};

template <class T>
T fact_of(const In& in, const FieldLayout& from) {
  T fact;
  if constexpr (std::same_as<T, TimerFired>)
    StructReader::get(in, from, fact.deadline);
  else if constexpr (std::same_as<T, ConfigChanged>)
    StructReader::get(in, from, fact.configuration);
  else
    StructReader::get(in, from, fact);
  return fact;
}

template <std::size_t... Facts>
void read_fact(const In& in, value::Fact& fact, std::index_sequence<Facts...>) {
  using Read = void (*)(const In&, const FieldLayout&, value::Fact&);
  static constexpr std::array<Read, sizeof...(Facts)> kReads{
      [](const In& of, const FieldLayout& from, value::Fact& into) {
        into = fact_of<std::variant_alternative_t<Facts, value::Fact::Base>>(of, from);
      }...};
  const FieldLayout& which = in.member("the fact is of an unknown kind");
  kReads.at(which.discriminant)(in, which, fact);
}

/// The schema version from which on an intent says its place in the order of writes.
constexpr std::uint16_t kOrderStoredSince = 7;

// The key's kind and the member of the union are stored apart: a record in which they differ would
// be folded as another kind.
void check_kind(const value::Facts& facts, const value::ObjectKey& key) {
  if (facts.index() != static_cast<std::size_t>(key.kind))
    throw Malformed{"the facts are not those of a " + std::string(info(key.kind).name)};
}

}  // namespace

Digest digest_of_bytes(capnp::Data::Reader bytes) {
  Digest digest;
  if (bytes.size() == 0) return digest;
  if (bytes.size() != digest.bytes.size())
    throw Malformed{"a digest has " + std::to_string(bytes.size()) + " bytes"};
  std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
  return digest;
}

value::Event read(Event::Reader in) {
  value::Event event{
      Seq{in.getSeq()},     LogTime{in.getLogTime()},
      Epoch{in.getEpoch()}, std::string(in.getSource().begin(), in.getSource().size()),
      Seq{in.getCause()},   {}};
  const In whole(capnp::toAny(in), event_layout());
  read_fact(whole.inside(whole.at("fact")), event.fact,
            std::make_index_sequence<std::variant_size_v<value::Fact::Base>>());
  if (const auto* seen = std::get_if<value::ObjectObserved>(&event.fact))
    check_kind(seen->facts, seen->key);
  if (const auto* intent = std::get_if<value::PatchIntended>(&event.fact); intent)
    if (intent->expected) check_kind(*intent->expected, intent->target);
  if (in.getSchemaVersion() < kOrderStoredSince)
    if (auto* intent = std::get_if<value::PatchIntended>(&event.fact))
      std::tie(intent->direction, intent->rank) =
          order_of_rule(intent->reason.rule, intent->target.kind);
  return event;
}

}  // namespace fairlead::stored
