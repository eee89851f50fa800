#include "engine/log/pack.h"

#include <zstd.h>

#include <array>
#include <cstring>

#include "engine/base/check.h"
#include "schema/codec.h"

namespace fairlead {
namespace {

constexpr std::string_view kPackMagic = "FLPK";
constexpr std::uint8_t kZstd = 1;
// The records of a commit are alike and long: a hash table that fits the first-level cache finds
// what they share, and matches shorter than seven bytes are not worth the search. This is faster
// than the parameters of level 1, and the frames are no larger.
constexpr int kZstdLevel = 1;
constexpr int kZstdHashLog = 11;
constexpr int kZstdMatchMin = 7;
constexpr std::size_t kPackCheckOffset = 104;
constexpr std::size_t kCheckBytes = 8;
constexpr std::size_t kWordBytes = 8;

template <class Integer>
void put(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> 8 * i & 0xFF);
}
void put(std::string& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
}

template <class Integer>
Integer get(std::string_view bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << 8 * i;
  return static_cast<Integer>(value);
}
Digest get_digest(std::string_view bytes, std::size_t offset) {
  Digest digest;
  std::memcpy(digest.bytes.data(), bytes.data() + offset, digest.bytes.size());
  return digest;
}

std::string check_of(std::string_view header, std::string_view payload) {
  const std::array<std::string_view, 2> parts{header.substr(0, kPackCheckOffset), payload};
  const Digest digest = sha256(parts);
  return {reinterpret_cast<const char*>(digest.bytes.data()), kCheckBytes};
}

struct FreeCompression {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

enum class Literals : std::uint8_t { plain, huffman };

std::unique_ptr<ZSTD_CCtx, FreeCompression> make_context(Literals literals) {
  std::unique_ptr<ZSTD_CCtx, FreeCompression> context{ZSTD_createCCtx()};
  const auto set = [&context](ZSTD_cParameter parameter, int value) {
    check(!ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), parameter, value)),
          "Zstandard refuses a parameter");
  };
  set(ZSTD_c_compressionLevel, kZstdLevel);
  set(ZSTD_c_hashLog, kZstdHashLog);
  set(ZSTD_c_minMatch, kZstdMatchMin);
  // With the fast strategy any target length leaves literals plain, and 1 changes nothing else.
  if (literals == Literals::plain) {
    set(ZSTD_c_strategy, ZSTD_fast);
    set(ZSTD_c_targetLength, 1);
  }
  return context;
}

/// Returns a frame that is valid until the thread's next call. Each thread keeps its buffer,
/// because the first access to fresh memory is slow.
std::string_view compress(std::string_view plain) {
  thread_local const auto small = make_context(Literals::plain);
  thread_local const auto large = make_context(Literals::huffman);
  const auto& context = plain.size() <= kPlainLiteralsMax ? small : large;
  thread_local std::string frame;
  const std::size_t most = ZSTD_compressBound(plain.size());
  if (frame.size() < most) frame.resize(most);
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), plain.data(), plain.size());
  check(!ZSTD_isError(size), "Zstandard could not compress into a large enough buffer");
  return std::string_view(frame).substr(0, size);
}

Error damaged(std::string what) { return {ErrorCode::corrupt, std::move(what)}; }

}  // namespace

PackHeader header_of(const Commit& commit) {
  check(!commit.events.empty(), "a commit has events");
  const Event& first = commit.events.front();
  // A commit is bounded by kCommitBytesMax, so both sizes fit 32 bits.
  return {.schema_version = kSchemaVersion,
          .first = first.seq,
          .count = static_cast<std::uint32_t>(commit.events.size()),
          .plain_bytes = static_cast<std::uint32_t>(commit.payload.size()),
          .first_time = first.log_time,
          .last_time = commit.events.back().log_time,
          .previous = commit.previous,
          .digest = commit.digest};
}

std::string pack(const Commit& commit) { return pack(header_of(commit), commit.payload); }

