#include "connectors/kube/access/webhook_authority.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <catch2/catch.hpp>
#include <memory>

#include "connectors/kube/transport/certificate.h"
#include "tests/support/sample.h"

namespace fairlead {
namespace {

constexpr const char* kHost = "fairlead-webhook.fairlead.svc";
const LogTime kStart{1'767'225'600'000'000'000};  // 2026-01-01

WebhookSecret at(const WebhookSecret& stored, LogTime now, const char* host = kHost) {
  auto wanted = renewed(stored, host, now);
  REQUIRE(wanted.has_value());
  return *std::move(wanted);
}

std::size_t certificates(const std::string& pem) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = pem.find("BEGIN CERTIFICATE", at)) != std::string::npos; ++at)
    ++found;
  return found;
}

/// Whether a client that trusts `authorities` accepts `certificate` for `host` at `now`: the judge
/// is OpenSSL's own chain verification.
bool trusted(const std::string& authorities, const std::string& certificate, const char* host,
             LogTime now) {
  const auto read = [](const std::string& pem, auto&& each) {
    BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    while (X509* one = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) each(one);
    BIO_free(bio);
  };
  X509_STORE* store = X509_STORE_new();
  read(authorities, [&](X509* one) {
    X509_STORE_add_cert(store, one);
    X509_free(one);
  });
  X509* leaf = nullptr;
  read(certificate, [&](X509* one) { leaf = one; });
  X509_STORE_CTX* context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, store, leaf, nullptr);
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_time(parameters, static_cast<time_t>(now.ns / 1'000'000'000));
  X509_VERIFY_PARAM_set1_host(parameters, host, 0);
  X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER);
  const bool good = X509_verify_cert(context) == 1;
  X509_STORE_CTX_free(context);
  X509_free(leaf);
  X509_STORE_free(store);
  return good;
}

TEST_CASE("an empty Secret gets an authority and a certificate that it signs") {
  const WebhookSecret made = at({}, kStart);
  CHECK(certificates(made.authorities) == 1);
  CHECK(trusted(made.authorities, made.certificate, kHost, kStart));
  CHECK_FALSE(trusted(made.authorities, made.certificate, "another.fairlead.svc", kStart));
  CHECK(check_key_matches(made.certificate, made.key).has_value());
  CHECK(check_key_matches(made.authorities, made.authority_key).has_value());
  CHECK(certificate_end(made.certificate) == kStart + kServingLife);
  CHECK(certificate_end(made.authorities) == kStart + kAuthorityLife);
  // Two hubs never make the same.
  CHECK(at({}, kStart).certificate != made.certificate);
}

TEST_CASE("what is good stays as it is") {
  const WebhookSecret made = at({}, kStart);
  CHECK(at(made, kStart) == made);
  CHECK(at(made, kStart + hours(59 * 24)) == made);
}

TEST_CASE("a certificate is made anew after two thirds of its life, by the same authority") {
  const WebhookSecret made = at({}, kStart);
  const LogTime later = kStart + hours(61 * 24);
  const WebhookSecret next = at(made, later);
  CHECK(next.authorities == made.authorities);
  CHECK(next.authority_key == made.authority_key);
  CHECK(next.certificate != made.certificate);
  CHECK(trusted(made.authorities, next.certificate, kHost, later));
}

TEST_CASE("another host needs another certificate") {
  const WebhookSecret made = at({}, kStart);
  const WebhookSecret moved = at(made, kStart, "fairlead-webhook.other.svc");
  CHECK(moved.authorities == made.authorities);
  CHECK(trusted(moved.authorities, moved.certificate, "fairlead-webhook.other.svc", kStart));
}

TEST_CASE("an authority is joined by the next one before it ends, and signs until then") {
  WebhookSecret secret = at({}, kStart);
  const std::string first = secret.authorities;
  std::size_t exchanged = 0;
  const Duration step = hours(8 * 24 / sample(8));
  for (LogTime now = kStart; now < kStart + hours(12 * 365 * 24); now = now + step) {
    const WebhookSecret next = at(secret, now);
    // A configuration that is one step behind trusts what is served now.
    REQUIRE(trusted(secret.authorities, next.certificate, kHost, now));
    REQUIRE(trusted(next.authorities, next.certificate, kHost, now));
    exchanged += next.authority_key != secret.authority_key;
    REQUIRE(certificates(next.authorities) <= 3);
    secret = next;
  }
  CHECK(exchanged == 2);
  CHECK(secret.authorities.find(first) == std::string::npos);
}

TEST_CASE("what cannot be read, or does not belong together, is made anew") {
  const WebhookSecret made = at({}, kStart);
  const WebhookSecret other = at({}, kStart);
  WebhookSecret damaged = made;
  SECTION("the authority") { damaged.authorities = "nonsense"; }
  SECTION("its key") { damaged.authority_key = other.authority_key; }
  SECTION("the certificate") { damaged.certificate = made.certificate.substr(0, 200); }
  SECTION("a certificate of another authority") {
    damaged.certificate = other.certificate;
    damaged.key = other.key;
  }
  SECTION("the key") { damaged.key = other.key; }
  SECTION("no key") { damaged.key.clear(); }
  const WebhookSecret mended = at(damaged, kStart);
  CHECK(mended != damaged);
  CHECK(trusted(mended.authorities, mended.certificate, kHost, kStart));
  CHECK(check_key_matches(mended.certificate, mended.key).has_value());
  CHECK(check_key_matches(mended.authorities, mended.authority_key).has_value());
  CHECK(at(mended, kStart) == mended);
}

TEST_CASE("a clock that went back makes a certificate that is valid then") {
  const WebhookSecret made = at({}, kStart);
  const LogTime before{kStart.ns - hours(48).ns};
  const WebhookSecret mended = at(made, before);
  CHECK(mended.certificate != made.certificate);
  CHECK(trusted(mended.authorities, mended.certificate, kHost, before));
}

}  // namespace
}  // namespace fairlead
