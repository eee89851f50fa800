#include "engine/main/service/replica_poll.h"

#include <utility>

#include "engine/base/json.h"
#include "engine/main/client/hub_client.h"

namespace fairlead {

namespace {

constexpr std::size_t kPositionBytesMax = 4096;

}  // namespace

std::optional<ReplicaPosition> read_log_position(std::string_view body) {
  const Json document = read_json(body);
  const std::string log = text_in(document, "log");
  if (log.empty()) return std::nullopt;
  const auto commit = natural_in(document, "commit");  // null: none yet
  return ReplicaPosition{log, commit ? *commit + 1 : 0};
}

ReplicaPoll::~ReplicaPoll() { end(); }

void ReplicaPoll::end() {
  round_.reset();
  for (const auto& client : clients_) client->stop();
  clients_.clear();
}

void ReplicaPoll::ask(const std::vector<std::string>& addresses, const Said& said) {
  end();
  round_ = std::make_shared<int>();
  for (const std::string& address : addresses)
    if (auto asked = ask(address, said); !asked) said(in_context(address, asked.error()));
}

Result<void> ReplicaPoll::ask(const std::string& address, const Said& said) {
  HubPlace place = address.starts_with("https://") ? access_ : HubPlace{};
  place.server = address;
  auto credentials = credentials_for(place);
  if (!credentials) return credentials.error();
  auto client = HttpClient::make(loop_, *std::move(credentials), {});
  if (!client) return client.error();
  HttpRequest request;
  request.target = "/log/position";
  request.timeout = kReplicaAnswerMax;
  request.body_bytes_max = kPositionBytesMax;
  (*client)->send(std::move(request), [round = std::weak_ptr(round_), said,
                                       address](const Result<HttpResponse>& got) {
    if (round.expired()) return;
    if (!got) return said(in_context(address, got.error()));
    const auto position = got->status == 200 ? read_log_position(got->body) : std::nullopt;
    if (position) return said(*position);
    said(Error{ErrorCode::unavailable,
               address + ": HTTP " + std::to_string(got->status) + " " + got->body.substr(0, 200)});
  });
  clients_.push_back(*std::move(client));
  return {};
}

}  // namespace fairlead
