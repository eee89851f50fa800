#include "engine/devices/selector_lists.h"

#include "engine/base/digest.h"

namespace fairlead {

namespace {

// A text that takes fewer steps on each device is evaluated faster than it is looked up.
constexpr std::int64_t kDearSteps = 128;

// Verdicts of a text that are remembered, at most: some 100 KiB.
constexpr std::size_t kAlikeMax = 1024;

}  // namespace

SelectorListId SelectorLists::intern(const std::vector<DeviceSelector>& of_class,
                                     const std::vector<DeviceSelector>& of_request) {
  std::vector<std::uint32_t> texts;
  for (const DeviceSelector& one : of_class) texts.push_back(intern_text(one, kCelStepsMax));
  for (const DeviceSelector& one : of_request)
    texts.push_back(intern_text(one, kCelRequestStepsMax));
  const auto [at, added] = list_ids_.try_emplace(texts, static_cast<SelectorListId>(lists_.size()));
  if (added) lists_.push_back(std::move(texts));
  return at->second;
}

// A selector that is not CEL becomes the empty text, which is unsupported.
std::uint32_t SelectorLists::intern_text(const DeviceSelector& selector, int steps_max) {
  const std::string text = selector.cel.value_or("");
  const auto [at, added] =
      text_ids_.try_emplace({text, steps_max}, static_cast<std::uint32_t>(texts_.size()));
  if (added) texts_.push_back({CelSelector::compile(text, steps_max)});
  return at->second;
}

// Remembered or evaluated, the verdict is the same: the cache changes no answer.
SelectorVerdict SelectorLists::ask(std::uint32_t text, std::string_view driver,
                                   const DeviceFacts& device) {
  Text& of = texts_[text];
  std::int64_t steps = 0;
  if (!of.dear) {
    const SelectorVerdict verdict = of.selector.evaluate(driver, device, steps);
    of.dear = steps >= kDearSteps;
    return verdict;
  }
  const auto seen = sha256(of.selector.seen_of(driver, device)).bytes;
  if (const auto known = of.alike.find(seen); known != of.alike.end()) return known->second;
  if (of.alike.size() >= kAlikeMax) of.alike.clear();
  return of.alike[seen] = of.selector.evaluate(driver, device);
}

void SelectorLists::clear() {
  text_ids_.clear();
  texts_.clear();
  list_ids_.clear();
  lists_.clear();
}

}  // namespace fairlead
