#include "engine/main/service/loopback_guard.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/http/listen_address.h"

namespace fairlead {

namespace {

// Host is NAME, NAME:PORT or [ADDRESS]:PORT.
bool names_loopback(std::string host) {
  if (host.empty()) return true;  // HTTP/1.0: no browser
  std::transform(host.begin(), host.end(), host.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool has_port = host.back() != ']' && host.rfind(':') != std::string::npos;
  const auto address = parse_listen_address(has_port ? host : host + ":0");
  return address && is_loopback(*address);
}

}  // namespace

HttpGuard loopback_guard() {
  return [](const ReceivedRequest& request,
            const std::function<void(std::optional<HttpReply>)>& decided) {
    if (names_loopback(request.host)) return decided(std::nullopt);
    decided(HttpReply{421, "text/plain; charset=utf-8",
                      "this server is asked as localhost, 127.0.0.1 or [::1] only\n"});
  };
}

}  // namespace fairlead
