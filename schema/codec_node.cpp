// The canonical bytes of what a log tells most: a node that was seen.
//
// Cap'n Proto builds a message in the order in which it is filled and copies it into canonical
// order afterwards; both cost more than everything else that is done to an event on its way to the
// disk. The canonical order is known before: each struct without the zeros at the end of its two
// sections, then what its pointers name, in their order. So a node is written once, where it stays.
// encode_as_message gives the same bytes for every event, and is what this is held against.
#include "schema/codec_parts.h"
// The compiler header that codec_parts.h includes comes first.
#include <capnp/generated-header-support.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "schema/codec.h"

namespace fairlead::stored {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
static_assert(std::endian::native == std::endian::little, "words are stored as they are");

/// Whether a struct has these sections: of one that has got more fields, more must be written.
template <class Struct>
constexpr bool has_sections(unsigned data_words, unsigned pointers) {
  return capnp::_::structSize<Struct>().data == data_words &&
         capnp::_::structSize<Struct>().pointers == pointers;
}
static_assert(has_sections<Event>(6, 2) && has_sections<ObjectObserved>(1, 6) &&
              has_sections<ObjectKey>(1, 2) && has_sections<Facts>(1, 1) &&
              has_sections<Node>(1, 5) && has_sections<Taint>(0, 3));
// The members of both unions, and the kind of a node, are told by these numbers.
static_assert(static_cast<unsigned>(Event::Fact::OBJECT_OBSERVED) == 5 &&
              static_cast<unsigned>(Facts::NODE) == 0 && static_cast<unsigned>(Kind::NODE) == 0);
constexpr std::uint64_t kObjectObserved = 5u << 16;

constexpr std::size_t words_for(std::size_t bytes) { return (bytes + kWord - 1) / kWord; }
/// A text ends with a zero; an empty one is absent.
std::size_t words_of_text(const std::string& text) {
  return text.empty() ? 0 : words_for(text.size() + 1);
}

/// Writes words one behind the other into memory that is all zeros.
class WordWriter {
 public:
  explicit WordWriter(char* begin) : begin_(begin) {}

  /// Where `count` words have been taken.
  std::size_t take(std::size_t count) {
    const std::size_t at = taken_;
    taken_ += count;
    return at;
  }
  std::size_t taken() const { return taken_; }
  void set(std::size_t at, std::uint64_t word) {
    std::memcpy(begin_ + at * kWord, &word, sizeof word);
  }

  /// Takes a struct and lets the pointer at `pointer` name it. One without sections is nowhere.
  std::size_t take_struct(std::size_t pointer, std::size_t data_words, std::size_t pointers) {
    const std::size_t at = take(data_words + pointers);
    const std::uint64_t sections = data_words << 32 | pointers << 48;
    set(pointer, sections == 0 ? 0xFFFFFFFCu : offset(pointer, at) | sections);
    return at;
  }
  void put(std::size_t pointer, const std::string& text) {
    if (!text.empty()) put_bytes(pointer, text, text.size() + 1);
  }
  void put(std::size_t pointer, std::string_view bytes) {
    if (!bytes.empty()) put_bytes(pointer, bytes, bytes.size());
  }
  /// Takes a list of `count` structs that have pointers only, and lets `pointer` name it. Gives
  /// where the first one is.
  std::size_t take_list(std::size_t pointer, std::size_t count, std::size_t pointers) {
    constexpr std::uint64_t kListOfStructs = 7;
    const std::size_t at = take(1 + count * pointers);
    set(pointer, offset(pointer, at) | 1 | kListOfStructs << 32 | count * pointers << 35);
    set(at, count << 2 | pointers << 48);
    return at + 1;
  }

 private:
  static std::uint64_t offset(std::size_t pointer, std::size_t at) {
    return (at - pointer - 1) << 2;
  }
  void put_bytes(std::size_t pointer, std::string_view bytes, std::uint64_t size) {
    constexpr std::uint64_t kListOfBytes = 2;
    const std::size_t at = take(words_for(size));
    set(pointer, offset(pointer, at) | 1 | kListOfBytes << 32 | size << 35);
    std::memcpy(begin_ + at * kWord, bytes.data(), bytes.size());
  }

