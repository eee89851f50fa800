// Who may ask: reviews of callers against a server that answers when the test says so.
#include "connectors/kube/access/caller_review.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/json.h"

namespace fairlead {
namespace {

// Keeps requests until the test answers them.
class HeldClient final : public Transport {
 public:
  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override {
    requests.push_back(std::move(request));
    waiting.push_back(std::move(done));
  }
  std::unique_ptr<Stream> stream(HttpRequest, HttpStreamHandler) override { return nullptr; }
  std::unique_ptr<Timer> after(Duration, std::function<void()>) override { return nullptr; }
  LogTime now() const override { return time; }

  void answer(Result<HttpResponse> response) {
    REQUIRE_FALSE(waiting.empty());
    const auto done = std::move(waiting.front());
    waiting.pop_front();
    done(std::move(response));
  }
  void answer_status(const Json& status) {
    answer(HttpResponse{201, std::nullopt, to_text(Json{{"status", status}})});
  }

  LogTime time{1};
  std::vector<HttpRequest> requests;
  std::deque<std::function<void(Result<HttpResponse>)>> waiting;
};

const Json kKnown{{"authenticated", true},
                  {"user",
                   {{"username", "system:serviceaccount:monitoring:prometheus"},
                    {"uid", "u-1"},
                    {"groups", {"system:serviceaccounts"}},
                    {"extra", {{"scopes", {"a"}}}}}}};

struct Reviewed {
  std::vector<CallerAnswer> ask(const std::string& token, const std::string& path = "/metrics") {
    const std::size_t before = answers.size();
    review.ask(token, path, [this](CallerAnswer answer) { answers.push_back(answer); });
    return {answers.begin() + static_cast<std::ptrdiff_t>(before), answers.end()};
  }
  void allow() {
    client.answer_status(kKnown);
    client.answer_status({{"allowed", true}});
  }

