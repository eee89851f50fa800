// The address on which a server of the hub listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead {

/// Where to listen: `127.0.0.1:8080`, `[::1]:8080`, `:8080` (every IPv4 address). Port 0 means any
/// free port.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};
/// Parses such an address. Fails with `bad_input` for another form, a host that is not an IP
/// address (except `localhost`) or a bad port.
Result<ListenAddress> parse_listen_address(std::string_view text);
/// Whether only processes of this machine, or of this Pod, reach the address.
bool is_loopback(const ListenAddress& address);

}  // namespace fairlead
