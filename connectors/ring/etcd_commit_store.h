// A ring of commits as keys of an etcd of its own: one per slot, PREFIX NAME/SLOT.
//
// It speaks etcd's JSON gateway, which each member serves beside gRPC: a slot is replaced by a
// transaction on its mod_revision, which is the fence, and read by a linearizable range. A member
// that does not answer, or answers that it cannot, is left for the next one of the list.
//
// Sources: etcd's api/etcdserverpb/rpc.proto, and its mapping of gRPC codes to HTTP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connectors/kube/transport/transport.h"
#include "engine/log/replicated/commit_store.h"

namespace fairlead {

/// Earlier ones may lose what was acknowledged (3.5.0 to 3.5.2), and events of a watch at a
/// compaction (until 3.5.12).
inline constexpr const char* kEtcdVersionLeast = "3.5.13";

/// A member of the etcd.
struct EtcdMember {
  std::string endpoint;            ///< as it was configured, for messages
  Transport* transport = nullptr;  ///< outlives the store
};

/// On the transports' thread only, which is one.
class EtcdCommitStore final : public CommitStore {
 public:
  /// `members` is not empty, and its order that in which they are tried. `folder` is in front of
  /// each slot's number: PREFIX NAME/.
  EtcdCommitStore(std::vector<EtcdMember> members, std::string folder);
  ~EtcdCommitStore() override;
  EtcdCommitStore(const EtcdCommitStore&) = delete;
  EtcdCommitStore& operator=(const EtcdCommitStore&) = delete;

  void replace(const RingCommit& commit, StoreVersion expected, Answered done) override;
  void create(const RingCommit& commit, Answered done) override;
  void remove(std::uint32_t slot, Answered done) override;
  void read(std::uint32_t slot, Read done) override;
  void read_again(std::uint32_t slot, Read done) override;
  void list(std::function<void(Result<Listed>)> done) override;
  void list_each(std::function<void(RingSlot)> each,
                 std::function<void(Result<StoreVersion>)> done) override;
  std::unique_ptr<Following> follow(StoreVersion from, FollowHandler handler) override;
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work) override;
  LogTime now() const override;
  const char* kind() const override { return "etcd"; }
  /// Returns the version of the member that was asked for it last; empty: none has said it.
  const std::string& version() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
