#include "engine/base/result.h"

#include "engine/base/check.h"

namespace fairlead {

std::string_view text_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_input: return "bad_input";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::denied: return "denied";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::gone: return "gone";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::incompatible: return "incompatible";
    case ErrorCode::read_only: return "read_only";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

Error in_context(std::string_view context, Error error) {
  error.message.insert(0, std::string(context) + ": ");
  return error;
}

void throw_exception_from_error(const Error& error, const boost::source_location&) {
  check_failed("a failed Result was used as a value: " + error.message,
               std::source_location::current());
}

}  // namespace fairlead
