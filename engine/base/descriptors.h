// The descriptors of this process, of which the log needs some at any time: a write-ahead file that
// cannot be opened ends the hub. So connections, which others make or make necessary, have shares
// that leave a reserve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace fairlead {

/// How many descriptors each use may have.
struct DescriptorShares {
  std::size_t limit = 0;      ///< RLIMIT_NOFILE, the soft one
  std::size_t reserved = 0;   ///< for the log, snapshots, threads and files that are read
  std::size_t accepted = 0;   ///< for connections of all listeners together
  std::size_t connected = 0;  ///< for connections to API servers
};
/// The shares of such a limit: a quarter is reserved, and never less than 128; the rest is halved.
DescriptorShares descriptor_shares_of(std::size_t limit);

/// The shares of this process's limit. The first call raises the soft limit to the hard one, as far
/// as the system allows: many systems start a process with 1,024 of half a million.
const DescriptorShares& descriptor_shares();
/// With a lower limit a hub does not start.
inline constexpr std::size_t kDescriptorsMin = 256;

/// The right to open one connection to an API server, given back when it is destroyed. A process
/// has one limit, so they are counted once.
class ConnectionPlace {
 public:
  /// Whose connection: those to members and tenants leave an eighth to those to the hub, so that
  /// quotas are written however many members there are.
  enum class Use : std::uint8_t { hub, others };
  /// Nothing if DescriptorShares::connected have been given out. From any thread.
  static std::optional<ConnectionPlace> acquire(Use use = Use::hub);
  /// Whether more than three quarters of them have: then a connection that is not in use is closed.
  static bool are_scarce();

  ConnectionPlace(ConnectionPlace&& other) noexcept : held_(std::exchange(other.held_, false)) {}
  ConnectionPlace& operator=(ConnectionPlace&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~ConnectionPlace();

 private:
  ConnectionPlace() = default;
  bool held_ = true;
};

}  // namespace fairlead
