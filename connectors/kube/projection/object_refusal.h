// Why an object is not read although its kind is.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

/// What was found in an object that no API server lets pass: a list that is too long, a malformed
/// quantity. Such an object is left out whole, since a part of it would mean something else than
/// its author wrote. Only kinds of Dynamic Resource Allocation are refused; in the others a bad
/// value counts as absent.
class ObjectRefusal {
 public:
  /// Notes what is wrong with a field. The first note counts.
  void note(std::string_view field, std::string_view what) {
    if (why_.empty()) why_ = std::string(field) + ": " + std::string(what);
  }
  /// The field and what is wrong with it; empty if nothing is. Quotes nothing of the object.
  const std::string& why() const { return why_; }
  /// Whether the object is refused.
  explicit operator bool() const { return !why_.empty(); }

 private:
  std::string why_;
};

}  // namespace fairlead
