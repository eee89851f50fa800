// Whether the API server knows the bearer of a token and allows what it asks us for.
//
// A TokenReview says who it is, a SubjectAccessReview whether that user may `get` the path, as for
// the metrics of every Kubernetes component. The answers are kept for a short time, so that a token
// that is revoked is refused within a minute. A token itself is never kept: the cache knows its
// SHA-256 together with the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "connectors/kube/transport/transport.h"

namespace fairlead {

enum class CallerAnswer : std::uint8_t {
  allowed,
  unknown,      ///< the API server does not know the token (any more)
  forbidden,    ///< it knows the user, who may not get the path
  unavailable,  ///< it did not say, or too many questions are under way
};

/// How long answers are kept and waited for.
struct CallerReviewTimes {
  /// The API server keeps its own answer about a token for 10 s, so that 50 s pass at most between
  /// the end of a token and its refusal here.
  Duration allowed = seconds(40);
  Duration refused = seconds(10);  ///< of `unknown` and `forbidden`; `unavailable` is never kept
  Duration request = seconds(5);   ///< for each of the two requests
};

/// Answers that are kept; of more, those that end first are dropped.
inline constexpr std::size_t kCallerAnswersMax = 1'024;
/// Questions that wait for the API server at a time; further ones are `unavailable`.
inline constexpr std::size_t kCallerReviewsMax = 16;

/// On the transport's thread only. Needs the rights to create `tokenreviews`
/// (authentication.k8s.io) and `subjectaccessreviews` (authorization.k8s.io).
class CallerReview {
 public:
  /// `client` reaches the API server and outlives it. `log` logs why callers cannot be reviewed,
  /// once for each problem.
  CallerReview(Transport& client, std::function<void(const std::string&)> log,
               CallerReviewTimes times = {});
  ~CallerReview();
  CallerReview(const CallerReview&) = delete;
  CallerReview& operator=(const CallerReview&) = delete;

  /// Asks whether the bearer of `token` may `get` `path`. Calls `done` once, at once or when the
  /// API server has answered; not at all after the end of the review.
  void ask(const std::string& token, const std::string& path,
           std::function<void(CallerAnswer)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
