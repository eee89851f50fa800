#include "schema/codec.h"

#include "schema/codec_parts.h"
// The compiler header that codec_parts.h includes comes first.
#include <capnp/message.h>
#include <kj/exception.h>

#include <array>
#include <cstring>

#include "engine/base/check.h"
#include "snapshot.capnp.h"

namespace fairlead {
namespace stored {

/// Words of a thread's scratch space, in which small messages are built without an allocation.
/// Cap'n Proto requires it zeroed and leaves it zeroed.
constexpr std::size_t kScratchWords = 1024;

template <class Root, class Fill>
static void append_canonical(std::string& out, const Fill& fill) {
  constexpr std::size_t kWord = sizeof(capnp::word);
  thread_local std::array<std::uint64_t, kScratchWords> scratch{};
  capnp::MallocMessageBuilder message(
      kj::arrayPtr(reinterpret_cast<capnp::word*>(scratch.data()), scratch.size()));
  auto root = message.initRoot<Root>();
  fill(root);
  // The canonical copy is built in place; it is never larger than the message. resize() zeroes what
  // it adds, as FlatMessageBuilder requires.
  const std::size_t begin = out.size(), words = message.sizeInWords();
  out.resize(begin + words * kWord);
  check(reinterpret_cast<std::uintptr_t>(out.data() + begin) % kWord == 0,
        "records are encoded at multiples of a word");
  capnp::FlatMessageBuilder copy(
      kj::arrayPtr(reinterpret_cast<capnp::word*>(out.data() + begin), words));
  copy.template initRoot<capnp::AnyPointer>().template setCanonicalAs<Root>(root.asReader());
  out.resize(begin + copy.getSegmentsForOutput()[0].size() * kWord);
}

template <class Root, class Fill>
static std::string canonical_bytes(const Fill& fill) {
  std::string out;
  append_canonical<Root>(out, fill);
  return out;
}

static bool is_aligned(std::string_view bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % sizeof(capnp::word) == 0;
}

/// Calls `parse` with the root of the message in `bytes`. Exceptions become `corrupt`.
template <class Root, class Parse>
static auto parse_message(std::string_view bytes, const Parse& parse)
    -> decltype(parse(typename Root::Reader())) {
  constexpr std::size_t kWord = sizeof(capnp::word);
  if (bytes.empty() || bytes.size() % kWord != 0)
    return Error{ErrorCode::corrupt, "a record of " + std::to_string(bytes.size()) +
                                         " bytes is no whole number of words"};
  const std::size_t size = bytes.size() / kWord;
  kj::Array<capnp::word> copy;
  const void* start = bytes.data();
  if (!is_aligned(bytes)) {
    copy = kj::heapArray<capnp::word>(size);
    std::memcpy(copy.begin(), bytes.data(), bytes.size());
    start = copy.begin();
  }
  try {
    const kj::ArrayPtr<const capnp::word> segment(static_cast<const capnp::word*>(start), size);
    // A valid record is traversed a few times at most; one with cyclic pointers hits the limit.
    capnp::ReaderOptions options;
    options.traversalLimitInWords = 8 * size + 1024;
    capnp::SegmentArrayMessageReader message(kj::arrayPtr(&segment, 1), options);
    return parse(message.getRoot<Root>());
  } catch (const Malformed& malformed) {
    return Error{ErrorCode::corrupt, malformed.what};
  } catch (const kj::Exception& exception) {
    return Error{ErrorCode::corrupt, exception.getDescription().cStr()};
  }
}

static std::optional<Error> refuse_version(std::uint32_t version) {
  if (version == 0) return Error{ErrorCode::corrupt, "the record has no schema version"};
  if (version > kSchemaVersion)
    return Error{ErrorCode::incompatible,
                 "the record has schema version " + std::to_string(version) +
                     ", this program reads up to " + std::to_string(kSchemaVersion)};
  return std::nullopt;
}

}  // namespace stored

std::string encode(const Event& event) {
  std::string bytes;
  encode_to(event, bytes);
  return bytes;
}

void encode_to(const Event& event, std::string& bytes) {
  check(reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) % sizeof(capnp::word) == 0,
        "records are encoded at multiples of a word");
  if (!stored::append_node(event, bytes)) encode_as_message(event, bytes);
}

void encode_as_message(const Event& event, std::string& bytes) {
  stored::append_canonical<stored::Event>(bytes, [&event](stored::Event::Builder out) {
    out.setSchemaVersion(kSchemaVersion);
    stored::write(event, out);
  });
}

Result<Event> decode(std::string_view bytes) {
  return stored::parse_message<stored::Event>(bytes, [](stored::Event::Reader in) -> Result<Event> {
    // Before anything else is read: a newer record may hold union members and enumerants that are
    // unknown here, and would be taken for damage.
    if (auto refused = stored::refuse_version(in.getSchemaVersion())) return *std::move(refused);
    return stored::read(in);
  });
}

Result<void> decode_into(std::string_view bytes, Event& event) {
  // The fast path for the most frequent event. Not for unaligned bytes: decode() copies those, so
  // an event never views them.
  if (stored::is_aligned(bytes) && stored::read_node(bytes, event)) return {};
  auto decoded = decode(bytes);
  if (!decoded) return decoded.error();
  event = *std::move(decoded);
  return {};
}

std::uint16_t schema_version_of(std::string_view bytes) {
  const auto version = stored::parse_message<stored::Event>(
      bytes,
      [](stored::Event::Reader in) -> Result<std::uint16_t> { return in.getSchemaVersion(); });
  return version ? *version : std::uint16_t{0};
}

std::string encode(const SnapshotEnvelope& snapshot) {
  return stored::canonical_bytes<stored::Snapshot>([&snapshot](stored::Snapshot::Builder out) {
    out.setSchemaVersion(kSchemaVersion);
    out.setFoldVersion(snapshot.fold_version);
    out.setSeq(snapshot.seq.value);
    out.setLogTime(snapshot.log_time.ns);
    if (snapshot.state_digest != Digest{})
      out.setStateDigest(stored::bytes_of(snapshot.state_digest));
    if (snapshot.log_digest != Digest{}) out.setLogDigest(stored::bytes_of(snapshot.log_digest));
    const auto* const state = reinterpret_cast<const kj::byte*>(snapshot.state.data());
    if (!snapshot.state.empty()) out.setState(capnp::Data::Reader(state, snapshot.state.size()));
  });
}

Result<SnapshotEnvelope> decode_snapshot(std::string_view bytes) {
  const auto parse = [](stored::Snapshot::Reader in) -> Result<SnapshotEnvelope> {
    if (auto refused = stored::refuse_version(in.getSchemaVersion())) return *std::move(refused);
    const auto state = in.getState().asChars();
    SnapshotEnvelope snapshot{in.getFoldVersion(),
                              Seq{in.getSeq()},
                              LogTime{in.getLogTime()},
                              stored::digest_of_bytes(in.getStateDigest()),
                              stored::digest_of_bytes(in.getLogDigest()),
                              std::string(state.begin(), state.size())};
    return snapshot;
  };
  return stored::parse_message<stored::Snapshot>(bytes, parse);
}

}  // namespace fairlead
