// The parameters of a question of the audit page.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/main/client/http_target.h"

namespace fairlead {

/// The parameters of a target, which outlives them.
class PageParameters {
 public:
  /// Fails with `bad_input`, naming a parameter that is not among `known`.
  static Result<PageParameters> of(const HttpTarget& target,
                                   std::span<const std::string_view> known);

  const HttpTarget& target() const { return *target_; }
  /// Returns a value; empty where it was not given.
  std::string text(const std::string& name) const;
  std::optional<std::string> optional(const std::string& name) const;
  /// Returns a number from 1 to `most`; `otherwise` where it was not given. Fails with `bad_input`.
  Result<std::size_t> number(const std::string& name, std::size_t most,
                             std::size_t otherwise) const;

 private:
  explicit PageParameters(const HttpTarget& target) : target_(&target) {}

  const HttpTarget* target_;
  std::map<std::string, std::string> values_;
};

}  // namespace fairlead
