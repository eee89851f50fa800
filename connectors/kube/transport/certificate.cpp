#include "connectors/kube/transport/certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

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

Bio reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Certificate first_certificate(std::string_view pem) {
  Bio bio = reader(pem);
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
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

Result<void> check_key_matches(std::string_view certificate_pem, std::string_view key_pem) {
  Certificate certificate = first_certificate(certificate_pem);
  Bio bio = reader(key_pem);
  // A key with a password cannot be used: never ask a terminal for it.
  auto no_password = [](char*, int, int, void*) { return -1; };
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (!key) return Error{ErrorCode::bad_input, "expected a PEM private key without a password"};
  if (!certificate || X509_check_private_key(certificate.get(), key.get()) != 1)
    return Error{ErrorCode::bad_input, "the key does not belong to the client certificate"};
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
