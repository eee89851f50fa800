// Encodes and decodes the most frequent event, an observed node, without Cap'n Proto's builders
// (docs/decisions/0019-node-codec-by-hand.md).
//
// Cap'n Proto builds a message in the order in which it is filled and copies it into canonical
// order afterwards; both cost more than all other work on an event before it reaches the disk. The
// canonical order is known in advance: each struct without the zeros at the end of its two
// sections, then the targets of its pointers, in their order. So a node is written once, in place.
// encode_as_message() gives the same bytes for every event; tests compare the two.
//
// Following each pointer makes reading as expensive. In canonical order each target begins where
// the one before it ended: the reader compares the pointers with that position, and leaves a record
// in which one differs to Cap'n Proto.
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

/// Whether a struct has sections of this size. If a field is added, the code below must write it.
template <class Struct>
constexpr bool has_sections(unsigned data_words, unsigned pointers) {
  return capnp::_::structSize<Struct>().data == data_words &&
         capnp::_::structSize<Struct>().pointers == pointers;
}
static_assert(has_sections<Event>(6, 2) && has_sections<ObjectObserved>(2, 7) &&
              has_sections<ObjectKey>(1, 2) && has_sections<Facts>(1, 1) &&
              has_sections<Node>(1, 5) && has_sections<Taint>(0, 3));
// The code below relies on these numbers of the union members and of the kind of a node.
static_assert(static_cast<unsigned>(Event::Fact::OBJECT_OBSERVED) == 5 &&
              static_cast<unsigned>(Facts::NODE) == 0 && static_cast<unsigned>(Kind::NODE) == 0);
constexpr std::uint64_t kObjectObserved = 5u << 16;

constexpr std::size_t words_for(std::size_t bytes) { return (bytes + kWord - 1) / kWord; }
/// Words of a stored text, which ends with a zero byte; an empty text is absent.
std::size_t words_of_text(const std::string& text) {
  return text.empty() ? 0 : words_for(text.size() + 1);
}

// Cap'n Proto's pointers. `pointer` and `at` are the positions, in words, of the pointer and of its
// target.
constexpr std::uint64_t kListOfBytes = 2;
constexpr std::uint64_t kListOfStructs = 7;
constexpr std::uint64_t offset(std::size_t pointer, std::size_t at) {
  return (at - pointer - 1) << 2;
}
constexpr std::uint64_t to_struct(std::size_t pointer, std::size_t at, std::uint64_t sections) {
  return offset(pointer, at) | sections;
}
constexpr std::uint64_t to_bytes(std::size_t pointer, std::size_t at, std::uint64_t size) {
  return offset(pointer, at) | 1 | kListOfBytes << 32 | size << 35;
}
constexpr std::uint64_t to_structs(std::size_t pointer, std::size_t at, std::uint64_t words) {
  return offset(pointer, at) | 1 | kListOfStructs << 32 | words << 35;
}
/// The sizes of a struct's sections as its pointer encodes them.
constexpr std::uint64_t sections_of(std::size_t data_words, std::size_t pointers) {
  return std::uint64_t{data_words} << 32 | std::uint64_t{pointers} << 48;
}

/// Allocates and writes words in order, in memory that is zeroed.
class WordWriter {
 public:
  explicit WordWriter(char* begin) : begin_(begin) {}

  /// Allocates `count` words and returns the position of the first.
  std::size_t allocate(std::size_t count) {
    const std::size_t at = allocated_;
    allocated_ += count;
    return at;
  }
  std::size_t allocated() const { return allocated_; }
  void set(std::size_t at, std::uint64_t word) {
    std::memcpy(begin_ + at * kWord, &word, sizeof word);
  }

