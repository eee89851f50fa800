#include "engine/log/rocksdb/wal_scan.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <system_error>

namespace fairlead {
namespace {

constexpr std::size_t kBlockBytes = 32768;
constexpr std::size_t kHeaderBytes = 7;
constexpr std::size_t kBatchHeaderBytes = 12;  // sequence number and count
enum RecordType : unsigned char { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0u);
    table[i] = value;
  }
  return table;
}
constexpr auto kCrcTable = make_crc_table();

/// CRC-32C, masked as RocksDB stores it.
std::uint32_t masked_crc(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes)
    crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Returns the intact record at the beginning of `rest`, with its header; empty if there is none.
std::string_view record_at(std::string_view rest) {
  if (rest.size() < kHeaderBytes) return {};
  const auto type = static_cast<unsigned char>(rest[6]);
  if (type < kFull || type > kLast) return {};
  const std::size_t size = little_endian(rest.substr(4, 2));
  if (size > rest.size() - kHeaderBytes) return {};
  // The checksum covers type and content (RocksDB, db/log_format.h).
  if (masked_crc(rest.substr(6, size + 1)) != little_endian(rest.substr(0, 4))) return {};
  return rest.substr(0, kHeaderBytes + size);
}

std::uint64_t last_batch_in_block(std::string_view block) {
  std::uint64_t last = 0;
  while (block.size() >= kHeaderBytes) {
    const std::string_view record = record_at(block);
    if (record.empty()) {
      // Padding, preallocated space or damage: only behind damage do other bytes follow.
      const std::size_t skip = block.find_first_not_of('\0');
      if (skip == std::string_view::npos) break;
      // Up to six bytes of a record's header (checksum and length) may be zero.
      block.remove_prefix(skip > kHeaderBytes ? skip - kHeaderBytes + 1 : 1);
      continue;
    }
    const auto type = static_cast<unsigned char>(record[6]);
    if ((type == kFull || type == kFirst) && record.size() >= kHeaderBytes + kBatchHeaderBytes)
      last = std::max(last, little_endian(record.substr(kHeaderBytes, 8)));
    block.remove_prefix(record.size());
  }
  return last;
}

/// Scans blocks from the end: batches are written in order, so the last block in which one begins
/// has the greatest, and earlier blocks need not be read. Every opening scans a log of megabytes.
template <class BlockAt>
std::uint64_t last_batch(std::uint64_t bytes, const BlockAt& block_at) {
  for (std::uint64_t blocks = (bytes + kBlockBytes - 1) / kBlockBytes; blocks > 0; --blocks)
    if (const auto last = last_batch_in_block(block_at((blocks - 1) * kBlockBytes))) return last;
  return 0;
}

/// Returns 0 for a file that vanished.
std::uint64_t last_batch_in_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) return 0;
  std::array<char, kBlockBytes> block{};
  return last_batch(static_cast<std::uint64_t>(stream.tellg()), [&](std::uint64_t offset) {
    stream.clear();  // the last block ends early
    stream.seekg(static_cast<std::streamoff>(offset));
    stream.read(block.data(), kBlockBytes);
    return std::string_view(block.data(), static_cast<std::size_t>(stream.gcount()));
  });
}

}  // namespace

std::uint64_t last_batch_in(std::string_view wal) {
  return last_batch(wal.size(),
                    [&](std::uint64_t offset) { return wal.substr(offset, kBlockBytes); });
}

Result<std::uint64_t> last_batch_in_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::directory_iterator files(directory, error);
  if (error) return Error{ErrorCode::unavailable, directory.string() + ": " + error.message()};
  std::uint64_t last = 0;
  for (; files != std::filesystem::directory_iterator(); files.increment(error)) {
    if (error) return Error{ErrorCode::unavailable, directory.string() + ": " + error.message()};
    if (files->path().extension() == ".log")
      last = std::max(last, last_batch_in_file(files->path()));
  }
  return last;
}

}  // namespace fairlead
