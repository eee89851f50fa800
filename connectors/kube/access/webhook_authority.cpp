#include "connectors/kube/access/webhook_authority.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "connectors/kube/transport/certificate.h"

namespace fairlead {
namespace {

template <auto Free>
struct FreedBy {
  template <class T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using PemText = std::unique_ptr<BIO, FreedBy<BIO_free>>;
using X509Ptr = std::unique_ptr<X509, FreedBy<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;

constexpr const char* kAuthorityName = "fairlead-webhook-ca";
/// Clocks of the API server and the hub may differ by this much.
constexpr Duration kClockSkew = hours(1);
/// An authority that was followed by another stays in the bundle while it is valid; more than this
/// many cannot be.
constexpr std::size_t kAuthoritiesMax = 3;
constexpr int kSerialBits = 127;

/// Thrown inside this file when OpenSSL fails.
struct OpensslFailure {};
void expect(bool done) {
  if (!done) throw OpensslFailure{};
}

PemText text_of(std::string_view pem) {
  return PemText(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}
std::vector<X509Ptr> certificates_in(std::string_view pem) {
  std::vector<X509Ptr> found;
  const PemText text = text_of(pem);
  while (X509* one = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr))
    found.emplace_back(one);
  ERR_clear_error();  // the end of the text is one to OpenSSL
  return found;
}
KeyPtr key_in(std::string_view pem) {
  if (check_key_algorithms(pem).has_error()) return nullptr;
  const PemText text = text_of(pem);
  auto no_password = [](char*, int, int, void*) { return -1; };
  KeyPtr key(PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return key;
}
std::string contents(const PemText& text) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}
std::string pem_of(const X509& certificate) {
  const PemText out(BIO_new(BIO_s_mem()));
  expect(PEM_write_bio_X509(out.get(), &certificate) == 1);
  return contents(out);
}
std::string pem_of(const EVP_PKEY& key) {
  const PemText out(BIO_new(BIO_s_mem()));
  expect(PEM_write_bio_PKCS8PrivateKey(out.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) ==
         1);
  return contents(out);
}

std::optional<LogTime> time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return LogTime{static_cast<std::int64_t>(::timegm(&parts)) * 1'000'000'000};
}
LogTime end_of(const X509& certificate) {
  return time_of(X509_get0_notAfter(&certificate)).value_or(LogTime{});
}
LogTime begin_of(const X509& certificate) {
  return time_of(X509_get0_notBefore(&certificate)).value_or(LogTime{});
}

void add_extension(X509& certificate, X509& issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  expect(extension != nullptr);
  const int added = X509_add_ext(&certificate, extension, -1);
  X509_EXTENSION_free(extension);
  expect(added == 1);
}

/// A certificate with its key, in memory.
struct Issued {
  X509Ptr certificate;
  KeyPtr key;
};

/// Makes a key and a certificate without issuer, extensions and signature.
Issued begin_certificate(const std::string& name, LogTime now, Duration life) {
  Issued made{X509Ptr(X509_new()), KeyPtr(EVP_EC_gen("P-256"))};
  expect(made.certificate != nullptr && made.key != nullptr);
  X509* certificate = made.certificate.get();
  expect(X509_set_version(certificate, X509_VERSION_3) == 1);
  const std::unique_ptr<BIGNUM, FreedBy<BN_free>> serial(BN_new());
  expect(serial != nullptr &&
         BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1);
  expect(BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr);
  const auto seconds_of = [](LogTime time) {
    return static_cast<std::time_t>(time.ns / 1'000'000'000);
  };
  expect(ASN1_TIME_set(X509_getm_notBefore(certificate), seconds_of({now.ns - kClockSkew.ns})) !=
         nullptr);
  expect(ASN1_TIME_set(X509_getm_notAfter(certificate), seconds_of(now + life)) != nullptr);
  // The longest common name is 64 bytes; a host is named by its subject alternative name anyway.
  const std::string common = name.substr(0, 64);
  expect(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common.c_str()), -1, -1,
                                    0) == 1);
  expect(X509_set_pubkey(certificate, made.key.get()) == 1);
  return made;
}

Issued make_authority(LogTime now) {
  Issued made = begin_certificate(kAuthorityName, now, kAuthorityLife);
  X509& certificate = *made.certificate;
  expect(X509_set_issuer_name(&certificate, X509_get_subject_name(&certificate)) == 1);
  add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
  expect(X509_sign(&certificate, made.key.get(), EVP_sha256()) > 0);
  return made;
}

Issued make_serving(const Issued& authority, const std::string& host, LogTime now) {
  Issued made = begin_certificate(host, now, kServingLife);
  X509& certificate = *made.certificate;
  X509& issuer = *authority.certificate;
  expect(X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer)) == 1);
  add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(certificate, issuer, NID_ext_key_usage, "serverAuth");
  add_extension(certificate, issuer, NID_subject_alt_name, "DNS:" + host);
  add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
  expect(X509_sign(&certificate, authority.key.get(), EVP_sha256()) > 0);
  return made;
}