  /// Allocates a struct and points `pointer` at it. The canonical pointer to a struct without
  /// sections has the offset -1.
  std::size_t allocate_struct(std::size_t pointer, std::size_t data_words, std::size_t pointers) {
    const std::size_t at = allocate(data_words + pointers);
    const std::uint64_t sections = sections_of(data_words, pointers);
    set(pointer, sections == 0 ? 0xFFFFFFFCu : to_struct(pointer, at, sections));
    return at;
  }
  void put(std::size_t pointer, const std::string& text) {
    if (!text.empty()) put_bytes(pointer, text, text.size() + 1);
  }
  void put(std::size_t pointer, std::string_view bytes) {
    if (!bytes.empty()) put_bytes(pointer, bytes, bytes.size());
  }
  /// Allocates a list of `count` structs that have pointers only, and points `pointer` at it.
  /// Returns the position of the first struct.
  std::size_t allocate_list(std::size_t pointer, std::size_t count, std::size_t pointers) {
    const std::size_t at = allocate(1 + count * pointers);
    set(pointer, to_structs(pointer, at, count * pointers));
    set(at, count << 2 | sections_of(0, pointers));
    return at + 1;
  }

 private:
  void put_bytes(std::size_t pointer, std::string_view bytes, std::uint64_t size) {
    const std::size_t at = allocate(words_for(size));
    set(pointer, to_bytes(pointer, at, size));
    std::memcpy(begin_ + at * kWord, bytes.data(), bytes.size());
  }

  char* const begin_;
  std::size_t allocated_ = 0;
};

void put_taints(WordWriter& out, std::size_t pointer, const std::vector<value::Taint>& taints) {
  if (taints.empty()) return;
  std::size_t pointers = 0;  // of each element: as many as the largest one needs
  for (const value::Taint& taint : taints)
    pointers = std::max<std::size_t>(pointers, !taint.effect.empty()  ? 3
                                               : !taint.value.empty() ? 2
                                                                      : !taint.key.empty());
  std::size_t at = out.allocate_list(pointer, taints.size(), pointers);
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
  // Pointers 0 and 2 are the lists of version 1, which are no longer written and stay null.
  std::size_t at = out.allocate_struct(pointer, flags != 0 ? 1 : 0, pointers);
  if (flags != 0) out.set(at++, flags);
  put_taints(out, at + 1, node.taints);
  if (!node.labels.empty()) out.put(at + 3, node.labels.bytes());
  if (!node.allocatable.empty()) out.put(at + 4, node.allocatable.bytes());
}

