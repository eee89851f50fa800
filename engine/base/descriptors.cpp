#include "engine/base/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>

namespace fairlead {

namespace {

constexpr std::size_t kReservedMin = 128;

std::atomic<std::size_t> connection_places{0};

std::size_t raised_limit() {
  rlimit limit{};
  constexpr std::size_t kOfPosix = 20;  // the least that it promises
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOfPosix;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace

DescriptorShares descriptor_shares_of(std::size_t limit) {
  DescriptorShares shares;
  shares.limit = limit;
  shares.reserved = std::min(limit, std::max(kReservedMin, limit / 4));
  shares.accepted = (limit - shares.reserved) / 2;
  shares.connected = limit - shares.reserved - shares.accepted;
  return shares;
}

const DescriptorShares& descriptor_shares() {
  static const DescriptorShares shares = descriptor_shares_of(raised_limit());
  return shares;
}

std::optional<ConnectionPlace> ConnectionPlace::acquire(Use use) {
  const std::size_t all = descriptor_shares().connected;
  const std::size_t most = use == Use::hub ? all : all - all / 8;
  if (connection_places.fetch_add(1) < most) return ConnectionPlace();
  connection_places.fetch_sub(1);
  return std::nullopt;
}

bool ConnectionPlace::are_scarce() {
  return connection_places.load() / 3 > descriptor_shares().connected / 4;
}

ConnectionPlace::~ConnectionPlace() {
  if (held_) connection_places.fetch_sub(1);
}

}  // namespace fairlead
