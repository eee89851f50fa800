// The Status objects with which an API server refuses a request.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"

namespace fairlead::model {

/// A failure as sent to the client: HTTP code and metav1.Status.
struct ApiStatus {
  // With a constructor it is no aggregate: those can be constructed from their first member, and
  // every Json would convert to an ApiStatus.
  ApiStatus() : code(500) {}
  ApiStatus(int http_code, Json status) : code(http_code), body(std::move(status)) {}

  int code;
  Json body;
};

/// The result of an API operation: a value, or the Status to answer with.
template <class T>
using Outcome = boost::system::result<T, ApiStatus>;
[[noreturn]] void throw_exception_from_error(const ApiStatus& status,
                                             const boost::source_location& where);

/// One `details.causes` entry; `message` is without the field.
struct FieldError {
  std::string field;
  std::string reason;  ///< FieldValueInvalid, FieldValueRequired, ...
  std::string message;
};

/// Names the object of a request in messages: `clusterqueues.kueue.x-k8s.io "a"`.
struct ObjectName {
  std::string group;
  std::string resource;  ///< plural, or the kind where a server's message has the kind
  std::string name;
};

ApiStatus not_found(const ObjectName& object);
ApiStatus already_exists(const ObjectName& object);
/// The same where what exists has a deletionTimestamp.
ApiStatus still_exists(const ObjectName& object);
/// 409 about the version, uid or precondition; `why` follows the colon.
ApiStatus conflict(const ObjectName& object, std::string_view why);
/// 409 of server-side apply.
ApiStatus apply_conflict(std::string_view message, const std::vector<FieldError>& causes);
ApiStatus bad_request(std::string_view message);
/// 422 with one cause per error.
ApiStatus invalid(const ObjectName& object, const std::vector<FieldError>& errors);
ApiStatus expired(std::string_view message);
ApiStatus method_not_allowed();
ApiStatus unsupported_media_type(std::string_view accepted);
/// 504: the request names a resourceVersion that this server has not reached.
ApiStatus version_too_large(std::string_view asked, std::string_view current);
/// A Status of the given code, reason and message, without details.
ApiStatus failure(int code, std::string_view reason, std::string_view message);

/// The message of a conflict over the resourceVersion (optimistic locking).
inline constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

}  // namespace fairlead::model
