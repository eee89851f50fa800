// A ring of commits as objects of the kind LogCommit: one per slot, NAME-SLOT.
//
// An update names the resourceVersion that it replaces, which kube-apiserver passes to etcd as the
// condition of a transaction: that is the fence. It answers 200 once a majority of etcd's members
// has it on disk. A GET without a resourceVersion is a quorum read, a list and a watch are served
// from the server's watch cache.
//
// An update with the bytes that are stored already answers 200 with the version that was there:
// kube-apiserver writes nothing then.
#pragma once

#include <memory>
#include <string>

#include "connectors/kube/transport/transport.h"
#include "engine/log/replicated/commit_store.h"

namespace fairlead {

/// Where the objects of a ring are.
struct KubeRingPlace {
  std::string namespace_;
  std::string name;
};

/// On the transport's thread only. Give it a connection of its own: one that streams of a full
/// inbox hold back would hold the log back, too.
class KubeCommitStore final : public CommitStore {
 public:
  /// `transport` outlives it.
  KubeCommitStore(Transport& transport, KubeRingPlace place);
  ~KubeCommitStore() override;
  KubeCommitStore(const KubeCommitStore&) = delete;
  KubeCommitStore& operator=(const KubeCommitStore&) = delete;

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
  const char* kind() const override { return "kubernetes"; }

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
