#include "connectors/kube/access/own_user.h"

#include <utility>

#include "connectors/kube/transport/failure_message.h"
#include "engine/base/json.h"

namespace fairlead {
namespace {

constexpr const char* kSelfReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

Result<std::string> user_in(const HttpResponse& answer) {
  const auto cannot = [](const std::string& why) {
    return Error{ErrorCode::unavailable, std::string("POST ") + kSelfReviews + ": " + why};
  };
  if (answer.status != 201 && answer.status != 200)
    return cannot("HTTP " + std::to_string(answer.status) + " " + failure_message(answer.body));
  const Json review = read_json(answer.body);
  std::string user = text_in(member(member(review, "status"), "userInfo"), "username");
  if (user.empty()) return cannot("the answer names no user");
  return user;
}

}  // namespace

void ask_own_user(Transport& client, std::function<void(Result<std::string>)> done) {
  HttpRequest request;
  request.method = "POST";
  request.target = kSelfReviews;
  request.content_type = "application/json";
  request.body =
      to_text(Json{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}});
  client.send(std::move(request), [done = std::move(done)](Result<HttpResponse> answer) {
    done(answer ? user_in(*answer) : Result<std::string>(answer.error()));
  });
}

}  // namespace fairlead
