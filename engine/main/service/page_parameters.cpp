#include "engine/main/service/page_parameters.h"

#include <algorithm>
#include <charconv>

namespace fairlead {

namespace {

std::string list_of(std::span<const std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) list.append(list.empty() ? "" : ", ").append(word);
  return list;
}

}  // namespace

Result<PageParameters> PageParameters::of(const HttpTarget& target,
                                          std::span<const std::string_view> known) {
  PageParameters parameters(target);
  for (const auto& [name, value] : target.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{ErrorCode::bad_input,
                   "unknown parameter \"" + name + "\"; known: " + list_of(known)};
    parameters.values_[name] = value;
  }
  return parameters;
}

std::string PageParameters::text(const std::string& name) const {
  return optional(name).value_or("");
}

std::optional<std::string> PageParameters::optional(const std::string& name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? std::nullopt : std::optional(at->second);
}

Result<std::size_t> PageParameters::number(const std::string& name, std::size_t most,
                                           std::size_t otherwise) const {
  const std::string given = text(name);
  if (given.empty()) return otherwise;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error == std::errc{} && end == given.data() + given.size() && value >= 1 && value <= most)
    return value;
  return Error{ErrorCode::bad_input, name + ": expected a number from 1 to " +
                                         std::to_string(most) + ", got \"" + given + "\""};
}

}  // namespace fairlead
