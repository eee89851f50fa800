// The user name under which an API server knows us.
#pragma once

#include <functional>
#include <string>

#include "connectors/kube/transport/transport.h"

namespace fairlead {

/// Asks the API server of `client` for the user name of our own credentials (SelfSubjectReview,
/// which every authenticated user may create). `done` gets it once, on the transport's thread;
/// fails with `unavailable` if the server does not say.
void ask_own_user(Transport& client, std::function<void(Result<std::string>)> done);

}  // namespace fairlead
