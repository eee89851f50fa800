#include "engine/http/listen_address.h"

#include <boost/asio/ip/address.hpp>
#include <charconv>

namespace fairlead {

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const Error bad{ErrorCode::bad_input,
                  "expected ADDRESS:PORT, like 127.0.0.1:8080, got \"" + std::string(text) + "\""};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad;
  ListenAddress address;
  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host == "localhost") address.host = "127.0.0.1";
  const std::string_view port = text.substr(colon + 1);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || read.ec != std::errc{} || read.ptr != port.data() + port.size()) return bad;
  boost::system::error_code error;
  if (!address.host.empty()) boost::asio::ip::make_address(address.host, error);
  if (error) return bad;
  return address;
}

bool is_loopback(const ListenAddress& address) {
  boost::system::error_code error;
  const auto ip = boost::asio::ip::make_address(address.host, error);
  return !error && ip.is_loopback();
}

}  // namespace fairlead