  HeldClient client;
  std::vector<std::string> lines;
  std::vector<CallerAnswer> answers;
  CallerReview review{client, [this](const std::string& line) { lines.push_back(line); }};
};

using Answers = std::vector<CallerAnswer>;

TEST_CASE("a caller that is known and allowed passes, and is asked about once a while") {
  Reviewed reviewed;
  CHECK(reviewed.ask("secret").empty());
  CHECK(reviewed.client.requests[0].target == "/apis/authentication.k8s.io/v1/tokenreviews");
  const Json token = Json::parse(reviewed.client.requests[0].body);
  CHECK(token.at("spec") == Json{{"token", "secret"}});
  reviewed.allow();
  CHECK(reviewed.answers == Answers{CallerAnswer::allowed});
  CHECK(reviewed.client.requests[1].target == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  const Json access = Json::parse(reviewed.client.requests[1].body);
  CHECK(access.at("spec") ==
        Json{{"user", "system:serviceaccount:monitoring:prometheus"},
             {"uid", "u-1"},
             {"groups", {"system:serviceaccounts"}},
             {"extra", {{"scopes", {"a"}}}},
             {"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}});
  reviewed.client.time = reviewed.client.time + seconds(39);
  CHECK(reviewed.ask("secret") == Answers{CallerAnswer::allowed});
  CHECK(reviewed.client.requests.size() == 2);
  reviewed.client.time = reviewed.client.time + seconds(1);
  CHECK(reviewed.ask("secret").empty());
  CHECK(reviewed.client.requests.size() == 3);
}

TEST_CASE("what is kept belongs to one token and one path") {
  Reviewed reviewed;
  reviewed.ask("secret");
  reviewed.allow();
  CHECK(reviewed.ask("secret", "/audit/quota").empty());
  CHECK(reviewed.ask("other").empty());
  CHECK(reviewed.client.requests.size() == 4);
}

TEST_CASE("an answer is as old as its question") {
  Reviewed reviewed;
  reviewed.ask("secret");
  reviewed.client.time = reviewed.client.time + seconds(4);
  reviewed.allow();
  reviewed.client.time = reviewed.client.time + seconds(36);
  CHECK(reviewed.ask("secret").empty());
}

TEST_CASE("a token that is not known, and none at all") {
  Reviewed reviewed;
  reviewed.ask("secret");
  reviewed.client.answer_status({{"error", "invalid bearer token"}, {"user", Json::object()}});
  CHECK(reviewed.answers == Answers{CallerAnswer::unknown});
  reviewed.client.time = reviewed.client.time + seconds(9);
  CHECK(reviewed.ask("secret") == Answers{CallerAnswer::unknown});
  CHECK(reviewed.client.requests.size() == 1);
  reviewed.client.time = reviewed.client.time + seconds(1);
  CHECK(reviewed.ask("secret").empty());
  CHECK(reviewed.ask("") == Answers{CallerAnswer::unknown});
}

TEST_CASE("a caller that is known and not allowed, or denied") {
  for (const Json& status : {Json{{"allowed", false}}, Json{{"allowed", true}, {"denied", true}}}) {
    Reviewed reviewed;
    reviewed.ask("secret");
    reviewed.client.answer_status(kKnown);
    reviewed.client.answer_status(status);
    CHECK(reviewed.answers == Answers{CallerAnswer::forbidden});
    CHECK(reviewed.ask("secret") == Answers{CallerAnswer::forbidden});
  }
}

TEST_CASE("an API server that does not judge is asked again, and named once") {
  Reviewed reviewed;
  const auto fail = [&](Result<HttpResponse> response) {
    CHECK(reviewed.ask("secret").empty());
    reviewed.client.answer(std::move(response));
    CHECK(reviewed.answers.back() == CallerAnswer::unavailable);
  };
  fail(Error{ErrorCode::unavailable, "no route"});
  fail(Error{ErrorCode::unavailable, "no route"});
  CHECK(reviewed.lines.size() == 1);
  fail(HttpResponse{403, std::nullopt, R"({"kind":"Status","message":"may not create"})"});
  REQUIRE(reviewed.lines.size() == 2);
  CHECK(reviewed.lines.back().find("tokenreviews") != std::string::npos);
  CHECK(reviewed.lines.back().find("may not create") != std::string::npos);
  for (const char* body : {"", "[]", "{}", R"({"status":)"})
    fail(HttpResponse{201, std::nullopt, body});
  for (const std::string& line : reviewed.lines) CHECK(line.find("secret") == std::string::npos);
  reviewed.ask("secret");
  reviewed.allow();
  CHECK(reviewed.answers.back() == CallerAnswer::allowed);
}

TEST_CASE("only so many questions are under way") {
  Reviewed reviewed;
  for (std::size_t i = 0; i < kCallerReviewsMax; ++i)
    CHECK(reviewed.ask("token " + std::to_string(i)).empty());
  CHECK(reviewed.ask("one more") == Answers{CallerAnswer::unavailable});
  reviewed.client.answer_status({{"authenticated", false}});
  CHECK(reviewed.ask("one more").empty());
}

TEST_CASE("of many answers those that end first are dropped") {
  Reviewed reviewed;
  reviewed.ask("kept");
  reviewed.allow();
  for (std::size_t i = 0; i < kCallerAnswersMax + 10; ++i) {
    reviewed.client.time = reviewed.client.time + milliseconds(1);
    reviewed.ask("token " + std::to_string(i));
    reviewed.client.answer_status({{"authenticated", false}});
  }
  // Refusals end after ten seconds, so that a flood of them takes away no good answer.
  CHECK(reviewed.ask("kept") == Answers{CallerAnswer::allowed});
  CHECK(reviewed.ask("token 0").empty());
}

TEST_CASE("after the end of a review no answer comes") {
  HeldClient client;
  int answers = 0;
  {
    CallerReview review(client, [](const std::string&) {});
    review.ask("secret", "/metrics", [&answers](CallerAnswer) { ++answers; });
  }
  client.answer_status(kKnown);
  CHECK(answers == 0);
}

}  // namespace
}  // namespace fairlead
