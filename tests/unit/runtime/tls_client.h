// Pairs of a certificate and a key, and a client with blocking TLS, for tests of an endpoint.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead {

struct TlsPair {
  std::string certificate;
  std::string key;
};

// A self-signed pair for `name` that is valid from a day ago until `seconds` from now.
inline TlsPair make_tls_pair(const std::string& name, long seconds = 3600) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -86'400);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), seconds);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  REQUIRE(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
  const auto text_of = [](const auto& write) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    REQUIRE(write(out.get()) == 1);
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
  };
  return {text_of([&](BIO* out) { return PEM_write_bio_X509(out, certificate.get()); }),
          text_of([&](BIO* out) {
            return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

// A folder as a mounted Secret is: the files lead through `..data` to the folder of a version.
class MountedSecret {
 public:
  MountedSecret() {
    std::string name = (std::filesystem::temp_directory_path() / "fairlead-secret-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  MountedSecret(const MountedSecret&) = delete;
  MountedSecret& operator=(const MountedSecret&) = delete;
  ~MountedSecret() { std::filesystem::remove_all(folder_); }

  // Puts the next version in the place of the present one, as the kubelet does.
  void put(const TlsPair& pair) {
    const std::string version = "..version-" + std::to_string(++version_);
    std::filesystem::create_directory(folder_ / version);
    std::ofstream(folder_ / version / "tls.crt") << pair.certificate;
    std::ofstream(folder_ / version / "tls.key") << pair.key;
    std::filesystem::create_symlink(version, folder_ / "..data_tmp");
    std::filesystem::rename(folder_ / "..data_tmp", folder_ / "..data");
    for (const char* file : {"tls.crt", "tls.key"})
      if (!std::filesystem::is_symlink(folder_ / file))
        std::filesystem::create_symlink(std::filesystem::path("..data") / file, folder_ / file);
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  int version_ = 0;
};

// What a client offers in its handshake.
struct TlsOffer {
  int version_max = TLS1_3_VERSION;
  std::string alpn;  // as on the wire: each name behind its length
};

// A connection of a client that trusts every certificate, closed with it.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port, const TlsOffer& offer = {})
      : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
        ssl_(nullptr, SSL_free),
        file_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to a connection that the server has closed
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    SSL_CTX_set_max_proto_version(context_.get(), offer.version_max);
    ssl_.reset(SSL_new(context_.get()));
    if (!offer.alpn.empty())
      SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(offer.alpn.data()),
                          static_cast<unsigned>(offer.alpn.size()));
    SSL_set_fd(ssl_.get(), file_);
    connected_ = SSL_connect(ssl_.get()) == 1;
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  ~TlsClient() { ::close(file_); }

  bool connected() const { return connected_; }
  int version() const { return SSL_version(ssl_.get()); }
  // The protocol that the server chose of those offered; empty: none.
  std::string alpn() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  // The name in the server's certificate.
  std::string server_name() const {
    const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
    if (certificate == nullptr) return {};
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof name);
    return name;
  }

  void send(std::string_view text) const {
    static_cast<void>(SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())));
  }
  // What comes until `end` has come, or the server closes.
  std::string answer_until(std::string_view end) const {
    std::string text;
    for (char byte = 0; !text.ends_with(end) && SSL_read(ssl_.get(), &byte, 1) == 1;) text += byte;
    return text;
  }
  // What comes until the server closes.
  std::string answer() const {
    std::string text;
    char buffer[4096];
    for (int n = 0; (n = SSL_read(ssl_.get(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(n));
    return text;
  }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  int file_;
  bool connected_ = false;
};

}  // namespace fairlead