std::string pack(const PackHeader& header, std::string_view payload) {
  const std::string_view frame = compress(payload);
  std::string value;
  value.reserve(kPackHeaderBytes + frame.size());
  value += kPackMagic;
  put(value, header.schema_version);
  put(value, kZstd);
  put(value, std::uint8_t{0});
  put(value, header.first.value);
  put(value, header.count);
  put(value, header.plain_bytes);
  put(value, header.first_time.ns);
  put(value, header.last_time.ns);
  put(value, header.previous);
  put(value, header.digest);
  value += check_of(value, frame);
  value += frame;
  return value;
}

Result<PackHeader> read_pack_header(std::string_view value) {
  if (value.size() < kPackHeaderBytes || !value.starts_with(kPackMagic))
    return damaged("the value is no pack of events");
  if (value.substr(kPackCheckOffset, kCheckBytes) !=
      check_of(value, value.substr(kPackHeaderBytes)))
    return damaged("the pack is not what was written: its check does not match");
  // The check comes first: no field of damaged bytes is believed, so an unknown version is a newer
  // program's.
  PackHeader header;
  header.schema_version = get<std::uint16_t>(value, 4);
  if (header.schema_version > kSchemaVersion || get<std::uint8_t>(value, 6) != kZstd)
    return Error{ErrorCode::incompatible,
                 "the pack was written by a newer program (schema version " +
                     std::to_string(header.schema_version) + ")"};
  header.first = {get<std::uint64_t>(value, 8)};
  header.count = get<std::uint32_t>(value, 16);
  header.plain_bytes = get<std::uint32_t>(value, 20);
  header.first_time = {get<std::int64_t>(value, 24)};
  header.last_time = {get<std::int64_t>(value, 32)};
  header.previous = get_digest(value, 40);
  header.digest = get_digest(value, 72);
  if (header.count == 0 || header.first.value == 0) return damaged("the pack holds no events");
  return header;
}

Result<UnpackedRecords> unpack(std::string_view value, const PackHeader& header) {
  UnpackedRecords unpacked;
  if (auto done = unpack_into(value, header, unpacked); !done) return done.error();
  return unpacked;
}

// The check of the header says that the bytes are those that were written, not that the writer was
// right, so every size is compared before it is used. The table lies within `plain`, and `offset`
// never passes its end, so the differences do not wrap.
Result<void> unpack_into(std::string_view value, const PackHeader& header,
                         UnpackedRecords& unpacked) {
  unpacked.records.clear();
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeCompression> context{ZSTD_createDCtx()};
  const std::size_t table = size_table_bytes(header.count);
  // The bound keeps a header with a wrong size from reserving gigabytes.
  if (header.plain_bytes % kWordBytes != 0 || header.plain_bytes < table ||
      header.plain_bytes > kCommitBytesMax + table)
    return damaged("the pack says it holds " + std::to_string(header.plain_bytes) + " bytes");
  std::uint64_t* const words = unpacked.words.room_for(header.plain_bytes / kWordBytes);
  const std::string_view frame = value.substr(kPackHeaderBytes);
  const std::size_t size =
      ZSTD_decompressDCtx(context.get(), words, header.plain_bytes, frame.data(), frame.size());
  if (ZSTD_isError(size) || size != header.plain_bytes)
    return damaged("the payload of the pack does not decompress");
  const std::string_view plain(reinterpret_cast<const char*>(words), size);
  std::size_t offset = table;
  std::vector<std::string_view> records = std::move(unpacked.records);
  records.reserve(header.count);
  for (std::uint32_t i = 0; i < header.count; ++i) {
    const std::size_t bytes =
        std::size_t{get<std::uint32_t>(plain, 4 * std::size_t{i})} * kWordBytes;
    if (bytes > plain.size() - offset) return damaged("a record reaches beyond its pack");
    records.push_back(plain.substr(offset, bytes));
    offset += bytes;
  }
  if (offset != plain.size()) return damaged("the pack has bytes behind its last record");
  unpacked.records = std::move(records);
  return {};
}

}  // namespace fairlead
