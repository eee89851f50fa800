// Random events: rapidcheck makes them, and the codec must give them back.
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <boost/pfr.hpp>
#include <catch2/catch.hpp>

#include "schema/codec.h"
#include "schema/event_json.h"
#include "schema/fields/events.h"
#include "schema/fields/types.h"

namespace fairlead {
namespace {

template <class T>
T any() {
  return *rc::gen::arbitrary<T>();
}

// Makes random values. Members are found by reflection and not by their lists: one that its list
// forgets is not stored, and the event that is read differs.
class Random {
 public:
  template <class T>
  static void make(T& value) {
    if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(*rc::gen::inRange(0U, kValuesOf<T>));
    else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
      value = any<T>();
    else if constexpr (std::is_same_v<T, Digest>)
      value = any<bool>() ? sha256(any<std::string>()) : Digest{};
    else if constexpr (std::is_same_v<T, Quantity>)
      value = {any<std::int64_t>(), any_format()};  // what a text can say: within 64 bits of nano
    else if constexpr (std::is_same_v<T, SpelledQuantity>)
      value = Quantity{Int128{any<std::int64_t>()} * (Int128{1} << 62) + any<std::uint64_t>(),
                       any_format()};
    else
      make_whole(value);
  }

 private:
  static QuantityFormat any_format() {
    return any<bool>() ? QuantityFormat::binary_si : QuantityFormat::decimal_si;
  }
  template <class T>
  static void make_whole(T& value) {
    if constexpr (IsPacked<T>) {
      value = any<decltype(value.to_map())>();
    } else if constexpr (IsOptional<T>) {
      value.reset();
      if (any<bool>()) make(value.emplace());
    } else {
      boost::pfr::for_each_field(value, [](auto& member) { make(member); });
      tidy(value);
    }
  }
  static void make_whole(Facts& facts) {
    make_of_kind(facts, std::make_index_sequence<kKindCount>());
  }
  /// Of each kind, one as often as another.
  template <std::size_t... Kinds>
  static void make_of_kind(Facts& facts, std::index_sequence<Kinds...>) {
    static constexpr std::array<void (*)(Facts&), kKindCount> kMakes{
        [](Facts& of) { make(of.emplace<Kinds>()); }...};
    kMakes.at (*rc::gen::inRange<std::size_t>(0, kKindCount))(facts);
  }
  // A few: facts are deep, and lists of the usual size would make them large.
  template <class T>
  static void make_whole(std::vector<T>& items) {
    items.resize(static_cast<std::size_t>(*rc::gen::inRange(0, 3)));
    for (T& item : items) make(item);
  }
  template <class T>
  static void make_whole(SharedList<T>& items) {
    std::vector<T> made;
    make_whole(made);
    items = std::move(made);
  }
  template <class Key, class T>
  static void make_whole(std::map<Key, T>& map) {
    for (int count = *rc::gen::inRange(0, 3); count > 0; --count) {
      Key key{};
      make(key);
      make(map[key]);
    }
  }

  // What a value promises beyond its members.
  template <class T>
  static void tidy(T& value) {
    if constexpr (std::is_same_v<T, PodFacts>) value.set_origin(value.origin());
    if constexpr (std::is_same_v<T, SourceSynced> || std::is_same_v<T, SourceStale> ||
                  std::is_same_v<T, SourceLost>)
      if (value.kind) value.cluster.clear();
    // Facts are those of the kind that the key names.
    if constexpr (std::is_same_v<T, ObjectObserved>)
      value.key.kind = static_cast<Kind>(value.facts.index());
    if constexpr (std::is_same_v<T, PatchIntended>)
      if (value.expected) value.target.kind = static_cast<Kind>(value.expected->index());
  }
};

template <class T>
T any_value() {
  T value;
  Random::make(value);
  return value;
}

/// Often empty: what is absent at the end of a struct takes no place.
std::string any_text() { return any<bool>() ? any<std::string>() : std::string(); }

/// A node of which anything may be absent.
Event any_sparse_node() {
  Event event;
  const auto number = [] { return any<bool>() ? any<std::uint64_t>() : 0; };
  event.seq = Seq{number()};
  event.log_time = LogTime{static_cast<std::int64_t>(number())};
  event.epoch = Epoch{number()};
  event.cause = Seq{number()};
  event.source = any_text();
  NodeFacts node;
  if (any<bool>()) node = any_value<NodeFacts>();
  if (any<bool>()) node.labels = {};
  if (any<bool>()) node.allocatable = {};
  node.taints.resize(static_cast<std::size_t>(*rc::gen::inRange(0, 4)));
  const bool keys = any<bool>(), values = any<bool>(), effects = any<bool>();
  for (Taint& taint : node.taints)
    taint = {keys ? any_text() : "", values ? any_text() : "", effects ? any_text() : ""};
  ObjectObserved observed;
  observed.key = {Kind::node, any_text(), any_text()};
  observed.version = any_text();
  observed.uid = any_text();
  observed.resource_version = any_text();
  observed.generation = static_cast<std::int64_t>(number());
  observed.facts = node;
  if (any<bool>()) observed.raw_digest = sha256(any<std::string>());
  event.fact = observed;
  return event;
}

/// One to three words of `bytes` changed: by a bit, into another of them, or into zeros; or fewer
/// words or more.
std::string damaged(std::string bytes) {
  constexpr std::size_t kWord = 8;
  const auto below = [](std::size_t end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, end));
  };
  const std::size_t words = bytes.size() / kWord;
  for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
    char* const word = bytes.data() + below(words) * kWord;
    switch (below(3)) {
      case 0: word[below(kWord)] ^= static_cast<char>(1 << below(8)); break;
      case 1: std::copy_n(bytes.data() + below(words) * kWord, kWord, word); break;
      default: std::fill_n(word, kWord, '\0');
    }
  }
  if (below(8) == 0) bytes.resize((words + below(3)) * kWord);
  if (below(8) == 0) bytes.resize(below(words) * kWord);
  return bytes;
}

