// Where the slots of a list go, page by page.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "engine/log/replicated/commit_store.h"

namespace fairlead {

struct RingListing {
  std::function<void(RingSlot)> each;
  std::function<void()> anew;  ///< the list expired between two pages, and is read once more
  std::function<void(Result<StoreVersion>)> done;
};

/// Returns a listing that gives all slots at the end, in order.
inline RingListing whole_ring(std::function<void(Result<CommitStore::Listed>)> done) {
  const auto found = std::make_shared<std::vector<RingSlot>>();
  return {
      [found](RingSlot slot) { found->push_back(std::move(slot)); }, [found] { found->clear(); },
      [found, done = std::move(done)](Result<StoreVersion> version) {
        if (!version) return done(version.error());
        std::sort(found->begin(), found->end(),
                  [](const auto& a, const auto& b) { return a.commit.slot() < b.commit.slot(); });
        done(CommitStore::Listed{std::move(*found), *version});
      }};
}

}  // namespace fairlead
