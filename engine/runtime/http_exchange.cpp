#include "engine/runtime/http_exchange.h"

#include <algorithm>

namespace fairlead {

void fit_into(std::size_t accepted, HttpPlaces& places, HttpStreams& streams) {
  if (accepted >= kHubConnectionsMax) return;
  for (std::size_t* most : {&places.requests, &places.requests_of_address, &places.waiting,
                            &places.waiting_of_address, &streams.max})
    *most = std::max<std::size_t>(*most * accepted / kHubConnectionsMax, 4);
}

}  // namespace fairlead
