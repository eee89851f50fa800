// Label and field selectors of list and watch requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/fleet/model/api_status.h"

namespace fairlead::model {

/// The objects that a request selects. The default selects all.
class Selector {
 public:
  /// Reads both query parameters; `fields` are the paths that the kind can be selected by.
  static Outcome<Selector> parse(std::string_view label_selector, std::string_view field_selector,
                                 const std::vector<std::string>& fields);

  bool everything() const { return requirements_.empty(); }
  bool matches(const Json& object) const;

 private:
  enum class Test { equals, differs, in, not_in, exists, absent };
  struct Requirement {
    bool on_label = true;
    std::string key;
    Test test{};
    std::vector<std::string> values;
  };

  Outcome<std::string> read_labels(std::string_view text);

  std::vector<Requirement> requirements_;
};

}  // namespace fairlead::model
