// AdmissionReview, admission.k8s.io/v1: what an API server asks a webhook, and the answer.
//
// Contract: an API server takes any HTTP status but 200, and any answer without the right uid, for
// a webhook that is out of order. So every body that is a review with a uid has an answer that
// admits or denies, even if its object cannot be read. Only a body that is not a review at all is
// an error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/admission/admission_request.h"
#include "engine/admission/judge.h"
#include "engine/base/result.h"

namespace fairlead {

/// The longest review that is read, in bytes. Two states of an object of etcd's 1.5 MB fit.
inline constexpr std::size_t kReviewBytesMax = std::size_t{8} << 20;
/// The deepest nesting that is read.
inline constexpr std::size_t kReviewDepthMax = 64;
/// Causes in a denial; the last says how many more there are.
inline constexpr std::size_t kCausesMax = 16;

/// A review: whom the answer is for, and what the rules are asked.
struct AdmissionReview {
  std::string uid;
  // What the answer calls the object.
  std::string group;
  std::string kind;
  std::string name;
  /// nullopt: nothing that a rule judges (another kind, a subresource, CONNECT), or `unread`.
  std::optional<AdmissionRequest> request;
  std::string unread;  ///< why an object that a rule judges could not be read; else empty
};

/// Reads a review. Fails with `bad_input` for anything but an AdmissionReview v1 with a uid: not
/// JSON, too long, too deep, a key twice in an object, another kind or version.
Result<AdmissionReview> read_admission_review(std::string_view body);

/// Returns the answer to `review`: an AdmissionReview with the same uid. A denial is a Status 422
/// Invalid with causes, so that kubectl prints the fields as for a breach of the schema, or 403
/// Forbidden where no field is wrong.
std::string admission_answer(const AdmissionReview& review, const AdmissionVerdict& verdict);

class JsonView;
/// Returns the annotations fairlead.io/... of an object, by the part of their name after the slash.
std::map<std::string, std::string> fairlead_annotations(JsonView object);

}  // namespace fairlead
