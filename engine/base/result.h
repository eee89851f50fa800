// Operating errors are values.
//
// A function that can fail for a reason outside the program returns Result<T>. Only its base class
// has to change once every supported compiler has std::expected.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>

namespace fairlead {

/// The kind of a failure: it decides the exit code of a command and whether a retry can help.
enum class ErrorCode {
  bad_input,     // a file, flag or object that cannot be understood: exit 2
  unavailable,   // a server or resource that may come back: exit 3, retried by the hub
  denied,        // credentials refused, verb forbidden: exit 3
  not_found,     // the thing asked for does not exist
  conflict,      // another writer holds it or changed it (409, a second writer)
  gone,          // the position asked for was compacted away (410)
  corrupt,       // stored bytes are not what was written
  incompatible,  // written by another program or a newer version
  read_only,     // the log has stopped accepting writes
  internal,      // a library returned what it never should
};

/// Returns the stable lower-case word for a code, as printed in diagnostics and JSON.
std::string_view text_of(ErrorCode code);

/// One failure: its kind and a message for the operator that names file, line, object or field.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

/// Returns the same failure with `context` in front: "context: message".
Error in_context(std::string_view context, Error error);

/// Aborts. boost::system::result calls it when value() is called on an error, which is a bug.
[[noreturn]] void throw_exception_from_error(const Error& error,
                                             const boost::source_location& where);

/// A T, or the reason why there is none. A call that drops a Result does not compile: the caller
/// tests it, or states by a cast to void that the failure does not matter there.
template <class T>
class [[nodiscard]] Result : public boost::system::result<T, Error> {
 public:
  using boost::system::result<T, Error>::result;
};

}  // namespace fairlead
