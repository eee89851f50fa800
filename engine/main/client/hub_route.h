// The ways from another machine to a hub: to its own listener, or through the service proxy of its
// API server.
#pragma once

#include <string>
#include <vector>

#include "connectors/kube/access/kubeconfig.h"
#include "engine/main/client/hub_place.h"

namespace fairlead {

struct HubRoute {
  Credentials credentials;  ///< at the hub, or at its API server
  std::string name;         ///< of the hub, in errors
  std::string prefix;       ///< of the hub's paths; empty: it is asked itself
  /// Where the API server gives tokens for the hub, to which it does not pass on the user's own;
  /// empty: the credentials have the token.
  std::string token_request;
  std::vector<std::string> place;  ///< the options by which a command names the hub
};

/// The way to the hub at `place`. Fails with `bad_input`, naming the option.
Result<HubRoute> route_to(const HubPlace& place);
/// The way to port `https` of the Service `fairlead`, with tokens of the account `fairlead-viewer`.
/// Fails with `bad_input` if there are no usable credentials.
Result<HubRoute> route_through(const HubBehindApiServer& hub);
/// The one of both that `place` names. Fails as they do; where it names nothing and there is no
/// kubeconfig, with the ways to name a log (no_place()).
Result<HubRoute> route_of(const HubPlace& place);

}  // namespace fairlead