  char* const begin_;
  std::size_t taken_ = 0;
};

void put_taints(WordWriter& out, std::size_t pointer, const std::vector<value::Taint>& taints) {
  if (taints.empty()) return;
  std::size_t pointers = 0;  // the most that one of them needs
  for (const value::Taint& taint : taints)
    pointers = std::max<std::size_t>(pointers, !taint.effect.empty()  ? 3
                                               : !taint.value.empty() ? 2
                                                                      : !taint.key.empty());
  std::size_t at = out.take_list(pointer, taints.size(), pointers);
  for (const value::Taint& taint : taints) {
    out.put(at, taint.key);
    if (!taint.value.empty()) out.put(at + 1, taint.value);
    if (!taint.effect.empty()) out.put(at + 2, taint.effect);
    at += pointers;
  }
}

void put_node(WordWriter& out, std::size_t pointer, const value::NodeFacts& node) {
  const std::uint64_t flags = (node.unschedulable ? 1u : 0u) | (node.ready ? 2u : 0u);
  const std::size_t pointers = !node.allocatable.empty() ? 5
                               : !node.labels.empty()    ? 4
                               : !node.taints.empty()    ? 2
                                                         : 0;
  std::size_t at = out.take_struct(pointer, flags != 0 ? 1 : 0, pointers);
  if (flags != 0) out.set(at++, flags);
  put_taints(out, at + 1, node.taints);
  if (!node.labels.empty()) out.put(at + 3, node.labels.bytes());
  if (!node.allocatable.empty()) out.put(at + 4, node.allocatable.bytes());
}

void put_observed(WordWriter& out, std::size_t pointer, const value::ObjectObserved& seen,
                  const value::NodeFacts& node) {
  std::size_t at = out.take_struct(pointer, seen.generation != 0 ? 1 : 0, 6);
  if (seen.generation != 0) out.set(at++, static_cast<std::uint64_t>(seen.generation));
  const value::ObjectKey& key = seen.key;
  const std::size_t names = !key.name.empty() ? 2 : !key.namespace_.empty() ? 1 : 0;
  const std::size_t in_key = out.take_struct(at, 0, names);
  if (names > 0) out.put(in_key, key.namespace_);
  if (names > 1) out.put(in_key + 1, key.name);
  out.put(at + 1, seen.version);
  out.put(at + 2, seen.uid);
  out.put(at + 3, seen.resource_version);
  const std::array<std::uint8_t, 32>& digest = seen.raw_digest.bytes;
  if (seen.raw_digest != Digest{})
    out.put(at + 4, std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
  put_node(out, out.take_struct(at + 5, 0, 1), node);
}

/// No fewer words than the record takes.
std::size_t words_at_most(const value::Event& event, const value::ObjectObserved& seen,
                          const value::NodeFacts& node) {
  constexpr std::size_t kFixed = 1 + 8 + 7 + 2 + 4 + 1 + 6 + 1;  // root, structs, digest, tag
  std::size_t words = kFixed + words_of_text(event.source) + words_of_text(seen.key.namespace_) +
                      words_of_text(seen.key.name) + words_of_text(seen.version) +
                      words_of_text(seen.uid) + words_of_text(seen.resource_version) +
                      words_for(node.labels.bytes().size()) +
                      words_for(node.allocatable.bytes().size());
  for (const value::Taint& taint : node.taints)
    words +=
        3 + words_of_text(taint.key) + words_of_text(taint.value) + words_of_text(taint.effect);
  return words;
}

}  // namespace

bool append_node(const value::Event& event, std::string& bytes) {
  const auto* seen = std::get_if<value::ObjectObserved>(&event.fact);
  if (seen == nullptr || seen->key.kind != value::Kind::node) return false;
  const auto* node = std::get_if<value::NodeFacts>(&seen->facts);
  if (node == nullptr) return false;
  const std::size_t words = words_at_most(event, *seen, *node);
  if (words * kWord > kRecordBytesMax) return false;  // sizes fit into their fields
  const std::size_t begin = bytes.size();
  bytes.resize(begin + words * kWord);
  WordWriter out(bytes.data() + begin);
  const std::array<std::uint64_t, 5> numbers{kSchemaVersion | kObjectObserved, event.seq.value,
                                             static_cast<std::uint64_t>(event.log_time.ns),
                                             event.epoch.value, event.cause.value};
  std::size_t data_words = numbers.size();
  while (numbers[data_words - 1] == 0) --data_words;
  const std::size_t root = out.take(1);
  std::size_t at = out.take_struct(root, data_words, 2);
  for (std::size_t i = 0; i < data_words; ++i) out.set(at++, numbers[i]);
  out.put(at, event.source);
  put_observed(out, at + 1, *seen, *node);
  bytes.resize(begin + out.taken() * kWord);
  return true;
}

}  // namespace fairlead::stored
