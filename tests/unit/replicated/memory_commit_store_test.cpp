// The ring in memory, which other tests rest on, is a commit store as the others are.
#include "tests/support/memory_commit_store.h"

#include "tests/support/commit_store_contract.h"

namespace fairlead {
namespace {

TEST_CASE("The memory store keeps the contract of commit stores") {
  model::VirtualTime time{LogTime{}};
  MemoryRing servers(time, 1);
  MemoryCommitStore store(servers);
  StoreUnderTest under{store, [&] { time.advance_to(time.next_due()); },
                       [&] { servers.compact(); }};
  check_commit_store_contract(under);
}

}  // namespace
}  // namespace fairlead
