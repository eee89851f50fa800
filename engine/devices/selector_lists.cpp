#include "engine/devices/selector_lists.h"

namespace fairlead {

SelectorListId SelectorLists::intern(const std::vector<DeviceSelector>& of_class,
                                     const std::vector<DeviceSelector>& of_request) {
  std::vector<std::uint32_t> texts;
  for (const auto* selectors : {&of_class, &of_request})
    // A selector that is no CEL becomes the empty text, which compiles to what is not understood.
    for (const DeviceSelector& one : *selectors) texts.push_back(intern_text(one.cel.value_or("")));
  const auto [at, added] = list_ids_.try_emplace(texts, static_cast<SelectorListId>(lists_.size()));
  if (added) lists_.push_back(std::move(texts));
  return at->second;
}

std::uint32_t SelectorLists::intern_text(const std::string& text) {
  const auto [at, added] =
      text_ids_.try_emplace(text, static_cast<std::uint32_t>(selectors_.size()));
  if (added) selectors_.push_back(CelSelector::compile(text));
  return at->second;
}

void SelectorLists::clear() {
  text_ids_.clear();
  selectors_.clear();
  list_ids_.clear();
  lists_.clear();
}

}  // namespace fairlead
