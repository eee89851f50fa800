#include "connectors/kube/access/caller_review.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "connectors/kube/transport/failure_message.h"
#include "engine/base/digest.h"
#include "engine/base/json.h"

namespace fairlead {

namespace {

constexpr const char* kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr std::size_t kReviewAnswerBytesMax = std::size_t{1} << 20;

Json token_review(const std::string& token) {
  return {{"apiVersion", "authentication.k8s.io/v1"},
          {"kind", "TokenReview"},
          {"spec", {{"token", token}}}};
}

// `user` is from a TokenReview, whose fields have the same names but for the user's name.
Json access_review(const Json& user, const std::string& path) {
  Json spec{{"nonResourceAttributes", {{"path", path}, {"verb", "get"}}}};
  if (const auto name = user.find("username"); name != user.end()) spec["user"] = *name;
  for (const char* field : {"uid", "groups", "extra"})
    if (const auto found = user.find(field); found != user.end()) spec[field] = *found;
  return {{"apiVersion", "authorization.k8s.io/v1"},
          {"kind", "SubjectAccessReview"},
          {"spec", std::move(spec)}};
}

// The object at `name`, or an empty one.
Json member_object(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_object() ? *found : Json::object();
}

bool holds(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

// The status of a review; of an API server that did not judge it is null.
struct Judgement {
  Json status;
};

// Of the token and the path; a token holds no line break.
std::string key_of(const std::string& token, const std::string& path) {
  const std::array<std::string_view, 3> parts{token, "\n", path};
  return sha256(parts).hex();
}

}  // namespace

struct CallerReview::Impl : std::enable_shared_from_this<CallerReview::Impl> {
  struct Kept {
    CallerAnswer answer = CallerAnswer::unavailable;
    LogTime until;
  };
  using Done = std::function<void(CallerAnswer)>;

  Impl(Transport& client_given, std::function<void(const std::string&)> log_given,
       CallerReviewTimes times_given)
      : client(client_given), log(std::move(log_given)), times(times_given) {}

  void ask(const std::string& token, const std::string& path, Done done) {
    if (token.empty()) return done(CallerAnswer::unknown);
    const std::string key = key_of(token, path);
    if (const auto known = kept.find(key); known != kept.end()) {
      if (client.now() < known->second.until) return done(known->second.answer);
      kept.erase(known);
    }
    if (under_way >= kCallerReviewsMax) return done(CallerAnswer::unavailable);
    ++under_way;
    // An answer is as old as the question.
    const LogTime asked = client.now();
    // A raw pointer will do: post() calls nothing after the end of this.
    auto end = [this, key, asked, done = std::move(done)](CallerAnswer answer) {
      --under_way;
      keep(key, answer, asked);
      done(answer);
    };
    post(kTokenReviews, token_review(token),
         [this, path, end = std::move(end)](const Judgement& judgement) {
           if (judgement.status.is_null()) return end(CallerAnswer::unavailable);
           if (!holds(judgement.status, "authenticated")) return end(CallerAnswer::unknown);
           may_get(member_object(judgement.status, "user"), path, end);
         });
  }

  void may_get(const Json& user, const std::string& path, const Done& end) {
    post(kAccessReviews, access_review(user, path), [end](const Judgement& judgement) {
      if (judgement.status.is_null()) return end(CallerAnswer::unavailable);
      const bool allowed = holds(judgement.status, "allowed") && !holds(judgement.status, "denied");
      end(allowed ? CallerAnswer::allowed : CallerAnswer::forbidden);
    });
  }

  // Creates a review and gives the API server's answer.
  void post(const char* path, const Json& review, std::function<void(const Judgement&)> given) {
    HttpRequest request;
    request.method = "POST";
    request.target = path;
    request.content_type = "application/json";
    request.body = to_text(review);
    request.timeout = times.request;
    request.body_bytes_max = kReviewAnswerBytesMax;
    client.send(std::move(request), [weak = weak_from_this(), path,
                                     given = std::move(given)](Result<HttpResponse> answer) {
      if (const auto self = weak.lock()) given(self->judgement_of(path, answer));
    });
  }

  Judgement judgement_of(const char* path, const Result<HttpResponse>& answer) {
    std::string why;
    if (!answer) {
      why = answer.error().message;
    } else if (answer->status != 201 && answer->status != 200) {
      why = "HTTP " + std::to_string(answer->status) + " " + failure_message(answer->body);
    } else {
      const Json review = read_json(answer->body);
      if (review.is_object() && review.contains("status")) {
        problems.erase(path);
        return {member_object(review, "status")};
      }
      why = "the answer is no review";
    }
    if (std::exchange(problems[path], why) != why) log(std::string("POST ") + path + ": " + why);
    return {};
  }

  void keep(const std::string& key, CallerAnswer answer, LogTime asked) {
    if (answer == CallerAnswer::unavailable) return;
    if (kept.size() >= kCallerAnswersMax) drop_some();
    kept[key] = {answer, asked + (answer == CallerAnswer::allowed ? times.allowed : times.refused)};
  }
  void drop_some() {
    std::erase_if(
        kept, [present = client.now()](const auto& one) { return one.second.until <= present; });
    if (kept.size() < kCallerAnswersMax) return;
    kept.erase(std::min_element(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
      return a.second.until < b.second.until;
    }));
  }

  Transport& client;
  const std::function<void(const std::string&)> log;
  const CallerReviewTimes times;
  std::map<std::string, Kept> kept;  // by key_of()
  std::size_t under_way = 0;
  std::map<std::string, std::string> problems;  // that were logged last, by the path of the review
};

CallerReview::CallerReview(Transport& client, std::function<void(const std::string&)> log,
                           CallerReviewTimes times)
    : impl_(std::make_shared<Impl>(client, std::move(log), times)) {}

CallerReview::~CallerReview() = default;

void CallerReview::ask(const std::string& token, const std::string& path,
                       std::function<void(CallerAnswer)> done) {
  impl_->ask(token, path, std::move(done));
}

}  // namespace fairlead
