#include "engine/runtime/served_certificate.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <ctime>
#include <system_error>
#include <utility>

#include "engine/base/bounded_file.h"
#include "engine/runtime/system_clock.h"

namespace fairlead {

// The two files as they are at one moment.
struct ServedCertificate::Pair {
  std::string certificate_path;
  std::string certificate;
  std::string key_path;
  std::string key;
};

namespace {

namespace ssl = boost::asio::ssl;

// A chain of ten certificates with 4096-bit keys has 20 KB.
constexpr std::size_t kPemBytesMax = std::size_t{1} << 20;

// The folder of the version that `..data` leads to; `folder` itself where it has no such link.
std::filesystem::path version_folder(const std::filesystem::path& folder) {
  // kubelet replaces the files of a mounted Secret by moving this link to another folder, so the
  // two files of one folder belong together.
  std::error_code none;
  const std::filesystem::path version = std::filesystem::canonical(folder / "..data", none);
  return none ? folder : version;
}

// `error` has the words of OpenSSL, which never quote the file.
Error unusable_pem(const std::string& path, const boost::system::error_code& error) {
  return {ErrorCode::bad_input, path + ": " + error.message()};
}

template <class Pair>
Result<std::shared_ptr<ssl::context>> settings_with(const Pair& pair) {
  auto made = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const raw = made->native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
  // A full handshake costs a tenth of a millisecond; tickets would outlive the certificate.
  SSL_CTX_set_num_tickets(raw, 0);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  boost::system::error_code error;
  // A key with a password cannot be used: never ask a terminal for it.
  made->set_password_callback(
      [](std::size_t, ssl::context::password_purpose) { return std::string(); }, error);
  if (error) return unusable_pem(pair.key_path, error);
  made->use_certificate_chain(boost::asio::buffer(pair.certificate), error);
  if (error) return unusable_pem(pair.certificate_path, error);
  made->use_private_key(boost::asio::buffer(pair.key), ssl::context::pem, error);
  if (error) return unusable_pem(pair.key_path, error);
  if (SSL_CTX_check_private_key(raw) != 1)
    return Error{ErrorCode::bad_input,
                 pair.key_path + ": it is not the key of " + pair.certificate_path};
  return made;
}

std::optional<LogTime> end_of(ssl::context& context) {
  const X509* const certificate = SSL_CTX_get0_certificate(context.native_handle());
  std::tm parts{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1)
    return std::nullopt;
  return LogTime{static_cast<std::int64_t>(::timegm(&parts)) * 1'000'000'000};
}

bool is_over(LogTime end) { return end <= utc_now(); }

}  // namespace

ServedCertificate::ServedCertificate(std::filesystem::path folder, Logger logger,
                                     Duration look_every)
    : folder_(std::move(folder)), logger_(std::move(logger)), look_every_(look_every) {
  look();
}

ServedCertificate::ServedCertificate(Logger logger)
    : logger_(std::move(logger)), look_every_(hours(24)) {}

Result<ServedCertificate::Pair> ServedCertificate::read(const std::filesystem::path& folder) {
  const std::filesystem::path version = version_folder(folder);
  Pair pair;
  pair.certificate_path = (version / "tls.crt").string();
  pair.key_path = (version / "tls.key").string();
  auto certificate = read_bounded(pair.certificate_path, kPemBytesMax);
  if (!certificate) return certificate.error();
  pair.certificate = std::move(*certificate);
  auto key = read_bounded(pair.key_path, kPemBytesMax);
  if (!key) return key.error();
  pair.key = std::move(*key);
  return pair;
}

void ServedCertificate::look() {
  if (folder_.empty()) return;
  const std::lock_guard lock(mutex_);
  auto pair = read(folder_);
  // The link may have been exchanged in between, and the former folder be gone.
  if (!pair) pair = read(folder_);
  if (pair) return adopt(*pair);
  // The same pair is adopted again once it can be read, which ends the problem.
  read_ = {};
  refuse(pair.error());
}

void ServedCertificate::use(const std::string& origin, const std::string& certificate,
                            const std::string& key) {
  const std::lock_guard lock(mutex_);
  adopt({origin, certificate, origin, key});
}

void ServedCertificate::adopt(const Pair& pair) {
  const std::array<std::string_view, 3> parts{pair.certificate, "\n", pair.key};
  const Digest digest = sha256(parts);
  // A pair that was refused is not tried again before it changes.
  if (digest == read_) return;
  read_ = digest;
  auto made = settings_with(pair);
  if (made.has_error()) return refuse(made.error());
  context_ = std::move(*made);
  not_after_ = end_of(*context_);
  problem_.clear();
  const std::string until = not_after_ ? to_rfc3339(*not_after_) : "?";
  if (not_after_ && is_over(*not_after_))
    logger_({Severity::warn,
             "the serving certificate has expired: clients will refuse it",
             {{"file", pair.certificate_path}, {"until", until}}});
  else
    logger_({Severity::info,
             "serving certificate taken up",
             {{"file", pair.certificate_path}, {"until", until}}});
}

void ServedCertificate::refuse(const Error& error) {
  if (problem_ == error.message) return;
  problem_ = error.message;
  logger_({Severity::error,
           context_ ? "the serving certificate cannot be used: the one before stays in use"
                    : "there is no serving certificate: connections are closed until there is one",
           {{"why", error.message}}});
}

std::shared_ptr<ssl::context> ServedCertificate::context() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

std::optional<LogTime> ServedCertificate::not_after() const {
  const std::lock_guard lock(mutex_);
  return not_after_;
}

}  // namespace fairlead