void put_observed(WordWriter& out, std::size_t pointer, const value::ObjectObserved& seen,
                  const value::NodeFacts& node) {
  std::size_t at = out.allocate_struct(pointer, seen.generation != 0 ? 1 : 0, 6);
  if (seen.generation != 0) out.set(at++, static_cast<std::uint64_t>(seen.generation));
  const value::ObjectKey& key = seen.key;
  const std::size_t names = !key.name.empty() ? 2 : !key.namespace_.empty() ? 1 : 0;
  const std::size_t in_key = out.allocate_struct(at, 0, names);
  if (names > 0) out.put(in_key, key.namespace_);
  if (names > 1) out.put(in_key + 1, key.name);
  out.put(at + 1, seen.version);
  out.put(at + 2, seen.uid);
  out.put(at + 3, seen.resource_version);
  const std::array<std::uint8_t, 32>& digest = seen.raw_digest.bytes;
  if (seen.raw_digest != Digest{})
    out.put(at + 4, std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
  put_node(out, out.allocate_struct(at + 5, 0, 1), node);
}

/// Returns an upper bound on the words of the record.
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

/// The position of a struct in words, and the sizes of its data and pointer sections.
struct Place {
  std::size_t at = 0;
  std::size_t data_words = 0;
  std::size_t pointers = 0;
};

/// Reads what WordWriter writes. After the first mismatch it reads nothing more.
class WordReader {
 public:
  explicit WordReader(std::string_view bytes)
      : bytes_(bytes),
        words_(bytes.size() / kWord),
        fits_(bytes.size() >= kWord && bytes.size() <= kRecordBytesMax &&
              bytes.size() % kWord == 0) {}

  /// Whether everything matched and all words were consumed.
  bool ended() const { return fits_ && read_ == words_; }
  /// Adds a condition of the caller.
  void expect(bool fits) { fits_ = fits_ && fits; }

  /// Returns a word of a struct's data; 0 for one that was truncated.
  std::uint64_t data(const Place& place, std::size_t index) const {
    return index < place.data_words ? word(place.at + index) : 0;
  }
  /// Consumes the root struct.
  Place read_root(std::size_t data_words_max, std::size_t pointers_max) {
    return read(1) ? named(0, data_words_max, pointers_max) : Place{};
  }
  /// Consumes the struct that a pointer of `from` names. It must exist and not exceed these sizes.
  Place read_struct(const Place& from, std::size_t index, std::size_t data_words_max,
                    std::size_t pointers_max) {
    expect(index < from.pointers);
    return fits_ ? named(pointer(from, index), data_words_max, pointers_max) : Place{};
  }
  /// Whether a pointer of `from` is not null.
  bool has(const Place& from, std::size_t index) const {
    return index < from.pointers && word(pointer(from, index)) != 0;
  }
  std::string_view read_bytes(const Place& from, std::size_t index) {
    if (!has(from, index)) return {};
    const std::size_t at = pointer(from, index);
    const std::uint64_t stored = word(at);
    const std::uint64_t size = stored >> 35;
    const std::size_t begin = read_;
    expect(size > 0 && stored == to_bytes(at, begin, size));
    return read(words_for(size)) ? bytes_.substr(begin * kWord, size) : std::string_view();
  }
  std::string_view read_text(const Place& from, std::size_t index) {
    const std::string_view bytes = read_bytes(from, index);
    if (bytes.empty()) return {};
    expect(bytes.back() == 0);
    return bytes.substr(0, bytes.size() - 1);
  }
  /// Consumes a text into `to`. A reader fills the same event again and again, so most texts are as
  /// long as the one before, and a copy over it costs less than a call of assign.
  void read_text_to(const Place& from, std::size_t index, std::string& to) {
    const std::string_view text = read_text(from, index);
    if (to.size() == text.size())
      std::copy(text.begin(), text.end(),
                to.begin());  // also where both are empty and have no data
    else
      to = text;
  }
  /// Consumes a list of structs that have pointers only. Returns the first and their count.
  std::pair<Place, std::size_t> read_list(const Place& from, std::size_t index,
                                          std::size_t pointers_max) {
    const std::size_t begin = read_;
    if (!has(from, index) || !read(1)) return {};
    const std::size_t at = pointer(from, index);
    const std::uint64_t stored = word(at);
    const std::uint64_t tag = word(begin);
    const std::uint64_t count = (tag & UINT32_MAX) >> 2, pointers = tag >> 48;
    expect(count > 0 && pointers > 0 && pointers <= pointers_max &&
           tag == (count << 2 | sections_of(0, pointers)) &&
           stored == to_structs(at, begin, count * pointers));
    if (!read(count * pointers)) return {};
    return {{begin + 1, 0, pointers}, count};
  }

 private:
  static std::size_t pointer(const Place& from, std::size_t index) {
    return from.at + from.data_words + index;
  }
  std::uint64_t word(std::size_t at) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + at * kWord, sizeof word);
    return word;
  }
  bool read(std::uint64_t count) {
    expect(count <= words_ - read_);
    if (fits_) read_ += count;
    return fits_;
  }
  Place named(std::size_t pointer, std::size_t data_words_max, std::size_t pointers_max) {
    const std::uint64_t stored = word(pointer);
    const Place place{read_, stored >> 32 & UINT16_MAX, stored >> 48};
    const std::uint64_t sections = sections_of(place.data_words, place.pointers);
    expect(place.data_words <= data_words_max && place.pointers <= pointers_max && sections != 0 &&
           stored == to_struct(pointer, place.at, sections));
    return read(place.data_words + place.pointers) ? place : Place{};
  }

  const std::string_view bytes_;
  const std::size_t words_;
  std::size_t read_ = 0;
  bool fits_;
};

void read_taints(WordReader& in, const Place& node, std::vector<value::Taint>& taints) {
  auto [place, count] = in.read_list(node, 1, 3);
  taints.resize(count);
  for (value::Taint& taint : taints) {
    taint.key = in.read_text(place, 0);
    taint.value = in.read_text(place, 1);
    taint.effect = in.read_text(place, 2);
    place.at += place.pointers;
  }
}

template <class Map>
void read_map(WordReader& in, const Place& node, std::size_t index, Map& map) {
  std::optional<Map> viewed = Map::view_of(in.read_bytes(node, index));
  in.expect(viewed.has_value());
  if (viewed) map = *std::move(viewed);
}

