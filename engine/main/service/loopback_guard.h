// What a server on loopback without tokens checks of a request: that it was sent to this machine by
// its name. A web site whose name is made to point at 127.0.0.1 is read by no browser then.
#pragma once

#include "engine/runtime/http_exchange.h"

namespace fairlead {

/// Refuses with 421 a request whose Host does not name the loopback.
HttpGuard loopback_guard();

}  // namespace fairlead
