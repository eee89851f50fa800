#include "engine/base/descriptors.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <vector>

using namespace fairlead;

TEST_CASE("descriptors: the log's reserve is there at every limit") {
  for (const std::size_t limit : {20U, 128U, 200U, 256U, 1024U, 65'536U, 1'048'576U}) {
    CAPTURE(limit);
    const DescriptorShares shares = descriptor_shares_of(limit);
    CHECK(shares.limit == limit);
    CHECK(shares.reserved + shares.accepted + shares.connected == limit);
    CHECK(shares.reserved >= std::min<std::size_t>(limit, 128));
    CHECK(shares.reserved >= limit / 4);
  }
  CHECK(descriptor_shares_of(kDescriptorsMin).connected == 64);
  CHECK(descriptor_shares_of(1024).connected == 384);
}

TEST_CASE("descriptors: the soft limit becomes the hard one, places are given out and come back") {
  const DescriptorShares& shares = descriptor_shares();
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(limit.rlim_cur == limit.rlim_max);
  CHECK(shares.limit == limit.rlim_cur);
  if (shares.connected > 1'000'000) return;  // they are counted one by one
  {
    std::vector<ConnectionPlace> held;
    while (auto place = ConnectionPlace::acquire()) held.push_back(*std::move(place));
    CHECK(held.size() == shares.connected);
    CHECK(ConnectionPlace::are_scarce());
    held.pop_back();
    CHECK_FALSE(ConnectionPlace::acquire(ConnectionPlace::Use::others).has_value());
    CHECK(ConnectionPlace::acquire().has_value());
    CHECK(ConnectionPlace::acquire().has_value());
  }
  CHECK_FALSE(ConnectionPlace::are_scarce());
}