void read_node(WordReader& in, const Place& seen, value::NodeFacts& node) {
  const Place place = in.read_struct(in.read_struct(seen, 5, 0, 1), 0, 1, 5);
  const std::uint64_t flags = in.data(place, 0);
  in.expect(flags < 4 && !in.has(place, 0) && !in.has(place, 2));  // no lists of version 1
  node.unschedulable = (flags & 1) != 0;
  node.ready = (flags & 2) != 0;
  read_taints(in, place, node.taints);
  read_map(in, place, 3, node.labels);
  read_map(in, place, 4, node.allocatable);
}

void read_digest(WordReader& in, const Place& seen, Digest& digest) {
  const std::string_view bytes = in.read_bytes(seen, 4);
  in.expect(bytes.empty() || bytes.size() == digest.bytes.size());
  digest = {};
  if (bytes.size() == digest.bytes.size())
    std::memcpy(digest.bytes.data(), bytes.data(), bytes.size());
}

}  // namespace

bool read_node(std::string_view bytes, value::Event& event) {
  WordReader in(bytes);
  // The sixth data word of an Event would belong to another fact. Zeros at the end are cut in
  // canonical form, so the root may be shorter too.
  const Place root = in.read_root(5, 2);
  const std::uint64_t kind = in.data(root, 0), version = kind & UINT16_MAX;
  if (kind != (version | kObjectObserved) || version == 0 || version > kSchemaVersion) return false;
  event.seq = {in.data(root, 1)};
  event.log_time = {static_cast<std::int64_t>(in.data(root, 2))};
  event.epoch = {in.data(root, 3)};
  event.cause = {in.data(root, 4)};
  in.read_text_to(root, 0, event.source);
  auto* seen = std::get_if<value::ObjectObserved>(&event.fact);
  if (seen == nullptr) seen = &event.fact.emplace<value::ObjectObserved>();
  const Place place = in.read_struct(root, 1, 1, 6);
  seen->generation = static_cast<std::int64_t>(in.data(place, 0));
  const Place key = in.read_struct(place, 0, 0, 2);  // no data: the kind is node, which is 0
  seen->key.kind = value::Kind::node;
  in.read_text_to(key, 0, seen->key.namespace_);
  in.read_text_to(key, 1, seen->key.name);
  in.read_text_to(place, 1, seen->version);
  in.read_text_to(place, 2, seen->uid);
  in.read_text_to(place, 3, seen->resource_version);
  read_digest(in, place, seen->raw_digest);
  seen->writers.clear();  // of the event that this one overwrites; a node has neither
  seen->read = {};
  auto* node = std::get_if<value::NodeFacts>(&seen->facts);
  if (node == nullptr) node = &seen->facts.emplace<value::NodeFacts>();
  read_node(in, place, *node);
  return in.ended();
}

bool append_node(const value::Event& event, std::string& bytes) {
  const auto* seen = std::get_if<value::ObjectObserved>(&event.fact);
  if (seen == nullptr || seen->key.kind != value::Kind::node || !seen->writers.empty() ||
      seen->read != LogTime{})
    return false;
  const auto* node = std::get_if<value::NodeFacts>(&seen->facts);
  if (node == nullptr || node->labels.is_based() || node->allocatable.is_based()) return false;
  const std::size_t words = words_at_most(event, *seen, *node);
  if (words * kWord > kRecordBytesMax) return false;  // else a size might not fit its field
  const std::size_t begin = bytes.size();
  bytes.resize(begin + words * kWord);
  WordWriter out(bytes.data() + begin);
  const std::array<std::uint64_t, 5> numbers{kSchemaVersion | kObjectObserved, event.seq.value,
                                             static_cast<std::uint64_t>(event.log_time.ns),
                                             event.epoch.value, event.cause.value};
  // The first number is never 0, so this ends.
  std::size_t data_words = numbers.size();
  while (numbers[data_words - 1] == 0) --data_words;
  const std::size_t root = out.allocate(1);
  std::size_t at = out.allocate_struct(root, data_words, 2);
  for (std::size_t i = 0; i < data_words; ++i) out.set(at++, numbers[i]);
  out.put(at, event.source);
  put_observed(out, at + 1, *seen, *node);
  bytes.resize(begin + out.allocated() * kWord);
  return true;
}

}  // namespace fairlead::stored
