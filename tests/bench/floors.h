// Floors: what the libraries alone need for the work that a log cannot avoid.
//
// A log that keeps events durably, compressed and hashed must encode, hash, compress and copy them
// once and wait for the disk; a log that reads them must fetch, check, decompress and copy them.
// The floors do just that, with the codec and the sizes of a pack (engine/log/pack.h) but with
// calls of their own: any further or repeated work of the log lowers the ratio.
#pragma once

#include <openssl/evp.h>
#include <zstd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/event.h"

namespace fairlead::bench {

struct FreeByLibrary {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

/// A SHA-256 of added bytes.
class Hash {
 public:
  void add(std::string_view bytes);

 private:
  std::unique_ptr<EVP_MD_CTX, FreeByLibrary> context_{EVP_MD_CTX_new()};
  std::unique_ptr<EVP_MD, void (*)(EVP_MD*)> algorithm_{EVP_MD_fetch(nullptr, "SHA256", nullptr),
                                                        EVP_MD_free};
  unsigned char digest_[EVP_MAX_MD_SIZE] = {};
};

/// How a frame stores bytes without repetitions: small packs keep them plain.
enum class Literals : std::uint8_t { plain, huffman };

/// A context with the parameters of the log's packs.
std::unique_ptr<ZSTD_CCtx, FreeByLibrary> pack_codec(int level, Literals literals);

/// Prepares group commits for the disk: canonical bytes, their digest, one Zstandard frame, the
/// check of the frame, one copy.
class WritingFloor {
 public:
  void write(std::span<const Event> group);

 private:
  std::unique_ptr<ZSTD_CCtx, FreeByLibrary> small_ = pack_codec(1, Literals::plain),
                                            large_ = pack_codec(1, Literals::huffman);
  Hash hash_;
  std::string payload_, frame_, copy_;
};

/// Writes `turns` pieces to a new file and syncs each; their sizes cycle through `growth`.
void write_durably(const std::filesystem::path& file, const std::vector<std::size_t>& growth,
                   std::size_t turns);

/// Fetches every pack of the log in `directory`, checks and decompresses it, and copies its
/// records. Calls `each` with the number of events of every pack. Returns the number of plain
/// bytes.
std::uint64_t read_packs(const std::filesystem::path& directory,
                         const std::function<void(std::uint32_t)>& each);

}  // namespace fairlead::bench
