// What the ring over Kubernetes rests on beyond the contract, checked on the API server in memory
// and on a real one.
#pragma once

#include "tests/support/commit_store_contract.h"

namespace fairlead {

/// Returns how a stream from `from` ends.
inline Error end_of_stream(StoreUnderTest& under, StoreVersion from) {
  Followed followed;
  const auto following = under.store.follow(from, followed.handler());
  StoreCalls(under).wait_until([&] { return followed.ended.has_value(); });
  return *followed.ended;
}

/// `elsewhere` is a store in a namespace that does not exist.
inline void check_kubernetes_ways(StoreUnderTest& under, StoreUnderTest& elsewhere) {
  const StoreCalls calls(under);
  const StoreAnswer made = calls.create(contract_unused(0));
  REQUIRE(made.result == StoreResult::stored);
  // The same bytes again: nothing is written.
  const StoreAnswer same = calls.replace(contract_unused(0), made.version);
  CHECK(same.result == StoreResult::stored);
  CHECK(same.version == made.version);
  // An update that names no version is none.
  CHECK(calls.replace(contract_commit(0), 0).result == StoreResult::conflict);
  // What the schema refuses.
  RingCommit malformed = contract_commit(0);
  malformed.log = "x";
  CHECK(calls.replace(malformed, made.version).result == StoreResult::refused);
  CHECK(calls.read(0)->version == made.version);
  // 900 KB fit, 1.5 MiB do not.
  CHECK(calls.replace(contract_commit(0, std::size_t{3} << 20), made.version).result !=
        StoreResult::stored);
  CHECK(end_of_stream(under, 1).code == ErrorCode::gone);
  CHECK(calls.remove(0).result == StoreResult::stored);

  const StoreCalls nowhere(elsewhere);
  CHECK(nowhere.create(contract_unused(0)).result == StoreResult::missing);
  CHECK(nowhere.replace(contract_unused(0), made.version).result == StoreResult::missing);
  CHECK_FALSE(nowhere.read(0));
  CHECK(nowhere.list().slots.empty());
}

}  // namespace fairlead
