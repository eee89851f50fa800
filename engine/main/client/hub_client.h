// Questions to a running hub over HTTP: the side of a command. The hub's is question_service.h.
#pragma once

#include <functional>

#include "connectors/kube/transport/http_client.h"
#include "engine/main/client/hub_place.h"

namespace fairlead {

/// How long a question is asked again of a hub that is busy with others (503 with Retry-After).
inline constexpr int kBusyHubSeconds = 30;

/// What it takes to ask the hub at `place`. Fails with `bad_input`, naming the option.
Result<Credentials> credentials_for(const HubPlace& place);
/// What an answer other than 200 means: `bad_input` with the hub's sentence for a bad question,
/// `denied` or `unavailable` with `name` of the hub and why.
Error hub_failure(const HttpResponse& response, const std::string& name);
/// What the caller of a hub's secure listener does about a refusal with `status`; empty: nothing.
const char* hint_for_caller(int status);
/// Whether it is a hub's 400, {"error"}, for a bad question.
bool is_bad_question(const HttpResponse& response);

/// Asks with `get` until the hub is not busy any more, for kBusyHubSeconds at most.
Result<HttpResponse> ask_patiently(const std::function<Result<HttpResponse>()>& get);

/// Prepares questions to the hub at `place` (see ReachHub), behind an API server where it has no
/// URL. Nothing is sent yet.
Result<AskHub> reach_hub(const HubPlace& place);

}  // namespace fairlead
