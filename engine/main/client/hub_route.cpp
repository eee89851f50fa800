#include "engine/main/client/hub_route.h"

#include <algorithm>
#include <utility>

#include "engine/main/client/hub_client.h"
#include "engine/main/client/log_place.h"

namespace fairlead {

namespace {

// A name as RFC 1123 has it, so that it is one segment of a path.
bool is_label(const std::string& name) {
  constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return !name.empty() && name.size() <= 63 && name.find_first_not_of(kLetters) == name.npos;
}

}  // namespace

Result<HubRoute> route_to(const HubPlace& place) {
  auto credentials = credentials_for(place);
  if (!credentials) return credentials.error();
  HubRoute route;
  route.credentials = *std::move(credentials);
  route.name = place.server;
  route.place = {"--server", place.server};
  for (const auto& [option, value] : {std::pair{"--server-token-file", &place.token_file},
                                      {"--server-ca", &place.ca_file},
                                      {"--server-name", &place.name}})
    if (!value->empty()) route.place.insert(route.place.end(), {option, *value});
  return route;
}

Result<HubRoute> route_through(const HubBehindApiServer& hub) {
  if (!is_label(hub.namespace_))
    return Error{ErrorCode::bad_input, "--hub-namespace: expected the name of a namespace, got \"" +
                                           hub.namespace_ + "\""};
  auto credentials = find_credentials(hub.kubeconfig, {hub.context});
  if (!credentials) return credentials.error();
  HubRoute route;
  const std::string space = "/api/v1/namespaces/" + hub.namespace_;
  route.name = "the hub behind " + credentials->server.host;
  route.prefix = space + "/services/https:fairlead:https/proxy";
  route.token_request = space + "/serviceaccounts/fairlead-viewer/token";
  route.credentials = *std::move(credentials);
  for (const auto& [option, value] :
       {std::pair{"--kubeconfig", &hub.kubeconfig}, {"--context", &hub.context}})
    if (!value->empty()) route.place.insert(route.place.end(), {option, *value});
  route.place.insert(route.place.end(), {"--hub-namespace", hub.namespace_});
  return route;
}

Result<HubRoute> route_of(const HubPlace& place) {
  if (!place.server.empty()) return route_to(place);
  auto route = route_through(place.behind);
  const bool named = !place.behind.kubeconfig.empty() || !place.behind.context.empty();
  return route || named ? std::move(route) : no_place(route.error());
}

}  // namespace fairlead
