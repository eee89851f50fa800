#include "connectors/kube/transport/certificate.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>

namespace fairlead {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using KeyInfo = std::unique_ptr<PKCS8_PRIV_KEY_INFO, Freed<PKCS8_PRIV_KEY_INFO_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;

// Longer RSA keys are refused by servers that are written in Go (crypto/tls since 1.20.7).
constexpr int kRsaBitsMax = 8192;

Bio reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Certificate first_certificate(std::string_view pem) {
  Bio bio = reader(pem);
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

// Whether PKCS #8 names an algorithm whose keys are read without computing with them.
bool is_read_at_once(std::string_view der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const KeyInfo info(d2i_PKCS8_PRIV_KEY_INFO(nullptr, &at, static_cast<long>(der.size())));
  const ASN1_OBJECT* algorithm = nullptr;
  if (!info || PKCS8_pkey_get0(&algorithm, nullptr, nullptr, nullptr, info.get()) != 1)
    return false;
  constexpr std::array kRead{NID_rsaEncryption, NID_rsassaPss, NID_X9_62_id_ecPublicKey,
                             NID_ED25519, NID_ED448};
  return std::find(kRead.begin(), kRead.end(), OBJ_obj2nid(algorithm)) != kRead.end();
}

// Whether a signature takes a bounded time: of an RSA key each number that it is made with counts,
// and none but the modulus is bound to another one by its form.
bool signs_at_once(EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "RSA") != 1 && EVP_PKEY_is_a(key, "RSA-PSS") != 1) return true;
  for (const char* name :
       {OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D,
        OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_EXPONENT1,
        OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1}) {
    BIGNUM* found = nullptr;
    if (EVP_PKEY_get_bn_param(key, name, &found) != 1) continue;  // it has no such number
    if (const Number number(found); BN_num_bits(number.get()) > kRsaBitsMax) return false;
  }
  // More than two factors: no server has had such a key since TLS 1.2.
  BIGNUM* third = nullptr;
  const bool has_third = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_FACTOR3, &third) == 1;
  BN_free(third);
  return !has_third;
}

std::string time_text(const ASN1_TIME* time) {
  Bio out(BIO_new(BIO_s_mem()));
  if (ASN1_TIME_print(out.get(), time) != 1) return "?";
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

Result<void> check_certificate_now(std::string_view pem) {
  Certificate certificate = first_certificate(pem);
  if (!certificate) return Error{ErrorCode::bad_input, "expected a PEM certificate"};
  const ASN1_TIME* from = X509_get0_notBefore(certificate.get());
  const ASN1_TIME* until = X509_get0_notAfter(certificate.get());
  if (X509_cmp_current_time(until) < 0)
    return Error{ErrorCode::bad_input, "the certificate expired at " + time_text(until)};
  if (X509_cmp_current_time(from) > 0)
    return Error{ErrorCode::bad_input, "the certificate is not valid before " + time_text(from)};
  return {};
}

// As the TLS context that later takes the roots: the end is where no certificate begins any more.
Result<void> check_authorities(std::string_view pem) {
  Bio bio = reader(pem);
  ERR_clear_error();
  std::size_t read = 0;
  while (Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))) ++read;
  const unsigned long fault = ERR_get_error();
  ERR_clear_error();
  const bool at_end =
      ERR_GET_LIB(fault) == ERR_LIB_PEM && ERR_GET_REASON(fault) == PEM_R_NO_START_LINE;
  if (at_end && read > 0) return {};
  if (at_end) return Error{ErrorCode::bad_input, "expected PEM certificates"};
  return Error{ErrorCode::bad_input,
               "its PEM certificate number " + std::to_string(read + 1) + " cannot be read"};
}

Result<void> check_key_algorithms(std::string_view pem) {
  const Error refused{ErrorCode::bad_input,
                      "expected a PEM private key without a password, of RSA, ECDSA or EdDSA"};
  Bio bio = reader(pem);
  ERR_clear_error();
  bool good = true;
  for (;;) {
    char *name = nullptr, *header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    if (PEM_read_bio(bio.get(), &name, &header, &data, &size) != 1) break;
    const std::string_view kind = name;
    if (kind == "PRIVATE KEY")
      good =
          good && is_read_at_once({reinterpret_cast<char*>(data), static_cast<std::size_t>(size)});
    else if (kind.ends_with("PRIVATE KEY"))
      good = good && *header == '\0' && (kind == "RSA PRIVATE KEY" || kind == "EC PRIVATE KEY");
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  // Any other error is a block that cannot be read; OpenSSL would go on behind it.
  good = good && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!good) return refused;
  return {};
}

Result<void> check_key_matches(std::string_view certificate_pem, std::string_view key_pem) {
  if (auto read = check_key_algorithms(key_pem); read.has_error()) return read;
  Certificate certificate = first_certificate(certificate_pem);
  Bio bio = reader(key_pem);
  // A key with a password cannot be used: never ask a terminal for it.
  auto no_password = [](char*, int, int, void*) { return -1; };
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (!key) return Error{ErrorCode::bad_input, "expected a PEM private key without a password"};
  if (!certificate || X509_check_private_key(certificate.get(), key.get()) != 1)
    return Error{ErrorCode::bad_input, "the key does not belong to the client certificate"};
  if (!signs_at_once(key.get()))
    return Error{ErrorCode::bad_input, "an RSA key of more than " + std::to_string(kRsaBitsMax) +
                                           " bits, or of more than two factors, signs too slowly"};
  return {};
}

std::optional<LogTime> certificate_end(std::string_view pem) {
  Certificate certificate = first_certificate(pem);
  std::tm parts{};
  if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &parts) != 1)
    return std::nullopt;
  return LogTime{static_cast<std::int64_t>(::timegm(&parts)) * 1'000'000'000};
}

}  // namespace fairlead
