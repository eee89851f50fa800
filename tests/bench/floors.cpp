#include "tests/bench/floors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "engine/log/pack.h"
#include "engine/log/rocksdb/rocksdb_store.h"
#include "schema/codec.h"
#include "tests/bench/bench.h"

namespace fairlead::bench {

namespace {

std::uint32_t number_at(std::string_view pack, std::size_t offset) {
  std::uint32_t number = 0;
  std::memcpy(&number, pack.data() + offset, sizeof number);
  return number;
}

}  // namespace

void Hash::add(std::string_view bytes) {
  unsigned size = 0;
  if (EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) != 1 ||
      EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context_.get(), digest_, &size) != 1)
    give_up("OpenSSL has no SHA-256");
}

std::unique_ptr<ZSTD_CCtx, FreeByLibrary> pack_codec(int level, Literals literals) {
  std::unique_ptr<ZSTD_CCtx, FreeByLibrary> codec{ZSTD_createCCtx()};
  ZSTD_CCtx_setParameter(codec.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(codec.get(), ZSTD_c_hashLog, 11);
  ZSTD_CCtx_setParameter(codec.get(), ZSTD_c_minMatch, 7);
  if (literals == Literals::plain) {
    ZSTD_CCtx_setParameter(codec.get(), ZSTD_c_strategy, ZSTD_fast);
    ZSTD_CCtx_setParameter(codec.get(), ZSTD_c_targetLength, 1);
  }
  return codec;
}

void WritingFloor::write(std::span<const Event> group) {
  payload_.clear();
  for (const Event& event : group) encode_to(event, payload_);
  hash_.add(payload_);
  frame_.resize(ZSTD_compressBound(payload_.size()));
  ZSTD_CCtx* const codec = (payload_.size() <= kPlainLiteralsMax ? small_ : large_).get();
  const std::size_t size =
      ZSTD_compress2(codec, frame_.data(), frame_.size(), payload_.data(), payload_.size());
  if (ZSTD_isError(size) != 0) give_up("Zstandard does not compress");
  const std::string_view frame = std::string_view(frame_).substr(0, size);
  hash_.add(frame);
  copy_.assign(frame);
  keep(copy_);
}

void write_durably(const std::filesystem::path& file, const std::vector<std::size_t>& growth,
                   std::size_t turns) {
  std::filesystem::remove(file);
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) give_up("cannot create " + file.string());
  std::string bytes;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    bytes.resize(growth[turn % growth.size()], 'x');
    if (::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
        ::fdatasync(descriptor) != 0)
      give_up("cannot write " + file.string());
  }
  ::close(descriptor);
  std::filesystem::remove(file);
}

std::uint64_t read_packs(const std::filesystem::path& directory,
                         const std::function<void(std::uint32_t)>& each) {
  const auto store = need(open_store_for_reading(directory / "log", nullptr));
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<ZSTD_DCtx, FreeByLibrary> codec{ZSTD_createDCtx()};
  Hash hash;
  std::vector<char> plain, copy;
  std::uint64_t bytes = 0;
  const std::unique_ptr<rocksdb::Iterator> packs(store->db->NewIterator(options, store->events));
  for (packs->SeekToFirst(); packs->Valid(); packs->Next()) {
    const std::string_view value = packs->value().ToStringView();
    const std::uint32_t count = number_at(value, 16), plain_bytes = number_at(value, 20);
    const std::string_view frame = value.substr(kPackHeaderBytes);
    hash.add(value);
    if (plain.size() < plain_bytes) plain.resize(plain_bytes);
    const std::size_t size =
        ZSTD_decompressDCtx(codec.get(), plain.data(), plain.size(), frame.data(), frame.size());
    if (size != plain_bytes) give_up("a pack does not decompress");
    copy.assign(plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(size));
    keep(copy);
    bytes += size;
    each(count);
  }
  return bytes;
}

}  // namespace fairlead::bench
