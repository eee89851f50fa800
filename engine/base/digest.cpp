#include "engine/base/digest.h"

#include <openssl/evp.h>

#include <memory>

#include "engine/base/check.h"

namespace fairlead {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::optional<std::uint8_t> hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<std::uint8_t>(digit - 'A' + 10);
  return std::nullopt;
}

/// Fetches the algorithm once per process: fetching costs more than hashing a small record. For the
/// same reason each thread has one context.
const EVP_MD* sha256_algorithm() {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return algorithm;
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using ContextHandle = std::unique_ptr<EVP_MD_CTX, FreeContext>;

EVP_MD_CTX* thread_context() {
  thread_local const ContextHandle context{EVP_MD_CTX_new()};
  return context.get();
}

void begin(EVP_MD_CTX* context) {
  check(context != nullptr && sha256_algorithm() != nullptr, "OpenSSL has no SHA-256");
  check(EVP_DigestInit_ex2(context, sha256_algorithm(), nullptr) == 1, "SHA-256 cannot begin");
}

void add_to(EVP_MD_CTX* context, std::string_view piece) {
  check(EVP_DigestUpdate(context, piece.data(), piece.size()) == 1, "SHA-256 cannot go on");
}

Digest end(EVP_MD_CTX* context) {
  Digest digest;
  unsigned int size = 0;
  const bool good = EVP_DigestFinal_ex(context, digest.bytes.data(), &size) == 1;
  check(good && size == digest.bytes.size(), "OpenSSL could not compute SHA-256");
  return digest;
}

}  // namespace

std::string Digest::hex() const {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 0xF];
  }
  return text;
}

std::optional<Digest> Digest::from_hex(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const auto high = hex_value(hex[2 * i]);
    const auto low = hex_value(hex[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    digest.bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return digest;
}

Digest sha256(std::span<const std::string_view> parts) {
  EVP_MD_CTX* const context = thread_context();
  begin(context);
  for (const std::string_view part : parts) add_to(context, part);
  return end(context);
}

Digest sha256(std::string_view bytes) { return sha256(std::span{&bytes, 1}); }

struct Sha256::Context {
  ContextHandle handle{EVP_MD_CTX_new()};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) { begin(context_->handle.get()); }
Sha256::~Sha256() = default;

void Sha256::add(std::string_view piece) { add_to(context_->handle.get(), piece); }

Digest Sha256::finish() { return end(context_->handle.get()); }

}  // namespace fairlead