template <std::size_t... Sorts>
Fact any_fact_of(std::index_sequence<Sorts...>) {
  static constexpr std::array<Fact (*)(), sizeof...(Sorts)> kMakes{
      [] { return Fact(any_value<std::variant_alternative_t<Sorts, AnyFact>>()); }...};
  return kMakes.at(*rc::gen::inRange<std::size_t>(0, kMakes.size()))();
}
/// A fact of each sort, one as often as another, but for observations, which are half of them.
Fact any_fact() {
  if (any<bool>()) return any_value<ObjectObserved>();
  return any_fact_of(std::make_index_sequence<std::variant_size_v<AnyFact>>());
}

Event any_event() {
  Event event;
  event.seq = Seq{any<std::uint64_t>()};
  event.log_time = LogTime{any<std::int64_t>()};
  event.epoch = Epoch{any<std::uint64_t>()};
  event.source = any<std::string>();
  event.cause = Seq{any<std::uint64_t>()};
  event.fact = any_fact();
  return event;
}

TEST_CASE("Any event survives the codec, and its bytes are canonical") {
  CHECK(rc::check([] {
    const Event event = any_event();
    const std::string bytes = encode(event);
    const auto decoded = decode(bytes);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == event);
    RC_ASSERT(encode(*decoded) == bytes);
    std::string message;
    encode_as_message(event, message);
    RC_ASSERT(message == bytes);
  }));
}

TEST_CASE("Any event is printed") {
  CHECK(rc::check([] {
    const Json json = to_json(any_event());
    RC_ASSERT(json.contains("fact"));
  }));
}

TEST_CASE("A node is encoded as its message is, whatever is absent") {
  CHECK(rc::check([] {
    const Event event = any_sparse_node();
    std::string bytes(16, 'x');
    std::string message = bytes;
    encode_to(event, bytes);
    encode_as_message(event, message);
    RC_ASSERT(bytes == message);
    RC_ASSERT(*decode(std::string_view(bytes).substr(16)) == event);
  }));
}

TEST_CASE("A record of a node is read in place as its message is, whole or damaged") {
  CHECK(rc::check([] {
    const Event event = any_sparse_node();
    const std::string bytes = encode(event);
    Event read = any_sparse_node();
    RC_ASSERT(decode_into(bytes, read).has_value());
    RC_ASSERT(read == event);
    for (int i = 0; i < 20; ++i) {
      const std::string wrong = damaged(bytes);
      const auto judged = decode(wrong);
      const auto into = decode_into(wrong, read);
      RC_ASSERT(into.has_value() == judged.has_value());
      if (judged) RC_ASSERT(read == *judged);
      if (!judged) RC_ASSERT(into.error().message == judged.error().message);
    }
  }));
}

TEST_CASE("No bytes make the reader crash") {
  CHECK(rc::check([] {
    std::string bytes = any<std::string>();
    bytes.resize((bytes.size() + 7) / 8 * 8);
    const auto decoded = decode(bytes);
    if (decoded.has_value()) {
      RC_ASSERT(decode(encode(*decoded)).has_value());
    }
  }));
}

}  // namespace
}  // namespace fairlead
