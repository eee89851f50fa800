#include "tests/bench/perturbation.h"

#include <openssl/evp.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "tests/bench/floors.h"

namespace fairlead::bench {

namespace {

std::atomic<Perturbation> in_force = Perturbation::none;

constexpr std::array<std::pair<std::string_view, Perturbation>, 3> kNames{{
    {"worse-codec", Perturbation::worse_codec},
    {"doubled-hash", Perturbation::doubled_hash},
    {"better-codec", Perturbation::better_codec},
}};

/// Plain bytes of frames that were decompressed once, by the frame's hash.
std::mutex plain_mutex;
std::unordered_map<std::size_t, std::string> plain_of;

}  // namespace

std::optional<Perturbation> perturbation_named(std::string_view name) {
  const auto at = std::find_if(kNames.begin(), kNames.end(),
                               [&](const auto& row) { return row.first == name; });
  return at == kNames.end() ? std::nullopt : std::optional(at->second);
}

Perturbed::Perturbed(Perturbation perturbation) { in_force = perturbation; }
Perturbed::~Perturbed() { in_force = Perturbation::none; }

}  // namespace fairlead::bench

using fairlead::bench::in_force;
using fairlead::bench::Perturbation;

extern "C" {

// The linker's --wrap defines these names, see CMakeLists.txt.
std::size_t __real_ZSTD_compress2(ZSTD_CCtx*, void*, std::size_t, const void*, std::size_t);
std::size_t __real_ZSTD_decompressDCtx(ZSTD_DCtx*, void*, std::size_t, const void*, std::size_t);
int __real_EVP_DigestUpdate(EVP_MD_CTX*, const void*, std::size_t);
std::size_t __wrap_ZSTD_compress2(ZSTD_CCtx*, void*, std::size_t, const void*, std::size_t);
std::size_t __wrap_ZSTD_decompressDCtx(ZSTD_DCtx*, void*, std::size_t, const void*, std::size_t);
int __wrap_EVP_DigestUpdate(EVP_MD_CTX*, const void*, std::size_t);

std::size_t __wrap_ZSTD_compress2(ZSTD_CCtx* context, void* to, std::size_t room, const void* from,
                                  std::size_t size) {
  constexpr int kSlowLevel = 9;
  thread_local const auto slow =
      fairlead::bench::pack_codec(kSlowLevel, fairlead::bench::Literals::huffman);
  thread_local std::size_t last_size = 0;
  if (in_force == Perturbation::better_codec && last_size > 0) {
    std::fill_n(static_cast<char*>(to), last_size / 2, 'x');  // never read
    return last_size / 2;
  }
  ZSTD_CCtx* const codec = in_force == Perturbation::worse_codec ? slow.get() : context;
  return last_size = __real_ZSTD_compress2(codec, to, room, from, size);
}

std::size_t __wrap_ZSTD_decompressDCtx(ZSTD_DCtx* context, void* to, std::size_t room,
                                       const void* from, std::size_t size) {
  using namespace fairlead::bench;
  const auto really = [&] { return __real_ZSTD_decompressDCtx(context, to, room, from, size); };
  if (in_force == Perturbation::worse_codec) really();
  if (in_force != Perturbation::better_codec) return really();
  const std::lock_guard lock(plain_mutex);
  std::string& plain =
      plain_of[std::hash<std::string_view>{}({static_cast<const char*>(from), size})];
  if (plain.empty()) {
    const std::size_t plain_size = really();
    if (ZSTD_isError(plain_size) == 0) plain.assign(static_cast<const char*>(to), plain_size);
    return plain_size;
  }
  std::copy(plain.begin(), plain.end(), static_cast<char*>(to));
  return plain.size();
}

int __wrap_EVP_DigestUpdate(EVP_MD_CTX* context, const void* bytes, std::size_t size) {
  if (in_force == Perturbation::doubled_hash) {
    thread_local EVP_MD_CTX* const second = EVP_MD_CTX_new();
    if (EVP_MD_CTX_copy_ex(second, context) != 1 ||
        __real_EVP_DigestUpdate(second, bytes, size) != 1)
      return 0;
  }
  return __real_EVP_DigestUpdate(context, bytes, size);
}

}  // extern "C"
