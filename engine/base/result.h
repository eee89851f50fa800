// Operating errors are values.
//
// A function that can fail for a reason outside the program returns Result<T>. Its base is the one
// place to change when std::expected can be had on every supported compiler.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>

namespace fairlead {

/// What kind of thing went wrong: it decides the exit code of a command and whether a retry can
/// help.
enum class ErrorCode {
  bad_input,     // a file, flag or object that cannot be understood: exit 2
  unavailable,   // a server or resource that may come back: exit 3, retried by the hub
  denied,        // credentials refused, verb forbidden: exit 3
  not_found,     // the thing asked for does not exist
  conflict,      // somebody else holds it or changed it (409, a second writer)
  gone,          // the position asked for was compacted away (410)
  corrupt,       // stored bytes are not what was written
  incompatible,  // written by another program or a newer version
  read_only,     // the log has stopped accepting writes
  internal,      // a library answered what it should never answer
};

/// The stable lower-case word for a code, as printed in diagnostics and JSON.
std::string_view to_string(ErrorCode code);

/// One failure: its kind and a message for a person that names file, line, object or field.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

/// The same failure with `context` in front: "context: message".
Error in_context(std::string_view context, Error error);

/// Called by boost::system::result when value() is asked of an error: that is a bug.
[[noreturn]] void throw_exception_from_error(const Error& error,
                                             const boost::source_location& where);

/// A T, or why there is none. A caller that drops a Result does not compile: it looks at it, or
/// says by a cast to void that the failure does not matter there.
template <class T>
class [[nodiscard]] Result : public boost::system::result<T, Error> {
 public:
  using boost::system::result<T, Error>::result;
};

}  // namespace fairlead
