#include "connectors/kube/transport/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

using namespace fairlead;

namespace {

// DER (X.690): a tag, the length of the contents, the contents.
std::string tagged(unsigned char tag, const std::string& contents) {
  std::string size;
  for (std::size_t rest = contents.size(); rest > 0; rest >>= 8)
    size.insert(size.begin(), static_cast<char>(rest & 0xff));
  if (contents.size() >= 128) size.insert(size.begin(), static_cast<char>(0x80 | size.size()));
  if (size.empty()) size = std::string(1, '\0');
  return std::string(1, static_cast<char>(tag)) + size + contents;
}
std::string der_sequence(const std::string& contents) { return tagged(0x30, contents); }
// An odd number of so many bytes.
std::string der_number(std::size_t bytes) {
  return tagged(0x02, "\x7f" + std::string(bytes - 1, '\xa5'));
}
const std::string kVersion0("\x02\x01\x00", 3);

std::string pem_block(const char* name, const std::string& der) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio(bio, name, "", reinterpret_cast<const unsigned char*>(der.data()),
                static_cast<long>(der.size()));
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return out;
}

// A private key of PKCS #8 without its public key, which OpenSSL computes when it reads it.
std::string dsa_key(std::size_t bytes) {
  const std::string identifier("\x06\x07\x2a\x86\x48\xce\x38\x04\x01", 9);
  const std::string parameters =
      der_sequence(der_number(bytes) + der_number(20) + der_number(bytes - 1));
  return pem_block("PRIVATE KEY", der_sequence(kVersion0 + der_sequence(identifier + parameters) +
                                               tagged(0x04, der_number(bytes - 1))));
}

std::string rsa_key(std::size_t modulus, std::size_t factor) {
  return pem_block("RSA PRIVATE KEY",
                   der_sequence(kVersion0 + der_number(modulus) + der_number(3) +
                                der_number(modulus) + der_number(factor) + der_number(factor) +
                                der_number(factor) + der_number(factor) + der_number(factor)));
}

EVP_PKEY* key_of(const std::string& key) {
  BIO* bio = BIO_new_mem_buf(key.data(), static_cast<int>(key.size()));
  EVP_PKEY* found = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return found;
}

std::string certificate_of(EVP_PKEY* key) {
  EVP_PKEY* authority = EVP_EC_gen("P-256");
  X509* made = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(made), -60);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, key);
  X509_sign(made, authority, EVP_sha256());
  unsigned char* der = nullptr;
  const int size = i2d_X509(made, &der);
  std::string out = pem_block(
      "CERTIFICATE", std::string(reinterpret_cast<char*>(der), static_cast<std::size_t>(size)));
  OPENSSL_free(der);
  X509_free(made);
  EVP_PKEY_free(authority);
  return out;
}

std::string key_fault(const Result<void>& checked) {
  return checked.has_error() ? checked.error().message : "";
}

}  // namespace

// OpenSSL computes for 15 s to read one of 4,096 bytes, and longer than a day for one that a Secret
// has room for.
TEST_CASE("a key that takes long to be read is refused unread") {
  const std::string refused =
      "expected a PEM private key without a password, of RSA, ECDSA or EdDSA";
  const auto began = std::chrono::steady_clock::now();
  CHECK(key_fault(check_key_algorithms(dsa_key(40'000))) == refused);
  const std::string behind_others = rsa_key(256, 128) + dsa_key(40'000);
  CHECK(key_fault(check_key_matches("", behind_others)) == refused);
  CHECK(key_fault(check_key_algorithms(
            "-----BEGIN PRIVATE KEY-----\n%\n-----END PRIVATE KEY-----\n" + dsa_key(40'000))) ==
        refused);
  CHECK(key_fault(check_key_algorithms(pem_block("DSA PRIVATE KEY", "x"))) == refused);
  CHECK(key_fault(check_key_algorithms(pem_block("ENCRYPTED PRIVATE KEY", "x"))) == refused);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
}

TEST_CASE("keys of the algorithms of TLS are read, other blocks beside them are passed over") {
  for (const char* algorithm : {"ED25519", "ED448"}) {
    EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, algorithm);
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    const std::string text(data, static_cast<std::size_t>(size));
    CHECK(key_fault(check_key_matches(certificate_of(key), certificate_of(key) + text)).empty());
    BIO_free(bio);
    EVP_PKEY_free(key);
  }
  CHECK(
      key_fault(check_key_algorithms(pem_block("EC PARAMETERS", "x") + rsa_key(256, 128))).empty());
}

TEST_CASE("a key that takes long to sign is refused") {
  const std::string slow =
      "an RSA key of more than 8192 bits, or of more than two factors, signs too slowly";
  for (const auto& [modulus, factor, expected] :
       {std::tuple<std::size_t, std::size_t, std::string>{256, 128, ""},
        {1024, 512, ""},
        {1025, 512, slow},
        {256, 5000, slow}}) {
    CAPTURE(modulus, factor);
    const std::string text = rsa_key(modulus, factor);
    EVP_PKEY* key = key_of(text);
    REQUIRE(key != nullptr);
    CHECK(key_fault(check_key_matches(certificate_of(key), text)) == expected);
    EVP_PKEY_free(key);
  }
}
