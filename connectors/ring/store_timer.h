// A timer of a store, which is its transport's.
#pragma once

#include <memory>
#include <utility>

#include "connectors/kube/transport/transport.h"
#include "engine/log/replicated/commit_store.h"

namespace fairlead {

class StoreTimer final : public CommitStore::Timer {
 public:
  explicit StoreTimer(std::unique_ptr<Transport::Timer> timer) : timer_(std::move(timer)) {}

 private:
  std::unique_ptr<Transport::Timer> timer_;
};

}  // namespace fairlead
