#include "replay/usage/usage_view.h"

#include <array>
#include <utility>

namespace fairlead {

namespace {

constexpr std::string_view kLabel = "label:";
constexpr std::array<std::pair<std::string_view, UsageBy>, 7> kViews{{
    {"queue", UsageBy::queue},
    {"cohort", UsageBy::cohort},
    {"flavor", UsageBy::flavor},
    {"resource", UsageBy::resource},
    {"cluster", UsageBy::cluster},
    {"namespace", UsageBy::namespace_},
    {"owner", UsageBy::owner},
}};

}  // namespace

std::string text_of(const UsageView& view) {
  for (const auto& [name, by] : kViews)
    if (by == view.by) return std::string(name);
  return std::string(kLabel) + view.label;
}

Result<UsageView> parse_usage_view(std::string_view text) {
  for (const auto& [name, by] : kViews)
    if (name == text) return UsageView{by, {}};
  if (text.starts_with(kLabel) && text.size() > kLabel.size())
    return UsageView{UsageBy::label, std::string(text.substr(kLabel.size()))};
  std::string names;
  for (const auto& [name, by] : kViews) names.append(name).append(", ");
  return Error{ErrorCode::bad_input,
               "--by: expected " + names + "or label:KEY, got \"" + std::string(text) + "\""};
}

}  // namespace fairlead
