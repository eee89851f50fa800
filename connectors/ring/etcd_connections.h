// An EtcdCommitStore with connections of its own: one HTTPS client per member.
//
// Where members ask for client certificates, their own must have the extended key usage clientAuth
// beside serverAuth: the gateway of a member is a client of the member.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connectors/kube/transport/io_loop.h"
#include "engine/base/result.h"
#include "engine/log/replicated/commit_store.h"

namespace fairlead {

/// How an etcd is reached. The files are read again when they change.
struct EtcdAccess {
  std::vector<std::string> endpoints;  ///< https://HOST:PORT
  std::string ca, certificate, key;    ///< files in PEM; without a ca the machine's roots
};

/// On the loop's thread only, but for connect().
class EtcdConnections {
 public:
  /// Makes the clients and the store with keys FOLDER SLOT. Fails with `bad_input`, naming the
  /// endpoint or the file. `loop` outlives it. No server is asked yet.
  static Result<std::unique_ptr<EtcdConnections>> connect(IoLoop& loop, const EtcdAccess& access,
                                                          const std::string& folder);
  ~EtcdConnections();
  EtcdConnections(const EtcdConnections&) = delete;
  EtcdConnections& operator=(const EtcdConnections&) = delete;

  CommitStore& store();
  /// As EtcdCommitStore::version().
  const std::string& version() const;
  /// Ends every request (`unknown`, `unavailable`) and every stream.
  void stop();

 private:
  struct Impl;
  explicit EtcdConnections(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead
