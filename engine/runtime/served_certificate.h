// The certificate of a TLS server: read from a folder that may change while the server runs, or
// handed in.
//
// A Secret that is mounted has `tls.crt` and `tls.key`, which lead through the link `..data` to the
// folder of one version. The kubelet makes a new folder and then exchanges the link, so both files
// are read behind the link as it was at one moment.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/base/digest.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/runtime/diagnostics.h"

namespace boost::asio::ssl {
class context;
}

namespace fairlead {

/// What handshakes use, as read last. A pair that cannot be used is refused with a line that names
/// the file and the reason, once, and the pair before stays in use. A pair that has expired is used
/// with a warning: whether to trust it is the client's decision. Any thread may use it.
class ServedCertificate {
 public:
  /// Reads `folder`/tls.crt and `folder`/tls.key. Where they are missing there is no pair until
  /// look() finds one. `look_every`: how often a server calls look().
  ServedCertificate(std::filesystem::path folder, Logger logger, Duration look_every = seconds(5));
  /// Has no folder, and no pair until use() brings one.
  explicit ServedCertificate(Logger logger);

  /// Reads the files again, if there is a folder, and takes the pair up if it is another one.
  void look();
  /// Takes up a certificate, with the chain to its authority, and its key, both PEM. `origin` names
  /// where they are from, for log lines.
  void use(const std::string& origin, const std::string& certificate, const std::string& key);
  /// The TLS settings with the pair in use: TLS 1.3 only, no client certificates. Null: none yet.
  std::shared_ptr<boost::asio::ssl::context> context() const;
  /// When the certificate in use expires, since 1970; nullopt: there is none.
  std::optional<LogTime> not_after() const;
  Duration look_every() const { return look_every_; }

 private:
  struct Pair;
  static Result<Pair> read(const std::filesystem::path& folder);
  void adopt(const Pair& pair);
  void refuse(const Error& error);

  const std::filesystem::path folder_;  // empty: none
  const Logger logger_;
  const Duration look_every_;
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::optional<LogTime> not_after_;
  Digest read_;          // of the files as they were read last
  std::string problem_;  // that was logged last; empty: the last pair is in use
};

}  // namespace fairlead