bool belongs(const X509Ptr& certificate, const KeyPtr& key) {
  return certificate && key && X509_check_private_key(certificate.get(), key.get()) == 1;
}

/// Whether `certificate` serves `host` at `now`, is signed by one of `authorities`, and has more
/// than a third of its life before it.
bool still_good(X509& certificate, const std::vector<X509Ptr>& authorities, const std::string& host,
                LogTime now) {
  const LogTime begin = begin_of(certificate), end = end_of(certificate);
  if (now < begin || end <= now || (end - now).ns <= (end - begin).ns / 3) return false;
  if (X509_check_host(&certificate, host.c_str(), host.size(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT,
                      nullptr) != 1)
    return false;
  return std::any_of(authorities.begin(), authorities.end(), [&](const X509Ptr& authority) {
    return begin_of(*authority) <= now && now < end_of(*authority) && end <= end_of(*authority) &&
           X509_verify(&certificate, X509_get0_pubkey(authority.get())) == 1;
  });
}

WebhookSecret renew(const WebhookSecret& stored, const std::string& host, LogTime now) {
  std::vector<X509Ptr> authorities = certificates_in(stored.authorities);
  KeyPtr authority_key = key_in(stored.authority_key);
  WebhookSecret wanted = stored;
  const bool can_sign = !authorities.empty() && belongs(authorities.front(), authority_key) &&
                        begin_of(*authorities.front()) <= now &&
                        now + kServingLife + kClockSkew < end_of(*authorities.front());
  if (!can_sign) {
    std::erase_if(authorities, [now](const X509Ptr& old) { return end_of(*old) <= now; });
    // The newest are in front: the oldest is dropped, and the fresh one gets a place.
    if (authorities.size() >= kAuthoritiesMax) authorities.resize(kAuthoritiesMax - 1);
    Issued fresh = make_authority(now);
    authority_key = std::move(fresh.key);
    authorities.insert(authorities.begin(), std::move(fresh.certificate));
    wanted.authority_key = pem_of(*authority_key);
    wanted.authorities.clear();
    for (const X509Ptr& authority : authorities) wanted.authorities += pem_of(*authority);
  }
  const std::vector<X509Ptr> serving = certificates_in(stored.certificate);
  if (!serving.empty() && belongs(serving.front(), key_in(stored.key)) &&
      still_good(*serving.front(), authorities, host, now))
    return wanted;
  const Issued authority{std::move(authorities.front()), std::move(authority_key)};
  const Issued made = make_serving(authority, host, now);
  wanted.certificate = pem_of(*made.certificate);
  wanted.key = pem_of(*made.key);
  return wanted;
}

}  // namespace

Result<WebhookSecret> renewed(const WebhookSecret& stored, std::string_view host, LogTime now) {
  try {
    auto wanted = renew(stored, std::string(host), now);
    ERR_clear_error();
    return wanted;
  } catch (const OpensslFailure&) {
    const char* why = ERR_reason_error_string(ERR_get_error());
    ERR_clear_error();
    return Error{ErrorCode::internal, std::string("cannot make a certificate: ") +
                                          (why != nullptr ? why : "OpenSSL says no reason")};
  }
}

}  // namespace fairlead
